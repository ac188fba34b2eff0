"""The factor of streams whose end nobody knows; written by `python -m scripts.horizon_table`.

At every power of two from 8 periods to 1048576 its error is at most 1.26 times that of the best matrix for that
horizon. Its c was checked to fall and to stay above zero up to the last of those periods.
"""

from fractions import Fraction
from typing import Final

from bruit.continual.factorisation.factor import Factor

LONGEST: Final = 1048576
"""Periods that a stream of unknown length is paid for."""

ANY_HORIZON: Final = Factor(
    weights=(
        0.001495840233610992,
        0.0015352692351640889,
        0.0036841930390115276,
        0.008194317252063064,
        0.017726083712880692,
        0.04058504283277618,
        0.07155288461969143,
        0.12812247573214414,
        0.23260402489939777,
    ),
    poles=(
        1.0,
        0.9999979175801632,
        0.9999897160408198,
        0.9999423713846006,
        0.9996840952016226,
        0.9981367202636661,
        0.9899472204532461,
        0.9571767504610961,
        0.32280858436259285,
    ),
)

SQUARED_NORM: Final = Fraction(3132194524119433964, 2**60)
"""At least Σ c_k² over all those periods, and within 2^-60 of it."""
