import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy import belief, belief_table, premium


def test_s2_5_the_row_of_an_even_prior() -> None:
    table = belief_table()
    assert table.height == 88
    row = table.filter(table["prior"] == 0.5)["high"].to_list()
    assert [round(100 * value, 2) for value in row] == [50.25, 51.25, 52.50, 54.98, 62.25, 73.11, 88.08, 95.26]


def test_s2_5_warner_attains_the_bound() -> None:
    assert belief(0.5, math.log(3)).high == pytest.approx(0.75, abs=1e-12)


def test_s2_5_the_premium() -> None:
    assert round(premium(2000, 0.01), 2) == 2020.10


HUGE = st.one_of(st.floats(700, 1e308), st.integers(701, 3900).map(lambda power: f"1e{power}"))


@given(HUGE, st.sampled_from([2000, 1, "1e-300", "1e999"]))
def test_a_premium_beyond_every_float_is_infinite(epsilon: Any, fair: Any) -> None:
    if Fraction(str(epsilon)) > 1600:
        assert premium(fair, epsilon) == math.inf
    assert premium(0, epsilon) == 0


def test_a_tiny_premium_outlives_an_overflowing_factor() -> None:
    assert premium("1e-310", 720) == pytest.approx(math.exp(720 - 310 * math.log(10)), rel=1e-9)


@given(HUGE)
def test_a_huge_epsilon_leaves_no_bound_on_belief(epsilon: Any) -> None:
    assert (belief(0.5, epsilon).low, belief(0.5, epsilon).high) == (pytest.approx(0, abs=1e-300), 1)


def test_a_prior_below_every_float_is_still_a_prior() -> None:
    assert belief("1e-400", 2000).high == 1
    assert belief("1e-400", 900).high == pytest.approx(math.exp(900 - 400 * math.log(10)), rel=1e-9)


@given(st.floats(0, 1), st.floats(0, 700))
def test_beliefs_are_ordered_and_their_odds_move_by_epsilon(prior: float, epsilon: float) -> None:
    found = belief(prior, epsilon)
    assert 0 <= found.low <= prior * (1 + 1e-12)
    assert prior * (1 - 1e-12) <= found.high <= 1
    if 1e-3 < prior < 0.999 and epsilon < 20:
        assert math.log(found.high / (1 - found.high) * (1 - prior) / prior) == pytest.approx(epsilon, abs=1e-5)


def test_a_delta_has_no_bound_for_every_answer() -> None:
    with pytest.raises(NotPrivate, match="some answers may prove"):
        belief(0.5, 1, delta=1e-6)


@pytest.mark.parametrize(("prior", "epsilon"), [(-0.1, 1), (1.1, 1), (0.5, -1)])
def test_what_is_no_belief_is_refused(prior: float, epsilon: int) -> None:
    with pytest.raises(InvalidArgument):
        belief(prior, epsilon)


def test_a_negative_premium_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="negative"):
        premium(-1, 1)
