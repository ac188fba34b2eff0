"""The curator draws from the law that was priced, moves no further than its sensitivity, and answers once."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law

from bruit.core import Neighbours
from bruit.errors import PrivacyError
from bruit.privacy import ADD_OR_REMOVE_ONE, REPLACE_ONE
from bruit.synthetic.curator import Curator
from bruit.synthetic.marginals import Partition, count_cells, draw_partition
from bruit.synthetic.plan import PublicNumbers, make_plan

PLAN = make_plan(PublicNumbers((2, 3, 4, 2, 3, 2, 2, 3, 2, 2, 3, 2), 1, ADD_OR_REMOVE_ONE), Fraction(1))
SIZES = np.array([2, 3, 4])


def test_a_choice_follows_the_exponential_law_exactly() -> None:
    plan = replace(PLAN, choice=Fraction(1, 2), picks=10**6)
    cells = np.zeros((12, 20), np.uint8)
    curator = Curator(cells, plan, np.random.default_rng(2))
    cliques, behind = [(0, 1), (0, 2), (1, 2), (0, 3)], [0, 1, 4, 9]
    guesses = [count_cells(cells, clique, curator.sizes) for clique in cliques]
    found = [curator.choose(cliques, guesses, behind)[0].clique for _ in range(6_000)]
    weights = np.exp(-0.25 * np.array(behind))
    assert_law([found.count(clique) for clique in cliques], weights / weights.sum())


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3]), st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]))
def test_one_person_moves_counts_scores_and_audits_no_further_than_the_plan_says(
    seed: int, rows: int, neighbours: Neighbours
) -> None:
    rng = np.random.default_rng(seed)
    plan = make_plan(PublicNumbers((2, 3, 4), rows, neighbours), Fraction(1))
    others, own, new = (rng.integers(0, SIZES[:, None], (3, many)).astype(np.uint8) for many in (9, rows, rows))
    before = np.hstack([others, own])
    after = others if neighbours is ADD_OR_REMOVE_ONE else np.hstack([others, new])
    guess = rng.integers(0, 9, 12)
    first, second = (count_cells(each, (1, 2), SIZES) for each in (before, after))
    assert ((first - second) ** 2).sum() <= plan.squared_l2
    assert abs(np.abs(first - guess).sum() - np.abs(second - guess).sum()) <= plan.l1
    cut = draw_partition((1, 2), SIZES, rng)
    boxes = cut.fold(guess, SIZES)
    moved = [np.abs(cut.fold(each, SIZES) - boxes) for each in (first, second)]
    part = rng.random(len(boxes)) < 0.5
    assert abs(moved[0][part].sum() - moved[1][part].sum()) <= plan.l1
    assert abs(moved[0].sum() - moved[1].sum()) <= plan.l1


def test_the_worst_person_moves_a_marginal_by_all_that_is_paid() -> None:
    plan = make_plan(PublicNumbers((2, 3, 4), 3, REPLACE_ONE), Fraction(1))
    ones, zeros = np.ones((3, 3), np.uint8), np.zeros((3, 3), np.uint8)
    difference = count_cells(ones, (0, 1), SIZES) - count_cells(zeros, (0, 1), SIZES)
    assert (difference**2).sum() == plan.squared_l2 == 18
    assert np.abs(difference).sum() == plan.l1 == 6


def test_nothing_is_answered_twice() -> None:
    curator = Curator(np.zeros((12, 5), np.uint8), PLAN, np.random.default_rng(0))
    for column in range(12):
        curator.single(column)
    with pytest.raises(PrivacyError, match="one-way counts that were paid for are used up"):
        curator.single(0)
    curator.measure([(0, 1)] * PLAN.picks)
    with pytest.raises(PrivacyError, match="marginals that were paid for"):
        curator.measure([(0, 1)])
    for _ in PLAN.question.orders:
        curator.misfit([], [], [])
    with pytest.raises(PrivacyError, match="audits that were paid for"):
        curator.misfit([], [], [])


def test_an_audit_sums_small_and_large_boxes_by_themselves_and_pays_for_both_sums() -> None:
    cells = np.zeros((12, 500), np.uint8)
    cells[1, 100:] = 1
    curator = Curator(cells, replace(PLAN, audit=Fraction(1, 100)), np.random.default_rng(0))
    whole = Partition((0, 1), (np.arange(2), np.arange(3)))
    guess = np.array([90, 420, 3, 0, 0, 0])
    assert curator.misfit([whole], [guess], [np.array([1, 1, 0, 0, 0, 0])]) == [3, 30]
    assert dict(PLAN.loss.parts())[PLAN._audit()] == 2 * len(PLAN.question.orders)


def test_an_audit_sums_over_no_more_marginals_than_its_noise_is_for() -> None:
    curator = Curator(np.zeros((12, 5), np.uint8), PLAN, np.random.default_rng(0))
    many = [draw_partition((0, 1), curator.sizes, np.random.default_rng(0))] * (PLAN.audited + 1)
    with pytest.raises(PrivacyError, match="was planned for at most"):
        curator.misfit(many, [np.zeros(6, np.int64)] * len(many), [np.zeros(6, np.int64)] * len(many))


def test_no_more_choices_than_were_paid_for() -> None:
    plan = make_plan(PublicNumbers((2,) * 12, 1, ADD_OR_REMOVE_ONE, target=0), Fraction(1))
    cells = np.zeros((12, 5), np.uint8)
    curator = Curator(cells, plan, np.random.default_rng(0))
    pairs = [(i, j) for i in range(12) for j in range(i)]
    guesses = [count_cells(cells, pair, curator.sizes) for pair in pairs]
    curator.choose(pairs, guesses, [0] * len(pairs), plan.picks)
    assert len(curator.measure_stated()) == 11
    with pytest.raises(PrivacyError, match="paid for"):
        curator.choose(pairs, guesses, [0] * len(pairs))
    with pytest.raises(PrivacyError, match="paid for"):
        curator.measure_stated()
