"""The guarantee by brute force: every path of the noise on coarse lattices, in two neighbouring worlds.

For each path N of one world the other world gives the same answers with N' = N + D. The programme itself computes D, so
that the bound on Σ D², the Rényi divergences and the exact δ are checked with all their rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from continual.conftest import ONE, plan_for
from hypothesis import given
from hypothesis import strategies as st

from bruit.continual import Contribution, at_most, once
from bruit.continual.factorisation import FIXED, search_factor
from bruit.continual.noise.buffers import empty, pack, published, rounded, step, step_wide, unpack
from bruit.continual.plan import Lattice, StreamPlan
from bruit.core import REPLACE_ONE
from bruit.privacy.accounting.gaussian import gaussian_delta
from bruit.randomness import discrete_gaussian

World = Callable[[int, np.ndarray | None], object]
"""What a person adds in a period, from the answers of the period before."""

FACTOR = search_factor(16)


@dataclass(frozen=True)
class Compared:
    """What all paths together say of two worlds."""

    largest: float
    renyi: dict[int, float]
    delta: dict[float, float]


def compare(plan: StreamPlan, world: World, other: World, *, reach: float) -> Compared:
    """Walks every path within `reach` deviations in both worlds at once."""
    sigma, spare = plan.lattice.sigma, plan.lattice.spare
    edge = int(reach * sigma)
    values = np.arange(-edge, edge + 1)
    paths = np.array(np.meshgrid(*[values] * plan.periods, indexing="ij")).reshape(plan.periods, -1)
    buffers = [empty(plan.factor, paths.shape[1]) for _ in range(2)]
    totals = [np.zeros(paths.shape[1], np.int64) for _ in range(2)]
    still, answers = np.zeros(paths.shape[1], np.int64), None
    mass = log(np.exp(-(np.arange(-60 * sigma, 60 * sigma + 1) ** 2) / (2 * sigma**2)).sum())
    chances, moved = [np.zeros(paths.shape[1]), np.zeros(paths.shape[1])], np.zeros(paths.shape[1])
    for period in range(plan.periods):
        past = [step(plan.factor, spare, each, still)[1] for each in buffers]
        totals = [total + each(period, answers) for total, each in zip(totals, (world, other), strict=True)]
        answers = plan.unit * totals[0] + paths[period] + past[0]
        noises = (paths[period], answers - plan.unit * totals[1] - past[1])
        buffers = [step(plan.factor, spare, each, noise)[0] for each, noise in zip(buffers, noises, strict=True)]
        chances = [each - noise**2 / (2 * sigma**2) - mass for each, noise in zip(chances, noises, strict=True)]
        moved += (noises[1] - noises[0]) ** 2.0
    ratio, likely = chances[0] - chances[1], np.exp(chances[0])
    renyi = {order: float(np.log((likely * np.exp((order - 1) * ratio)).sum()) / (order - 1)) for order in (2, 4, 8)}
    excess = {e: float((likely * np.maximum(0, -np.expm1(e - ratio))).sum()) for e in (0.25, 0.5, 1.0)}
    return Compared(float(moved.max()), renyi, excess)


def assert_within(plan: StreamPlan, found: Compared) -> None:
    squared, sigma = float(plan.squared_shift), plan.lattice.sigma
    assert found.largest <= squared * sigma**2 * (1 + 1e-12)
    for order, divergence in found.renyi.items():
        assert divergence <= order * squared / 2
    for epsilon, delta in found.delta.items():
        assert delta <= gaussian_delta(sqrt(squared), epsilon)


def once_at(place: int, value: int = 1) -> World:
    return lambda period, _answers: value * int(period == place)


def coarse(sigma: int, spare: int, shift: float, **more: Any) -> StreamPlan:
    return plan_for(3, shift=shift, factor=FACTOR, lattice=Lattice(sigma, spare), **more)


@pytest.mark.parametrize(("sigma", "spare", "shift"), [(8, 3, 2.0), (10, 5, 1.5)])
@pytest.mark.parametrize("place", [0, 1])
def test_no_path_moves_further_than_is_paid_for(sigma: int, spare: int, shift: float, place: int) -> None:
    plan = coarse(sigma, spare, shift)
    assert_within(plan, compare(plan, once_at(place), once_at(9), reach=4))


def test_without_the_slack_of_rounding_the_bound_would_be_passed() -> None:
    """The planted fault: U Δ alone, as if buffers were not rounded."""
    worst = 0.0
    for sigma, spare, shift in [(6, 2, 3.0), (8, 3, 2.0)]:
        plan = coarse(sigma, spare, shift)
        c = np.array([x / 2.0**FIXED for x in plan.factor.c(3)])
        worst = max(worst, compare(plan, once_at(0), once_at(9), reach=4).largest / (plan.unit**2 * float(c @ c)))
    assert worst > 1


@pytest.mark.parametrize(
    ("signed", "times", "pair"),
    [(False, 1, ((0,), (2,))), (True, 1, ((0,), (0,))), (False, 2, ((0, 1), (2,)))],
)
def test_replacing_a_person_stays_within_its_price(signed: bool, times: int, pair: tuple[Any, ...]) -> None:
    plan = coarse(
        8,
        3,
        3.0,
        neighbours=REPLACE_ONE,
        contribution=Contribution(1, 1, 1, signed),
        participation=at_most(times),
    )
    sign = -1 if signed else 1
    mine, theirs = pair
    found = compare(plan, lambda t, _: int(t in mine), lambda t, _: sign * int(t in theirs), reach=4)
    assert_within(plan, found)


def test_people_may_react_to_what_was_published() -> None:
    plan = coarse(10, 5, 3.0, neighbours=REPLACE_ONE)

    def high(answers: Any) -> Any:
        return (answers > 0).astype(np.int64)

    def here(period: Any, answers: Any) -> Any:
        return 1 if period == 0 else 2 * high(answers)  # others come after a high answer

    came: dict[str, Any] = {}

    def there(period: Any, answers: Any) -> Any:
        if period == 0:
            return 0
        came[period] = high(answers) if period == 1 else 1 - came[1]  # the newcomer too, else in the last period
        return 2 * high(answers) + came[period]

    assert_within(plan, compare(plan, here, there, reach=4))


def test_on_the_real_lattice_rounding_is_within_the_lemma() -> None:
    plan, cells = plan_for(128), 200
    c = np.array([x / 2.0**FIXED for x in plan.factor.c(128)])
    rng, still = np.random.default_rng(3), np.zeros(cells, np.int64)
    mine = theirs = empty(plan.factor, cells)
    for period in range(128):
        past = [step(plan.factor, plan.lattice.spare, each, still)[1] for each in (mine, theirs)]
        moved = plan.unit + past[0] - past[1]
        assert np.abs(moved - plan.unit * c[period]).max() <= 2.1
        noise = discrete_gaussian(plan.lattice.sigma**2, cells, rng=rng)
        mine = step(plan.factor, plan.lattice.spare, mine, noise)[0]
        theirs = step(plan.factor, plan.lattice.spare, theirs, noise + moved)[0]


@pytest.mark.parametrize("edge", [2**50, 2**55, 2**61, 2**62])
def test_what_is_given_moves_one_by_one_with_the_fresh_draw(edge: int) -> None:
    """The fresh draw once chose between floats and fractions: two draws gave the same answer, and one none."""
    rng = np.random.default_rng(5)
    buffers = rng.integers(-(2**49), 2**49, (len(FACTOR.poles), 400))
    given = [step(FACTOR, 0, buffers, np.full(400, edge + moved))[1] for moved in (-1, 0, 1)]
    for low, high in pairwise(given):
        assert all(int(b) - int(a) == 1 for a, b in zip(low, high, strict=True))


def test_a_cell_depends_on_no_other_cell() -> None:
    rng = np.random.default_rng(6)
    buffers = rng.integers(-(2**49), 2**49, (len(FACTOR.poles), 5))
    fresh = rng.integers(-(2**40), 2**40, 5)
    alone = [step(FACTOR, 4, buffers[:, [cell]], fresh[[cell]]) for cell in range(5)]
    wide = buffers.copy()
    wide[0, 4] = 2**60
    together = step(FACTOR, 4, wide, fresh)
    for cell in range(4):
        assert together[0][:, cell].tolist() == alone[cell][0][:, 0].tolist()
        assert together[1][cell] == alone[cell][1][0]


def test_numbers_beyond_64_bits_are_kept_and_read_again() -> None:
    buffers = np.array([[2**62, 5]] * len(FACTOR.poles))
    kept, noise = step(FACTOR, 8, buffers, np.array([2**61, -3]))
    assert kept.dtype == object
    assert int(kept[0, 0]) == 2**62 + 2**69
    again = unpack(pack(kept), len(FACTOR.poles))
    assert again.tolist() == kept.tolist()
    given = published(np.array([1, 2]), noise, 3)
    assert int(given[1]) == 2 + int(rounded(noise, 3)[1])
    calm = step(FACTOR, 8, again, np.array([0, 0]))[0]
    assert unpack(pack(calm), len(FACTOR.poles)).tolist() == calm.tolist()


@given(st.integers(0, 2**32), st.integers(0, 14), st.sampled_from([20, 49, 51]))
def test_the_kernel_gives_what_numpy_gives_to_the_last_bit(seed: int, spare: int, bits: int) -> None:
    rng = np.random.default_rng(seed)
    buffers = rng.integers(-(2**bits), 2**bits, (len(FACTOR.poles), 37))
    fresh = rng.integers(-(2**45), 2**45, 37)
    for one, other in zip(step(FACTOR, spare, buffers, fresh), step_wide(FACTOR, spare, buffers, fresh), strict=True):
        np.testing.assert_array_equal(one, other)


def test_floats_and_fractions_agree_within_the_lemma() -> None:
    rng = np.random.default_rng(7)
    small = rng.integers(-(2**49), 2**49, (len(FACTOR.poles), 300))
    large = small.astype(object)
    kept, noise = step(FACTOR, 3, small, np.zeros(300, np.int64))
    from bruit.continual.noise.buffers import _widened

    exact = _widened(FACTOR, 3, large, np.arange(300), large.copy(), np.zeros(300, object))
    assert max(abs(int(a) - int(b)) for a, b in zip(kept.flat, exact[0].flat, strict=True)) <= 1
    assert max(abs(int(a) - int(b)) for a, b in zip(noise, exact[1], strict=True)) <= 1


@pytest.mark.parametrize("unit", [1, 3, 1000])
def test_rounding_moves_with_whole_totals(unit: int) -> None:
    noise = np.arange(-5000, 5000)
    np.testing.assert_array_equal(rounded(noise + 7 * unit, unit), rounded(noise, unit) + 7)
    assert np.abs(rounded(noise, unit) * unit - noise).max() * 2 <= unit


def test_a_participation_of_several_periods_on_every_path() -> None:
    plan = coarse(8, 4, 2.5, participation=at_most(2), contribution=ONE)
    assert_within(plan, compare(plan, lambda t, _: int(t < 2), lambda _t, _: 0, reach=4))
    assert plan.participation != once()
