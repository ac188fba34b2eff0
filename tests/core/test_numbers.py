import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.core.numbers import exactly, positive, probability, root, rounded_up
from bruit.errors import InvalidArgument, NotPrivate


def test_a_float_means_its_shortest_decimal() -> None:
    assert exactly(0.1, "x") == Fraction(1, 10)
    assert exactly("1/3", "x") == Fraction(1, 3)
    assert exactly(3, "x") == 3


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**6))
def test_a_logarithm_is_read_as_at_most_itself(value: Fraction) -> None:
    read = exactly(f"ln {value}", "x")
    assert exactly(f"ln({value})", "x") == read
    assert math.isclose(read, math.log(value), rel_tol=0, abs_tol=2e-12)
    assert (
        mpmath.log(mpmath.mpf(value.numerator) / value.denominator) - mpmath.mpf(read.numerator) / read.denominator >= 0
    )


@pytest.mark.parametrize("text", ["ln", "ln 0", "ln -1", "ln x", "lnln 3", "ln 3 + 1"])
def test_what_is_no_logarithm_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="x"):
        exactly(text, "x")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back(value: float) -> None:
    assert float(exactly(value, "x")) == value


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.float64(1e-17), Fraction(1, 10**17)),
        (np.int64(7), 7),
        (np.uint64(2**64 - 1), 2**64 - 1),
        ("1e-400", Fraction(1, 10**400)),
        ("1e400", 10**400),
        (10**400, 10**400),
        (5e-324, Fraction(5, 10**324)),
        (1.7976931348623157e308, 17976931348623157 * 10**292),
    ],
)
def test_numbers_of_every_kind_and_size_mean_their_decimal(value: Any, meant: Any) -> None:
    assert exactly(value, "x") == meant


@pytest.mark.parametrize(
    "value",
    ["1e999999999", "1e-999999999", "1e99999999999999", "1e٩٩٩٩٩٩٩٩٩", 10**5000, Fraction(1, 10**5000)],
    ids=range(6),
)
def test_a_number_that_no_book_could_hold_is_refused_at_once(value: Any) -> None:
    with pytest.raises(InvalidArgument, match="x"):
        exactly(value, "x")


@given(st.fractions(min_value=0), st.integers(-500, 500))
def test_a_root_is_never_below_the_true_one(value: Fraction, power: int) -> None:
    number = value * Fraction(10) ** power
    assert number <= root(number) ** 2 <= number * (1 + Fraction(1, 2**58))


@pytest.mark.parametrize(
    "value", [True, np.True_, None, "one", "1/0", math.nan, math.inf, np.float64("nan"), np.float32("inf"), 1j]
)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(InvalidArgument, match="x="):
        exactly(value, "x")


def test_ranges() -> None:
    with pytest.raises(InvalidArgument, match="above zero"):
        positive(0, "scale")
    assert probability(0, "delta") == 0
    with pytest.raises(InvalidArgument, match="below 1"):
        probability(1, "delta")


@given(st.floats(min_value=0, max_value=1e300))
def test_rounding_up_never_lowers(value: float) -> None:
    assert rounded_up(value) >= Fraction(value)
    assert float(rounded_up(value)) <= value * (1 + 1e-13)


def test_an_infinite_price_is_refused() -> None:
    with pytest.raises(NotPrivate, match="no finite price"):
        rounded_up(math.inf)
