"""Single, recursive, threshold and inverse-sensitivity quantiles: enumerated laws and losses on small tables."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from math import exp
from typing import Any, Never

import numpy as np
import pytest
from laws import assert_law
from numpy.typing import NDArray

import bruit
from bruit import tables
from bruit.apps.studies.joint_quantiles.enumeration import largest_loss, law_of
from bruit.central.finite_functions import lengths
from bruit.central.ranks import quantile_methods as methods
from bruit.central.ranks.mechanisms import histogram, recursive
from bruit.central.ranks.mechanisms.exponential import draw_quantile, rank_losses, rank_sensitivity, single_plan
from bruit.central.ranks.mechanisms.histogram import ThresholdPlan
from bruit.central.ranks.mechanisms.pruning import FLOOR
from bruit.central.ranks.mechanisms.segments import segments
from bruit.central.ranks.records import Person
from bruit.core import Neighbours
from bruit.tables import Table

GRID = 4
ADDED = Person(1, exchanged=False, fixed_size=False)
EXCHANGED = Person(1, exchanged=True, fixed_size=True)
DROPPED = Person(1, exchanged=True, fixed_size=False)
TABLES = [cells for rows in range(5) for cells in combinations_with_replacement(range(GRID), rows)]


def pairs(person: Person, tables: list[Any]) -> Iterator[Any]:
    """Every two small tables that one person, with one record, tells apart."""
    for cells in tables:
        for i in range(len(cells)):
            rest = cells[:i] + cells[i + 1 :]
            if not person.fixed_size:
                yield cells, rest
            if person.exchanged:
                yield from ((cells, tuple(sorted((*rest, value)))) for value in range(GRID))


def worst_loss(person: Any, law: Callable[..., Any], most: int = 4) -> Any:
    tables = [cells for cells in TABLES if len(cells) <= most]
    laws = {cells: law(np.array(cells, np.int64)) for cells in tables}
    return max(largest_loss(laws[one], laws[other]) for one, other in pairs(person, tables))


@pytest.mark.parametrize("person", [ADDED, EXCHANGED, DROPPED])
@pytest.mark.parametrize("probability", [Fraction(1, 2), Fraction(1, 10), Fraction(3, 4)])
def test_one_quantile_loses_at_most_epsilon(person: Person, probability: Fraction) -> None:
    plan = single_plan(probability, GRID, Fraction(2), person)

    def law(cells: Any) -> Any:
        where = segments(cells, 0, GRID - 1)
        return law_of(lambda dice: draw_quantile(where, len(cells), probability, plan, dice, first=0, last=GRID - 1))

    worst = worst_loss(person, law)
    assert worst <= 2
    assert worst > 0.4


def test_the_law_of_one_quantile_is_its_formula() -> None:
    probability, cells = Fraction(1, 10), np.array([0, 2, 2, 3, 3, 3])
    plan = single_plan(probability, GRID, Fraction(2), ADDED)
    where = segments(cells, 0, GRID - 1)
    found = law_of(lambda dice: draw_quantile(where, 6, probability, plan, dice, first=0, last=GRID - 1))
    losses = np.repeat(rank_losses(where, probability, 6), where.length)
    assert losses.tolist() == [0, 4, 4, 24]  # num n = 6; den ranks: [0,10], [10,10], [10,30], [30,60]
    weights = np.exp(-plan.kappa * losses) + FLOOR / GRID
    np.testing.assert_allclose([found[z] for z in range(GRID)], weights / weights.sum(), rtol=1e-12)


def test_the_sensitivity_is_scaled_by_the_denominator() -> None:
    tenth = Fraction(1, 10)
    assert [rank_sensitivity(tenth, person) for person in (ADDED, EXCHANGED, DROPPED)] == [9, 10, 10]
    assert rank_sensitivity(tenth, Person(3, exchanged=False, fixed_size=False)) == 27


@pytest.mark.parametrize("person", [ADDED, EXCHANGED, DROPPED])
def test_recursion_loses_at_most_epsilon(person: Person) -> None:
    """With three quantiles an exchanged record can leave one half and enter the other: both are charged."""
    probabilities = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    plan = recursive.recursive_plan(probabilities, GRID, Fraction(6), person)

    def law(cells: Any) -> Any:
        return law_of(lambda dice: tuple(recursive.draw_recursively(cells, plan, dice).tolist()))

    worst = worst_loss(person, law, most=2)
    assert worst <= 6
    assert worst > 1


def threshold_law(cells: NDArray[np.int64], plan: ThresholdPlan) -> dict[int, float]:
    """The chance of each edge of one quantile, over all thresholds: the tails of discrete Laplace noise."""
    (probability,), (scale,) = plan.probabilities, plan.scales
    queries = probability.denominator * np.searchsorted(cells, plan.edges[1:]) - probability.numerator * len(cells)
    k = np.arange(-4000, 4001)
    chances = np.exp(-np.abs(k) / float(2 * scale))
    chances /= chances.sum()
    a = exp(-1 / float(4 * scale))
    law, left = {}, chances.copy()
    for i, query in enumerate(queries):
        t = k - query
        above = np.where(t > 0, a ** np.maximum(t, 0) / (1 + a), 1 - a ** np.maximum(1 - t, 0) / (1 + a))
        law[i] = float((left * above).sum())
        left = left * (1 - above)
    law[len(queries)] = float(left.sum())
    return law


@pytest.mark.parametrize("person", [ADDED, EXCHANGED, DROPPED])
def test_the_histogram_method_loses_at_most_epsilon(person: Person) -> None:
    plan = histogram.threshold_plan([Fraction(1, 4)], GRID, Fraction(2), person, steps=3)
    worst = worst_loss(person, lambda cells: threshold_law(cells, plan))
    assert worst <= 2
    assert worst > 0.3


def test_the_histogram_method_follows_its_law() -> None:
    cells = np.array([0, 1, 1, 2, 3, 3, 3])
    plan = histogram.threshold_plan([Fraction(1, 2)], GRID, Fraction(3), ADDED, steps=3)
    expected, rng = threshold_law(cells, plan), np.random.default_rng(7)
    found = [int(histogram.draw_edges(cells, plan, rng)[0]) for _ in range(4096)]
    edges = [int(plan.edges[i]) for i in range(4)]
    assert_law(np.bincount([edges.index(edge) for edge in found], minlength=4), [expected[i] for i in range(4)])


def test_the_histogram_method_returns_left_edges_and_b_where_none_is_above() -> None:
    plan = histogram.threshold_plan([Fraction(1, 2)], 101, Fraction(200), ADDED, steps=10)
    rng = np.random.default_rng(8)
    assert plan.edges.tolist() == list(range(0, 101, 10))
    assert histogram.draw_edges(np.full(1000, 37), plan, rng).tolist() == [30]
    assert histogram.draw_edges(np.full(1000, 100), plan, rng).tolist() == [100]
    assert histogram.draw_edges(np.full(1000, 0), plan, rng).tolist() == [0]


@pytest.mark.parametrize("person", [ADDED, EXCHANGED, DROPPED])
@pytest.mark.parametrize("method", ["inverse-sensitivity", "smooth"])
def test_inverse_sensitivity_loses_at_most_epsilon(
    person: Person, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = methods.RankQuestion(
        (Fraction(3, 4),), tables.within(0, GRID - 1, grid=1), Fraction(2), person, 1, 1 if method == "smooth" else None
    )
    drawing = asked.method_named(method)

    def law(cells: Any) -> Any:
        def draw(dice: Any) -> Any:
            monkeypatch.setattr(methods, "WeightedDraws", lambda rng: dice)
            return int(drawing.draw(cells, np.random.default_rng())[0])

        return law_of(draw)

    worst = worst_loss(person, law)
    assert worst <= 2
    assert worst > 0.4


def test_inverse_sensitivity_of_any_function_loses_at_most_epsilon() -> None:
    """The mode of three values, with its exact law: weights exp(-epsilon length / 2)."""

    def mode(counts: Any) -> Any:
        return int(np.argmax(counts))

    def law(counts: Any) -> Any:
        weights = np.exp(-lengths(counts, mode, [0, 1, 2], reach=4, exchange=False))
        return dict(enumerate(weights / weights.sum()))

    worst = 0.0
    for counts in np.ndindex(4, 4, 4):
        for place in range(3):
            more = tuple(c + (i == place) for i, c in enumerate(counts))
            worst = max(worst, largest_loss(law(counts), law(more)))
    assert 1 < worst <= 2 + 1e-12


def test_inverse_sensitivity_answers_from_a_book(neighbours: Neighbours, ledger: bruit.Ledger, table: Table) -> None:
    def most(counts: Any) -> Any:
        return int(np.argmax(counts))

    column = table["city"].among(["Paris", "Lyon"], drop_others=True)
    release = bruit.central.inverse_sensitivity(column, most, [0, 1], reach=3, budget=ledger.budget(epsilon=100))
    assert release.value == 1
    assert release.guarantee.epsilon == 100
    with pytest.raises(bruit.errors.InvalidArgument, match="too many tables"):
        wide = table["x"].within(0, 9, grid=1)
        bruit.central.inverse_sensitivity(wide, most, [0, 1], reach=9, budget=ledger.budget(epsilon=1))
    with pytest.raises(bruit.errors.InvalidArgument, match="outcomes"):
        bruit.central.inverse_sensitivity(column, most, [0, 0], reach=2, budget=ledger.budget(epsilon=1))
    assert len(ledger.entries) == 1


def test_rule_2_a_function_that_fails_is_no_error(ledger: bruit.Ledger, table: Table) -> None:
    def fails(counts: Any) -> Never:
        raise ValueError(counts)

    column = table["city"].among(["Paris"])
    release = bruit.central.inverse_sensitivity(column, fails, ["a", "b"], reach=1, budget=ledger.budget(epsilon=1))
    assert release.value in ("a", "b")
