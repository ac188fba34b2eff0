"""Random forests: the average of many trees."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.core.arguments import whole
from bruit.learning.estimator.contract import FitRequest, Records
from bruit.learning.trees._supervised import BinnedEstimator, TreePlan, halves, require_depth
from bruit.learning.trees.binning import Bins, Codes, by_column
from bruit.learning.trees.growing import KINDS, Binned, GrownTree, Growth
from bruit.learning.trees.noise import Moves, StepNoise, buy_noise
from bruit.learning.trees.random_trees import RandomTree, random_tree

GRAIN = 16
COLUMNS_A_TREE = 4
ROWS_OVER_NOISE = 4.0
"""Leaves are made so small that an average one holds so many times the noise of its count."""

DEEPEST, MIDDLE = 10, 4

Floats = NDArray[np.float64]


class Forest(BinnedEstimator):
    """A random forest, which averages the predictions of many trees.                    [Breiman 2001]

    Without privacy each tree sees a bootstrap sample and each node some columns. With a budget the splits are drawn
    blindly, and every leaf of every tree is counted once with noise.        [Fletcher & Islam 2017]
    """

    criteria = tuple(KINDS)

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        criterion: str = "gini",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        max_features: int | None = None,
        bins: int | None = None,
        domain: Any = None,
        classes: Any = None,
        target: Any = None,
        size: int | None = None,
        rows_per_person: int = 1,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.bins = bins
        self.domain = domain
        self.classes = classes
        self.target = target
        self.size = size
        self.rows_per_person = rows_per_person
        self.budget = budget
        self.random_state = random_state

    @property
    def _criterion(self) -> str:
        return self.criterion

    def _make_plan(self, question: FitRequest, bins: Bins) -> TreePlan:
        trees = whole(self.n_estimators, "n_estimators")
        require_depth(self.max_depth)
        moves = Moves(GRAIN, 2) if self._regresses else Moves(1, 1, opposite=True)
        return TreePlan(bins, buy_noise(question, moves, times=trees, counted=False), trees)

    def _fit_noisily(self, question: FitRequest, records: Records, plan: TreePlan) -> None:
        """Blind trees, each leaf counted once."""
        self.classes_, self._bins = records.classes, plan.bins
        columns = by_column(plan.bins.codes(records.values))
        depth = self.max_depth or self._depth(question, plan.noise)
        stats = self._stats(question, records)
        self.estimators_: list[Any] = []
        self._shares: Any = 0.0
        for _ in range(plan.count):
            tree = random_tree(plan.bins, depth=depth, columns=COLUMNS_A_TREE, rng=records.rng)
            places = tree.leaf_of(columns)
            sums = np.column_stack([np.bincount(places, each, tree.leaves) for each in stats.T]).astype(np.int64)
            noisy = sums + plan.noise.draw(sums.shape, rng=records.rng)
            self.estimators_.append((tree, self._leaf_values(question, noisy, plan.noise)))

    def _fit_exactly(self, question: FitRequest, records: Records) -> None:
        """Each tree on a bootstrap sample: a row counts as often as it was drawn."""
        trees, rows = whole(self.n_estimators, "n_estimators"), len(records.values)
        self._bins, self.classes_ = self._exact_bins(question, records), records.classes
        data, growth = Binned.of(self._bins, records.values), self._growth()
        numbers = self._numbers(question, records) if self._regresses else np.zeros(rows)
        labels = np.zeros(1, np.int64) if self._regresses else records.target
        channels, middle = 2 if self._regresses else len(records.classes), numbers.mean()
        self.estimators_ = []
        for _ in range(trees):
            weights = np.bincount(records.rng.integers(0, rows, rows), minlength=rows).astype(np.float64)
            stats = np.column_stack([weights * (numbers - middle), weights]) if self._regresses else weights[:, None]
            seed, drawn = int(records.rng.integers(2**62)), np.flatnonzero(weights)
            tree, _ = growth.grown(data, stats, labels, rows=drawn, channels=channels, seed=seed)
            self.estimators_.append((tree, _means(tree, middle) if self._regresses else _shares(tree.sums)))

    def _growth(self) -> Growth:
        columns = len(self._bins.sizes)
        tries = self.max_features or (columns if self._regresses else max(1, int(sqrt(columns))))
        least = max(self.min_samples_leaf, 1)
        return Growth(KINDS[self.criterion], self.max_leaf_nodes, self.max_depth, least, tries=min(tries, columns))

    def _depth(self, question: FitRequest, noise: StepNoise) -> int:
        """As deep as leaves of average size stay above the noise."""
        if question.size is None:
            return MIDDLE
        grain = GRAIN if self._regresses else 1
        leaves = question.size * grain / (ROWS_OVER_NOISE * noise.deviation)
        return min(max(int(np.log2(max(leaves, 1.0))), 1), DEEPEST)

    def _stats(self, question: FitRequest, records: Records) -> NDArray[np.int64]:
        if not self._regresses:
            return np.asarray(np.eye(len(records.classes), dtype=np.int64)[records.target])
        middle, half = halves(question)
        scaled = (self._numbers(question, records) - middle) / half
        steps = np.clip(np.floor(GRAIN * scaled + records.rng.random(len(scaled))), -GRAIN, GRAIN)
        return np.column_stack([steps, np.full(len(steps), GRAIN)]).astype(np.int64)

    def _leaf_values(self, question: FitRequest, sums: NDArray[np.int64], noise: StepNoise) -> Floats:
        """The mean of each leaf; or by how much, in logarithms, each class is more frequent there than in all."""
        deviation = noise.deviation
        if not self._regresses:
            overall = np.maximum(sums.sum(axis=0), 1.0)
            self._shares = self._shares + overall / overall.sum()
            counts = np.maximum(sums, 0) + deviation * overall / overall.sum()
            return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)) - np.log(overall / overall.sum()))
        middle, half = halves(question)
        mean = sums[:, 0] / np.maximum(sums[:, 1], 2 * deviation)
        return np.asarray(middle + half * np.clip(mean, -1, 1))[:, None]

    def _scores(self, codes: Codes) -> Floats:
        columns = by_column(codes)
        total = np.zeros((len(codes), self.estimators_[0][1].shape[1]))
        for tree, values in self.estimators_:
            total += values[tree.leaf_of(columns) if isinstance(tree, RandomTree) else tree.leaves(codes)]
        total /= len(self.estimators_)
        if self._regresses or not isinstance(self.estimators_[0][0], RandomTree):
            return total
        # As in naive Bayes every column speaks once, however many trees look at it.
        looked_at = min(COLUMNS_A_TREE, len(columns))
        logs = np.log(self._shares / self._shares.sum()) + total * len(columns) / looked_at
        return np.asarray(special.softmax(logs, axis=1))


def _means(tree: GrownTree, middle: float) -> Floats:
    return (middle + tree.sums[:, 0] / tree.sums[:, 1])[:, None]


def _shares(sums: Floats) -> Floats:
    return np.asarray(sums / sums.sum(axis=1, keepdims=True))
