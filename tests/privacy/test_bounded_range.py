"""A choice of bounded range costs what its sources say, and no accountant underprices it."""

from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bruit.core import Neighbours
from bruit.errors import InvalidArgument
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    REPLACE_ONE,
    BoundedRange,
    Pure,
    basic,
    delta,
    epsilon,
    loss_from_json,
    zcdp,
)
from bruit.privacy.accounting.gaussian import bounded_range_shift, gaussian_delta

SIZES = st.fractions(Fraction(1, 50), 4)


@given(SIZES)
def test_prices_are_those_of_the_sources(size: Any) -> None:
    loss = BoundedRange(size, neighbours=ADD_OR_REMOVE_ONE)
    assert basic(loss) == (size, 0)
    assert zcdp(loss) == size**2 / 8
    assert loss_from_json(loss.to_json()) == loss


def worst_delta(size: float, target: float) -> float:
    """The largest delta at an epsilon over all two-point laws of the range: the corner t = log p/q on a fine grid."""
    tops = np.linspace(0, size, 2001)[1:-1]
    q = (1 - np.exp(tops - size)) / (np.exp(tops) - np.exp(tops - size))
    p = q * np.exp(tops)
    return float(np.max(np.maximum(p - exp(target) * q, 0) + np.maximum((1 - p) - exp(target) * (1 - q), 0)))


@given(SIZES, st.floats(0, 4))
def test_the_gaussian_shift_dominates_every_choice_of_the_range(size: Fraction, target: float) -> None:
    shift = float(bounded_range_shift(size))
    assert gaussian_delta(shift, target) >= worst_delta(float(size), target) - 1e-9


@given(SIZES)
def test_the_symmetric_choice_reaches_the_shift(size: Fraction) -> None:
    """With t = size / 2 the corner of the trade-off lies on the Gaussian curve: no smaller shift would do."""
    p = 1 / (1 + exp(-float(size) / 2))
    assert stats.norm.ppf(p) - stats.norm.ppf(1 - p) == pytest.approx(float(bounded_range_shift(size)), rel=1e-9)


@pytest.mark.parametrize("by", ["zcdp", "rdp", "gdp", "pld"])
@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_many_choices_cost_less_than_as_many_pure_losses(by: str, neighbours: Neighbours) -> None:
    choice = BoundedRange("0.2", neighbours=neighbours) * 50
    pure = Pure("0.2", neighbours=neighbours) * 50
    assert epsilon(choice, delta="1e-5", by=by) < epsilon(pure, delta="1e-5", by=by)


def test_no_accountant_goes_below_the_exact_composition_of_symmetric_choices() -> None:
    size, times, target = 0.5, 20, 2.0
    keep = 1 / (1 + exp(-size / 2))
    counts = np.arange(times + 1)
    law = stats.binom.pmf(counts, times, keep)
    other = stats.binom.pmf(counts, times, 1 - keep)
    exact = float(np.maximum(law - exp(target) * other, 0).sum())
    loss = BoundedRange("0.5", neighbours=ADD_OR_REMOVE_ONE) * times
    for by in ("zcdp", "rdp", "gdp", "pld"):
        assert delta(loss, epsilon=target, by=by) >= exact
    assert log(float(delta(loss, epsilon=target, by="pld")) / exact) < 1.5


@pytest.mark.parametrize("size", [0, -1, "x"])
def test_a_range_is_above_zero(size: Any) -> None:
    with pytest.raises(InvalidArgument):
        BoundedRange(size, neighbours=ADD_OR_REMOVE_ONE)
