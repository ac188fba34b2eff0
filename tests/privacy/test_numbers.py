import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy.numbers import exactly, positive, probability, rounded_up


def test_a_float_means_its_shortest_decimal():
    assert exactly(0.1, "x") == Fraction(1, 10)
    assert exactly("1/3", "x") == Fraction(1, 3)
    assert exactly(3, "x") == 3


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back(value):
    assert float(exactly(value, "x")) == value


@pytest.mark.parametrize("value", [True, None, "one", "1/0", math.nan, math.inf])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(InvalidArgument, match="x="):
        exactly(value, "x")


def test_ranges():
    with pytest.raises(InvalidArgument, match="above zero"):
        positive(0, "scale")
    assert probability(0, "delta") == 0
    with pytest.raises(InvalidArgument, match="below 1"):
        probability(1, "delta")


@given(st.floats(min_value=0, max_value=1e300))
def test_rounding_up_never_lowers(value):
    assert rounded_up(value) >= Fraction(value)
    assert float(rounded_up(value)) <= value * (1 + 1e-13)


def test_an_infinite_price_is_refused():
    with pytest.raises(NotPrivate, match="no finite price"):
        rounded_up(math.inf)
