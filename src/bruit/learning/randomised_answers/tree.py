"""A decision tree on label histograms corrected for the noise channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.learning.randomised_answers.association import Association, unmix_shares
from bruit.learning.randomised_answers.estimator import ChannelEstimator, Reports
from bruit.local.questionnaires import Questionnaire


@dataclass(frozen=True)
class Node:
    """A node with its estimated true-label shares; the children hold attribute values in `left`, and the others."""

    shares: NDArray[np.float64]
    attribute: int = -1
    left: NDArray[np.bool_] | None = None
    below: tuple[Node, Node] | None = None


class ChannelTree(ChannelEstimator):
    """A decision tree whose label histograms are corrected for the channel before splits are scored.

    A node is split by the attribute and the set of its values that lower the unmixed Gini impurity most, values being
    ordered by their main direction away from independence. Only an attribute that strays from independence beyond what
    chance does may split it, and a side takes over from the whole what noise hides: its shares are those of its parent
    plus the association freed of noise, none moved by more than the factor e^epsilon of a noised attribute, and another
    label than the parent's leads only where it does so by more than the deviation of its lead. An unsplit root tells
    the noised majority.
    """

    def __init__(self, questionnaire: Questionnaire | None = None, *, max_depth: int = 6) -> None:
        self.questionnaire = questionnaire  # type: ignore[assignment]
        self.max_depth = max_depth

    def fit(self, X: Any, y: Any) -> ChannelTree:
        """Fits the tree to noised attributes and labels."""
        whole(self.max_depth, "max_depth", least=0)
        reports = self._reports(X, y)
        shares = unmix_shares(reports.labels, self.questionnaire.label_channel)
        self._root = _grow(reports, np.arange(len(reports.labels)), shares, int(self.max_depth))
        return self

    def _chances(self, X: Any) -> NDArray[np.float64]:
        values = self._encode_reports(X)
        found = np.empty((len(values), len(self.questionnaire.labels)))
        waiting = [(self._root, np.arange(len(values)))]
        while waiting:
            node, rows = waiting.pop()
            if node.below is None or node.left is None:
                found[rows] = node.shares
                continue
            to_left = node.left[values[rows, node.attribute]]
            waiting += [(node.below[0], rows[to_left]), (node.below[1], rows[~to_left])]
        return found


def _grow(reports: Reports, rows: NDArray[np.int64], shares: NDArray[np.float64], depth: int) -> Node:
    """The tree of some people, grown recursively."""
    split = _best_split(reports, rows, shares) if depth else None
    if split is None:
        return Node(shares)
    attribute, left, sides = split
    to_left = left[reports.values[rows, attribute]]
    parts = rows[to_left], rows[~to_left]
    grown = [_grow(reports, part, side, depth - 1) for part, side in zip(parts, sides, strict=True)]
    return Node(shares, attribute, left, (grown[0], grown[1]))


def _best_split(
    reports: Reports, rows: NDArray[np.int64], shares: NDArray[np.float64]
) -> tuple[int, NDArray[np.bool_], NDArray[np.float64]] | None:
    """The attribute, its values that go left, and the shares of both sides; None where chance explains all."""
    best, found = 0.0, None
    for attribute, table in enumerate(reports.associations(rows)):
        most = float(reports.questionnaire.channels[attribute].epsilon)
        for left in _cuts(table):
            weights, sides = _sides(table, left, shares, most)
            gain = float(weights @ (sides**2).sum(axis=1) - (shares**2).sum())
            if gain > best:
                best, found = gain, (attribute, left, _keep_majority(sides, shares, len(rows) * weights, reports))
    return found


def _keep_majority(
    sides: NDArray[np.float64], shares: NDArray[np.float64], people: NDArray[np.float64], reports: Reports
) -> NDArray[np.float64]:
    """Keeps the parent's majority label in a child unless another leads it by more than one standard error.

    Unmixed counts of two labels differ with the variance (m + m') / (n (p - q)^2), m and m' their shares as mixed.
    """
    support, likeliest = reports.questionnaire.label_channel.support, int(shares.argmax())
    both = support.mix(sides[:, likeliest]) + support.mix(sides.max(axis=1))
    doubt = np.sqrt(both / np.maximum(people, 1.0)) / support.gap
    raised = sides.copy()
    raised[:, likeliest] += np.where(sides.argmax(axis=1) == likeliest, 0.0, doubt)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _cuts(found: Association) -> list[NDArray[np.bool_]]:
    """Candidate splits: values sorted by how they move the labels, cut at each place; none where chance explains it."""
    if not found.certain or not found.residual.any():
        return []
    scale = np.sqrt(np.maximum(found.values, 1e-300))
    order = np.argsort(np.linalg.svd(found.residual / scale[:, None])[0][:, 0] / scale)
    cuts = []
    for first in range(1, len(order)):
        left = np.zeros(len(order), bool)
        left[order[:first]] = True
        cuts.append(left)
    return cuts


def _sides(
    whole: Association, left: NDArray[np.bool_], shares: NDArray[np.float64], most: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many go to either side, and their shares of the labels, within e^-most and e^most of those of the whole."""
    either = np.array([left, ~left])
    weights, residual = either @ whole.values, either @ whole.residual
    ratio = 1 + residual / np.maximum(np.outer(weights, shares), 1e-12)
    moved = shares * np.clip(ratio, np.exp(-most), np.exp(most))
    return weights, np.asarray(moved / moved.sum(axis=1, keepdims=True))
