"""`python -m scripts.horizon_table`: searches and checks the factor for streams whose end nobody knows, and writes it.

The table is `bruit/continual/factorisation/any_horizon.py`; making it takes half a minute.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from bruit.continual.factorisation import FIXED, Factor
from bruit.continual.factorisation.search import search_for_any_horizon

LONGEST = 2**20
BUFFERS = 8
KEPT = 60
"""Bits of the squared norm that are written, rounded up."""

TARGET = Path(__file__).parents[1] / "src/bruit/continual/factorisation/any_horizon.py"

TEXT = '''"""The factor of streams whose end nobody knows; written by `python -m scripts.horizon_table`.

At every power of two from 8 periods to {longest} its error is at most 1.26 times that of the best matrix for that
horizon. Its c was checked to fall and to stay above zero up to the last of those periods.
"""

from fractions import Fraction
from typing import Final

from bruit.continual.factorisation.factor import Factor

LONGEST: Final = {longest}
"""Periods that a stream of unknown length is paid for."""

ANY_HORIZON: Final = Factor(
    weights=(
{weights}
    ),
    poles=(
{poles}
    ),
)

SQUARED_NORM: Final = Fraction({top}, 2**{kept})
"""At least Σ c_k² over all those periods, and within 2^-{kept} of it."""
'''


def squared_norm(factor: Factor) -> Fraction:
    """Σ c_k², rounded up."""
    exact = sum((x + 2) ** 2 for x in (c >> (FIXED - 120) for c in factor.c(LONGEST)))
    return Fraction(-(-exact >> (240 - KEPT)), 2**KEPT)


def main() -> None:
    """Writes the table."""
    factor = search_for_any_horizon(LONGEST, BUFFERS)
    norm = squared_norm(factor)

    def lines(numbers: tuple[float, ...]) -> str:
        return "\n".join(f"        {number!r}," for number in numbers)

    text = TEXT.format(
        longest=LONGEST,
        weights=lines(factor.weights),
        poles=lines(factor.poles),
        top=norm * 2**KEPT,
        kept=KEPT,
    )
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
