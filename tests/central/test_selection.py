from fractions import Fraction
from itertools import permutations
from math import exp

import numpy as np
import polars as pl
import pytest
from laws import assert_law

import bruit
from bruit import central
from bruit.central.selection import by_permutation, by_rejection
from bruit.errors import InvalidArgument, NotPrivate

SCORES = np.array([5, 3, 0, 5])


def permute_and_flip_law(scores, exponent):
    """Every order of the candidates, each as likely: the chance that each candidate is the first taken."""
    chances = np.exp(-exponent * (scores.max() - scores))
    law, orders = np.zeros(len(scores)), list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for index in order:
            law[index] += left * chances[index] / len(orders)
            left *= 1 - chances[index]
    return law


def test_permute_and_flip_follows_its_law():
    rng = np.random.default_rng(11)
    draws = [by_permutation(SCORES, Fraction(1, 4), rng) for _ in range(8192)]
    assert_law(np.bincount(draws, minlength=4), permute_and_flip_law(SCORES, 0.25))


def test_the_exponential_mechanism_follows_its_law():
    rng = np.random.default_rng(12)
    draws = [by_rejection(SCORES, Fraction(1, 4), rng) for _ in range(8192)]
    weights = np.exp(0.25 * SCORES)
    assert_law(np.bincount(draws, minlength=4), weights / weights.sum())


@pytest.mark.parametrize("law", [permute_and_flip_law, lambda s, e: np.exp(e * s) / np.exp(e * s).sum()])
def test_enumerated_loss_stays_within_epsilon(law):
    """Every pair of integer scores of three candidates that one person tells apart, at epsilon 1."""
    worst = 0.0
    for scores in np.ndindex(4, 4, 4):
        for moves in np.ndindex(3, 3, 3):
            other = np.array(scores) + np.array(moves) - 1
            worst = max(worst, np.log(law(np.array(scores), 0.5) / law(other, 0.5)).max())
            if min(moves) >= 1:  # all in one direction: monotone
                worst = max(worst, abs(np.log(law(np.array(scores), 1.0) / law(other, 1.0))).max())
    assert worst <= 1 + 1e-9
    assert worst >= exp(-0.5)


def test_the_most_common_category_is_found(ledger, table):
    release = central.most_common(table["city"].among(["Paris", "Lyon"]), budget=ledger.budget(epsilon=100))
    assert release.value == "Lyon"
    assert release.guarantee.epsilon == 100


@pytest.mark.parametrize("mechanism", [central.noisy_max, central.exponential])
def test_scores_are_computed_after_the_charge(mechanism, ledger, table):
    charged = []

    def scores(_):
        charged.append(len(ledger.entries))
        return [0, 1000]

    assert mechanism(table, ["a", "b"], scores, sensitivity=1, budget=ledger.budget(epsilon=1)).value == "b"
    assert charged == [1]


@pytest.mark.parametrize("mechanism", [central.noisy_max, central.exponential])
def test_what_cannot_be_chosen_or_paid(mechanism, neighbours, ledger, table):
    budget = ledger.budget(epsilon=1)
    with pytest.raises(InvalidArgument, match="sensitivity"):
        mechanism(table, ["a"], lambda _: [1], sensitivity=0, budget=budget)
    with pytest.raises(InvalidArgument, match="candidate"):
        mechanism(table, [], lambda _: [], sensitivity=1, budget=budget)
    laplace = bruit.privacy.DiscreteLaplace(1, sensitivity=1, neighbours=neighbours)
    with pytest.raises(NotPrivate):
        mechanism(table, ["a"], lambda _: [1], sensitivity=1, budget=ledger.budget(laplace))
    assert not ledger.entries


def test_people_with_rows_in_many_groups_choose_with_their_bounded_rows(neighbours):
    frame = pl.DataFrame({"id": [1] * 100 + [2, 3, 4], "city": ["Paris"] * 100 + ["Lyon"] * 3})
    ledger = bruit.Ledger("people", epsilon=1000, neighbours=neighbours, person="id")
    table = bruit.tables.read(frame, person="id").limit(rows=1)
    release = central.most_common(table["city"].among(["Paris", "Lyon"]), budget=ledger.budget(epsilon=100))
    assert release.value == "Lyon"


@pytest.mark.parametrize("scores", [np.array([-(2**62) - 1, 2**62 + 1]), np.array([5, 2**63 + 5], np.uint64)])
def test_scores_of_any_size_overflow_nothing(scores):
    rng = np.random.default_rng(0)
    assert by_permutation(scores, Fraction(1), rng) == 1
    assert by_rejection(scores, Fraction(1), rng) == 1
