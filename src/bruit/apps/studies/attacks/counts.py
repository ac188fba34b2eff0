"""The defence of linkage and of traces: noised counts instead of records, and an audit of what they still tell."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bruit.audit import audit
from bruit.channels import IntegerNoise
from bruit.core.neighbours import ADD_OR_REMOVE_ONE

DRAWS = {"small": 2000, "full": 50_000}
AUDITED, ALARM = 4, 1e-4
"""Outputs that an audit draws for each one of the attack, and the chance that it proves more than is true."""


def tell_member(*, rng: np.random.Generator, epsilon: float, cells: int, draws: int) -> Mapping[str, float]:
    """How much better than guessing the best attack tells whether one person is in counts of `cells` cells each.

    The attacker knows every other record and the cells of the person. An alarm is raised where the noises are likelier
    with the person than without; the advantage is the chance of a right alarm less that of a false one. No attack on
    these counts does better than `exact`, and none on any answer of this ε than `bound`, (e^ε - 1) / (e^ε + 1).
                                                                                   [Kairouz, Oh & Viswanath 2015]
    `proved` is the share of ε that an audit proves from more outputs, by the event that every count is high.
    """
    noise = IntegerNoise.laplace(Fraction(str(epsilon)), sensitivity=cells, neighbours=ADD_OR_REMOVE_ONE)

    def published(present: int, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return present + noise.draw(samples * cells, rng=rng).reshape(samples, cells)

    false, right = (_likelier_with(published(present, draws, rng)).mean() for present in (0, 1))
    verdict = audit(published, (0, 1), claimed=epsilon, samples=AUDITED * draws, alarm=ALARM, event=_all_high, rng=rng)
    return {
        "advantage": float(right - false),
        "exact": exact_advantage(epsilon, cells),
        "bound": float(np.tanh(epsilon / 2)),
        "proved": verdict.lower_bound / epsilon,
    }


def exact_advantage(epsilon: float, cells: int) -> float:
    """The total variation between these counts with the person and without.

    Of discrete Laplace noise only its sign tells the two apart, so each cell is one answer randomised at ε / cells, and
    the number of high ones is binomial on either side.
    """
    high = 1 / (1 + np.exp(-epsilon / cells))
    number = np.arange(cells + 1)
    within, without = (stats.binom.pmf(number, cells, chance) for chance in (high, 1 - high))
    return float(np.abs(within - without).sum() / 2)


def _likelier_with(heard: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the log likelihood ratio of all noises speaks for the person."""
    return np.asarray((np.abs(heard) - np.abs(heard - 1)).sum(axis=1) > 0)


def _all_high(heard: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray((heard > 0).all(axis=1))
