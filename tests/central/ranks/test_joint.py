"""The joint mechanism: its law, enumerated from the code's own weights, against the formula and against its epsilon."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, inf
from typing import Any

import numpy as np
import pytest
from laws import assert_law
from numpy.typing import NDArray

from bruit.apps.studies.joint_quantiles.enumeration import largest_loss, law_of
from bruit.central.ranks.mechanisms._joint_kernels import sum_every_size, sum_every_size_apart
from bruit.central.ranks.mechanisms.joint import Sums, draw_cuts, joint_plan, target_ranks
from bruit.central.ranks.mechanisms.pruning import FLOOR, LARGEST_EXPONENT, UNIT, pruning
from bruit.central.ranks.mechanisms.weighted_draws import WeightedDraws
from bruit.central.ranks.probabilities import DECILES
from bruit.central.ranks.records import Person

ADDED = Person(1, exchanged=False, fixed_size=False)
EXCHANGED = Person(1, exchanged=True, fixed_size=True)
EXCHANGED_OR_DROPPED = Person(1, exchanged=True, fixed_size=False)
PEOPLE = [ADDED, EXCHANGED, EXCHANGED_OR_DROPPED, Person(3, exchanged=False, fixed_size=False)]
THIRDS = (Fraction(1, 3), Fraction(2, 3))


def law(cells: Any, plan: Any) -> Any:
    sums = Sums(np.sort(np.array(cells, np.int64)), plan)
    return law_of(lambda dice: tuple(sums.draw(dice).tolist()))


def neighbours_of(cells: tuple[Any, ...], grid: int, person: Person) -> Any:
    """Every table that one person with one record makes of this one."""
    cells = tuple(cells)
    removed = {cells[:i] + cells[i + 1 :] for i in range(len(cells))}
    added = {tuple(sorted((*cells, value))) for value in range(grid)}
    exchanged = {tuple(sorted((*some, value))) for some in removed for value in range(grid)} - {cells}
    if not person.exchanged:
        return removed | added
    return exchanged if person.fixed_size else exchanged | removed | added


def formula(cells: NDArray[np.int64], plan: Any) -> Any:
    """The law by its definition: all cuts, all sizes, nothing pruned; the floor added."""
    kappa, number = plan.pruned.kappa, len(plan.probabilities)
    outputs = list(combinations_with_replacement(range(plan.cells), number))
    rows = len(cells)
    sizes = [rows] if plan.step is None else range(0, rows + 40 * plan.pruned.window, plan.step)
    weights = {}
    for cuts in outputs:
        ranks = np.searchsorted(np.sort(cells), cuts)
        counts = np.diff([0, *ranks, rows])
        total = FLOOR / len(outputs)
        for size, targets in zip(sizes, target_ranks(sizes, plan.probabilities), strict=True):
            total += exp(-kappa * np.abs(counts - np.diff([0, *targets, size])).sum())
        weights[cuts] = total
    whole = sum(weights.values())
    return {cuts: weight / whole for cuts, weight in weights.items()}


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("cells", [(), (2,), (0, 0, 3), (1, 1, 1, 1, 1, 1), (0,) * 20 + (3,) * 15])
def test_the_law_is_the_formula(cells: Any, person: Person) -> None:
    plan = joint_plan(THIRDS, 4, Fraction(2), person, step=None)
    enumerated, defined = law(cells, plan), formula(np.array(cells, np.int64), plan)
    assert enumerated.keys() == defined.keys()
    assert abs(sum(enumerated.values()) - 1) < 1e-12
    kept = exp(-plan.pruned.kappa * plan.pruned.window)  # all that pruning may leave out, relative to the floor
    for cuts in defined:
        assert enumerated[cuts] == pytest.approx(defined[cuts], rel=1e-9 + 1e9 * kept)


@pytest.mark.parametrize("person", [ADDED, EXCHANGED, EXCHANGED_OR_DROPPED])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_enumerated_loss_stays_within_epsilon_on_all_small_tables(person: Person, epsilon: Fraction) -> None:
    grid = 3
    plan = joint_plan(THIRDS, grid, epsilon, person, step=1)  # a wide step gives all small tables the same law
    tables = [cells for rows in range(4) for cells in combinations_with_replacement(range(grid), rows)]
    laws = {cells: law(cells, plan) for cells in tables}
    worst = 0.0
    for cells in tables:
        near = neighbours_of(cells, grid, person) & laws.keys()
        worst = max([worst, *(largest_loss(laws[cells], laws[other]) for other in near)])
    assert worst <= float(epsilon)
    assert worst > 0.2 * float(epsilon), "pairs that show nothing prove nothing"


ADVERSARIAL = [
    # multiplicities of the cells of a grid of three: heavy ties at the ends, a pile against nothing, near the targets
    (0, 0, 200),
    (200, 0, 0),
    (60, 60, 60),
    (0, 100, 0),
    (67, 66, 67),
    (1, 150, 1),
]


@pytest.mark.parametrize("person", [ADDED, EXCHANGED])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(25)])
def test_enumerated_loss_stays_within_epsilon_on_piles(person: Any, epsilon: Fraction) -> None:
    plan = joint_plan(THIRDS, 3, epsilon, person)
    worst = 0.0
    for counts in ADVERSARIAL:
        cells = tuple(np.repeat(np.arange(3), counts).tolist())
        own = law(cells, plan)
        worst = max([worst, *(largest_loss(own, law(other, plan)) for other in neighbours_of(cells, 3, person))])
    assert worst <= float(epsilon)
    assert worst > 0.2 * float(epsilon)


def test_rows_of_one_person_move_the_law_by_at_most_epsilon() -> None:
    person = Person(3, exchanged=False, fixed_size=False)
    plan = joint_plan(THIRDS, 3, Fraction(2), person)
    own = law((0, 2) * 5, plan)
    others = [law((0, 2) * 5 + more, plan) for more in product(range(3), repeat=3)]
    assert max(largest_loss(own, other) for other in others) <= 2


def test_bare_pruning_would_not_be_private() -> None:
    """The floor is needed: without it some cuts are possible in one table and not in its neighbour."""
    plan = joint_plan(THIRDS, 3, Fraction(1), EXCHANGED)

    def without_floor(counts: Any) -> Any:
        sums = Sums(np.repeat(np.arange(3), counts), plan)
        sums.totals[-1] = 0.0
        return law_of(lambda dice: tuple(sums.draw(dice).tolist()))

    assert largest_loss(without_floor((0, 26, 26)), without_floor((1, 25, 26))) == inf


@pytest.mark.parametrize("rows", [400, 1000])
def test_the_fast_sums_are_the_plain_ones(rows: Any) -> None:
    rng = np.random.default_rng(3)
    plan = joint_plan(THIRDS, 10_000, Fraction(3), ADDED)
    sums = Sums(np.sort(rng.integers(0, 10_000, rows)), plan)
    window, power = plan.pruned.window, sums.power
    assert np.diff(sums.targets, axis=1).min() >= window + 2, "the windows are apart"
    apart, plain = np.zeros(len(sums.sizes)), np.zeros(len(sums.sizes))
    sum_every_size_apart(sums.padded, sums.sizes, sums.targets, window, power, apart)
    scratch = (sums._arrive, sums._place, sums._bounds, sums._back)
    sum_every_size(sums.lengths, sums.sizes, sums.targets, window, power, *scratch, plain)
    np.testing.assert_allclose(apart, plain, rtol=1e-12)


def test_draws_follow_the_law() -> None:
    plan = joint_plan(THIRDS, 3, Fraction(1), ADDED)
    cells = np.array([0, 0, 1, 2, 2, 2], np.int64)
    expected, dice = law(cells, plan), WeightedDraws(np.random.default_rng(5))
    order = sorted(expected)
    found = [order.index(tuple(draw_cuts(cells, plan, dice).tolist())) for _ in range(4096)]
    assert_law(np.bincount(found, minlength=len(order)), [expected[cuts] for cuts in order])


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**k) for k in range(8)] + [Fraction(200)])
@pytest.mark.parametrize("person", PEOPLE)
def test_the_plan_holds_its_own_inequality_or_is_refused(epsilon: Fraction, person: Person) -> None:
    """kappa > 0, W >= 1, M = 2 W // step + 1, at any epsilon: a plan that does not hold is never made."""
    plan = joint_plan(DECILES, 10**6 * 2**20, epsilon, person)
    if plan is None:
        assert epsilon <= Fraction(1, 10**3) or epsilon == 200
        return
    kappa, window = plan.pruned.kappa, plan.pruned.window
    step, moves = kappa * person.moves, person.moves
    sizes = 1 if plan.step is None else 2 * window // plan.step + 1
    outputs = sum(np.log((plan.cells + i) / (i + 1)) for i in range(9))
    assert kappa > 0
    assert window >= 1
    assert np.log(sizes) + step - kappa * window <= np.log(np.expm1(step)) + np.log(FLOOR) - outputs
    assert 2 * kappa * moves + 64 * 10 * (2 * window + 73) * UNIT <= float(epsilon)
    assert kappa * (window + moves) <= LARGEST_EXPONENT
    assert plan.pruned.decay >= exp(-float(epsilon) / (2 * moves))


def test_at_most_all_of_epsilon_is_lost_to_rounding() -> None:
    assert pruning(Fraction(1), 1, log_outputs=10.0, roundings=lambda _: 2.0**60) is None


def test_ranks_are_whole_numbers_of_any_size() -> None:
    assert target_ranks([10, 11], DECILES).tolist()[0] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert target_ranks([10**15], (Fraction(999_983, 10**6),)).tolist() == [[999_983 * 10**9]]
