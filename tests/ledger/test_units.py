"""What is charged is never less than what was lost, and ordinary fractions are whole."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from bruit.ledger.books.units import LARGEST, PER_ONE, PER_ONE_DELTA, round_down, round_up

AMOUNTS = st.fractions(min_value=0, max_value=LARGEST)
DELTAS = st.fractions(min_value=0, max_value=1)


@given(AMOUNTS, DELTAS)
def test_costs_round_up_and_limits_round_down_by_less_than_a_unit(epsilon: Fraction, delta: Fraction) -> None:
    above, below = round_up(epsilon, delta).exact, round_down(epsilon, delta).exact
    assert below[0] <= epsilon <= above[0] < epsilon + Fraction(1, PER_ONE)
    assert below[1] <= delta <= above[1] < delta + Fraction(1, PER_ONE_DELTA)


@given(st.integers(1, 16), st.integers(0, 9), st.integers(0, 100))
def test_small_denominators_and_nine_decimals_are_exact(parts: int, places: int, count: int) -> None:
    amount = Fraction(count, parts * 10**places)
    assert round_up(amount, amount / 100).exact == (amount, amount / 100)


@given(AMOUNTS, DELTAS)
def test_totals_fit_in_64_bits(epsilon: Fraction, delta: Fraction) -> None:
    assert max(round_up(epsilon, delta)) < 2**63
