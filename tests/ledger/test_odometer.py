"""What was spent so far holds at every time, even against somebody who stops because of it."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import cosh, exp, log

import numpy as np
import pytest

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.core import DiscreteGaussian, Pure
from bruit.ledger import page, statement
from bruit.ledger.books.units import round_up
from bruit.ledger.odometer import odometer

RELATION = {"neighbours": ADD_OR_REMOVE_ONE}
BOOKS = [("basic", 0), ("zcdp", 0.05), (("rdp", 3), 0.05), (("rdp", 12), 0.05)]


def book(by: object, delta: float, failures: float = 0) -> Ledger:
    return Ledger("o", epsilon=8, delta=delta, by=by, failures=failures, **RELATION, person="id")  # type: ignore[arg-type]


def steady(losses: list[float]) -> float:
    return 0.4


def chasing(losses: list[float]) -> float:
    """Asks dearly while it is unlucky, cheaply once it has gained: it wants one moment at which the loss is high."""
    return 0.9 if sum(losses) <= 0 else 0.15


def doubling(losses: list[float]) -> float:
    return min(0.1 * 2 ** len(losses), 1.2) if not losses or losses[-1] < 0 else 0.05


@pytest.mark.parametrize("strategy", [steady, chasing, doubling])
@pytest.mark.parametrize(("by", "delta"), BOOKS)
def test_the_loss_passes_the_odometer_at_some_time_with_at_most_delta(
    by: object, delta: float, strategy: Callable[[list[float]], float]
) -> None:
    """Every path of twelve randomised answers whose epsilons follow the answers: the exact chance of ever passing."""
    terms = book(by, delta).terms
    passed = 0.0
    for coins in product((1, -1), repeat=12):
        chance, losses, spent, over = 1.0, [], 0.0, False  # type: ignore[var-annotated]
        for coin in coins:
            e = strategy(losses)
            chance *= 1 / (1 + _exp(-e * coin))
            losses.append(e * coin)
            spent += _divergence(e, by)
            shown = float(odometer(round_up(Fraction(spent), Fraction(0)), terms).epsilon)
            over |= sum(losses) > shown + 1e-9
        passed += chance * over
    assert passed <= delta


def _exp(x: float) -> float:
    return float(cosh(x) + (cosh(x) ** 2 - 1) ** 0.5 * (1 if x > 0 else -1))


def _divergence(e: float, by: object) -> float:
    """What a randomised answer adds to each kind of book: epsilon, a bound of rho, the exact divergence of an order."""
    if by == "basic":
        return e
    if by == "zcdp":
        return e * e / 2
    a = by[1]  # type: ignore[index]
    p = 1 / (1 + _exp(-e))
    return log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)


@pytest.mark.parametrize("by", ["zcdp", ("rdp", 12)])
def test_what_a_book_keeps_for_failures_is_no_part_of_the_delta_that_its_loss_may_pass_with(by: object) -> None:
    """Failures and a loss above the figure add up to the delta shown: as much as a book of the rest alone shows."""
    spent = round_up(Fraction(1, 3), Fraction("0.04"))
    whole, rest = odometer(spent, book(by, 0.05, 0.04).terms), odometer(spent, book(by, 0.01).terms)
    assert whole.delta == Fraction("0.05")
    assert float(whole.epsilon) >= (1 - 1e-3) * float(rest.epsilon)
    assert whole.epsilon > odometer(spent, book(by, 0.05).terms).epsilon


def test_the_total_of_a_filter_read_at_any_time_can_be_passed_more_often() -> None:
    """Why the figure of a filter is no odometer: its (epsilon, delta) lets the loss itself pass more often."""
    ledger = book("zcdp", 0.05)
    ledger.budget(epsilon=4, delta=0.05).charge(DiscreteGaussian(4, squared_sensitivity=4, **RELATION), what="x")
    assert ledger.odometer.epsilon > ledger.spent.epsilon
    assert ledger.odometer.delta == ledger.terms.delta


def test_a_book_by_sums_shows_its_sum_and_an_empty_one_nothing() -> None:
    ledger = book("basic", 0)
    assert ledger.odometer.epsilon == 0
    ledger.budget(epsilon=1).charge(Pure(1, **RELATION), what="x")
    assert ledger.odometer == ledger.spent
    told = statement(ledger)
    assert told["odometer"] == {"epsilon": 1.0, "delta": 0.0}
    assert "valid whenever it is read" in page(told)
    del told["odometer"]
    assert "valid whenever it is read" not in page(told)
    assert book("zcdp", 0.05).odometer.epsilon == 0


def test_a_basic_odometer_promises_sets_of_answers_and_not_the_loss_itself() -> None:
    """The exact law of Gaussian noise sold at (1, 1e-5): its loss is above 1 fifteen times as often as delta."""
    noise = DiscreteGaussian(Fraction("3.742") ** 2, squared_sensitivity=1, **RELATION)
    ledger = Ledger("o", epsilon=8, delta=1e-4, **RELATION, person="id")
    ledger.budget(epsilon=1, delta=1e-5).charge(noise, what="a count")
    shown, places = ledger.odometer, np.arange(-200, 201)
    with_one = np.exp(-((places - 1) ** 2) / (2 * float(noise.variance)))
    without = np.exp(-(places**2) / (2 * float(noise.variance)))
    with_one, without = with_one / with_one.sum(), without / without.sum()
    above = np.log(with_one / without) > float(shown.epsilon)
    assert with_one[above].sum() > 10 * float(shown.delta)
    assert np.maximum(with_one - exp(shown.epsilon) * without, 0).sum() <= float(shown.delta)
