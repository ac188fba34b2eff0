"""The statements of docs/joint_quantiles.md, each against a search that knows nothing of its proof."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from bruit import DECILES, REPLACE_ONE
from bruit.central import expected_rank_error
from bruit.central.ranks.mechanisms.joint import target_ranks
from bruit.core.neighbours import ADD_OR_REMOVE_ONE

Counts = tuple[int, ...]
THIRDS = (Fraction(1, 3), Fraction(2, 3))
MOST = 9
"""The most records of a slot in the searches, well beyond the tables that are asked about."""


def targets(size: int) -> Counts:
    ranks = target_ranks([size], THIRDS)[0].tolist()
    return tuple(np.diff([0, *ranks, size]).tolist())


def one_more_or_less(counts: Counts) -> list[Counts]:
    moved = [tuple(c + by * (i == s) for i, c in enumerate(counts)) for s in range(3) for by in (1, -1)]
    return [each for each in moved if min(each) >= 0 and max(each) <= MOST]


def one_exchanged(counts: Counts) -> list[Counts]:
    pairs = [(old, new) for old in range(3) for new in range(3) if old != new and counts[old]]
    return [tuple(c - (i == old) + (i == new) for i, c in enumerate(counts)) for old, new in pairs]


def steps_to_exact(counts: Counts, neighbours: Callable[[Counts], list[Counts]]) -> int:
    """The fewest moves to a table whose slots hold their targets, by breadth-first search."""
    seen, edge, steps = {counts}, {counts}, 0
    while not any(each == targets(sum(each)) for each in edge):
        edge = {other for each in edge for other in neighbours(each)} - seen
        seen |= edge
        steps += 1
    return steps


def loss(counts: Counts, size: int) -> int:
    return sum(abs(count - target) for count, target in zip(counts, targets(size), strict=True))


@pytest.mark.parametrize("counts", list(product(range(5), repeat=3)))
def test_the_least_loss_is_the_number_of_records_to_a_table_that_fits(counts: Counts) -> None:
    assert steps_to_exact(counts, one_more_or_less) == min(loss(counts, size) for size in range(3 * MOST))
    assert 2 * steps_to_exact(counts, one_exchanged) == loss(counts, sum(counts))


def test_rounded_targets_can_take_a_record_back() -> None:
    assert (targets(1), targets(2)) == ((0, 1, 0), (1, 0, 1))
    assert abs(loss((0, 1, 0), 1) - loss((0, 2, 0), 2)) == 4


@pytest.mark.parametrize("number", [2, 5, 9])
def test_jointexp_s_loss_is_at_most_its_sensitivity_times_ours(number: int) -> None:
    """In exact fractions, at the size that is best for ours: one of the slots' own, since the loss is convex in c."""
    rng = np.random.default_rng(number)
    for _ in range(200):
        shares = [
            Fraction(int(share), 100)
            for share in rng.multinomial(100 - number - 1, np.full(number + 1, 1 / (number + 1))) + 1
        ]
        counts = [int(count) for count in rng.integers(0, 40, number + 1)]
        ours = min(
            sum(abs(count - size * share) for count, share in zip(counts, shares, strict=True))
            for size in [count / share for count, share in zip(counts, shares, strict=True)]
        )
        theirs = sum(abs(count - sum(counts) * share) for count, share in zip(counts, shares, strict=True))
        assert theirs <= 2 * (1 - min(shares)) * ours


def geometric_sums(number: int, decay: float) -> NDArray[np.float64]:
    """The law of the sum of two-sided geometric numbers, centred."""
    each = decay ** np.abs(np.arange(-60, 61, dtype=float))
    law = np.ones(1)
    for _ in range(number):
        law = np.convolve(law, each / each.sum())
    return law


def mean_rank_error(step: int, missed: int, decay: float) -> float:
    """The mean over the deciles of |E_j|, given that the slots' errors sum to a multiple of the step plus `missed`."""
    errors = []
    for j in range(1, 10):
        before, after = geometric_sums(j, decay), geometric_sums(10 - j, decay)
        first, rest = np.arange(len(before)) - len(before) // 2, np.arange(len(after)) - len(after) // 2
        total = first[:, None] + rest
        chance = np.outer(before, after) * ((total - missed) % step == 0)
        errors.append(float((chance * np.abs(first[:, None] - j / 10 * total)).sum() / chance.sum()))
    return float(np.mean(errors))


def test_the_step_between_sizes_costs_next_to_nothing_and_the_forecast_holds() -> None:
    free, stepped = (
        np.mean([mean_rank_error(step, missed, np.exp(-0.5)) for missed in range(0, step, 2)]) for step in (1, 20)
    )
    assert (round(free, 3), round(stepped, 3)) == (2.879, 2.882)
    forecast = expected_rank_error(DECILES, epsilon=1, neighbours=ADD_OR_REMOVE_ONE).mean()
    assert forecast == pytest.approx(free, rel=0.02)


def test_jointexp_s_forecast_is_that_of_slots_that_sum_to_zero() -> None:
    public = expected_rank_error(DECILES, epsilon=1, neighbours=REPLACE_ONE, public_size=True).mean()
    exact = mean_rank_error(10**9, 0, np.exp(-0.25))
    assert public == pytest.approx(exact, rel=0.02)
    assert round(public * 1.8 / 2, 2) == 4.85
