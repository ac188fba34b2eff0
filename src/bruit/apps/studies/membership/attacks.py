"""Two membership-inference attacks on a model's predictions, and measures of their success."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Trained:
    """The predictions of many models on every record: row m is model m, with the records it was trained on.

    `confidence` is log(p / (1 - p)) of the right class, `included` whether the record was in the training set.
    """

    confidence: Numbers
    included: NDArray[np.bool_]


def by_loss(trained: Trained) -> Numbers:
    """Membership scores by the loss attack: a lower loss scores higher.                    [Yeom et al. 2018]

    The confidence of the right class falls as its loss -log p rises, so it is the score.
    """
    return trained.confidence


def by_likelihood_ratio(trained: Trained) -> Numbers:
    """Membership scores by the likelihood-ratio attack: log N(c; in) - log N(c; out).     [Carlini et al. 2022]

    The two laws of a record are learnt from all other models as shadows: a mean of its own, a deviation shared by all
    records, as is advised where shadows are few. The models take turns as the target.
    """
    return np.array([_ratios(trained, target) for target in range(len(trained.confidence))])


def _ratios(trained: Trained, target: int) -> Numbers:
    others = np.arange(len(trained.confidence)) != target
    seen, included = trained.confidence[others], trained.included[others]
    own = trained.confidence[target]
    inside, outside = _log_density(own, seen, included), _log_density(own, seen, ~included)
    known = included.any(axis=0) & ~included.all(axis=0)  # else one of the laws is unknown
    return np.where(known, inside - outside, 0.0)


def _log_density(values: Numbers, seen: Numbers, chosen: NDArray[np.bool_]) -> Numbers:
    """The log density, up to a constant, of normal laws fitted to the chosen entries of each column."""
    mean = np.where(chosen, seen, 0.0).sum(axis=0) / np.maximum(chosen.sum(axis=0), 1)
    spread = np.sqrt(np.where(chosen, (seen - mean) ** 2, 0.0).sum() / max(int(chosen.sum()) - chosen.shape[1], 1))
    deviation = max(float(spread), 1e-9)
    fitted: Numbers = -(((values - mean) / deviation) ** 2) / 2 - np.log(deviation)
    return fitted


def true_positives(scores: Numbers, included: NDArray[np.bool_], false_positives: Numbers) -> Numbers:
    """The true positive rate at each of these false positive rates, by the best threshold.

    Records with equal scores are called alike.
    """
    members, others = np.sort(scores[included]), np.sort(scores[~included])
    allowed = np.floor(np.asarray(false_positives) * len(others) + 1e-9).astype(int)
    cut = others[::-1][np.minimum(allowed, len(others) - 1)]  # called members must score above this one
    found = (len(members) - np.searchsorted(members, cut, side="right")) / len(members)
    return np.where(allowed >= len(others), 1.0, found)


def area(scores: Numbers, included: NDArray[np.bool_]) -> float:
    """The area under the ROC curve: the chance that a member outscores a non-member, ties counted half."""
    members, others = scores[included], np.sort(scores[~included])
    below = np.searchsorted(others, members, side="left") + np.searchsorted(others, members, side="right")
    return float(below.mean() / (2 * len(others)))
