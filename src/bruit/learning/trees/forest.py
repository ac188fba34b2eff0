"""Many trees whose answers are averaged."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.learning._asking import whole
from bruit.learning._estimator import Question, Records
from bruit.learning.trees._supervised import BinnedEstimator, halves
from bruit.learning.trees.binning import Codes, public_bins, turned
from bruit.learning.trees.growing import KINDS, Binned, GrownTree, Growth
from bruit.learning.trees.noise import Moves, StepNoise, bought_noise
from bruit.learning.trees.random_trees import RandomTree, random_tree

GRAIN = 16
COLUMNS_A_TREE = 4
ROWS_OVER_NOISE = 4.0
"""Leaves are made so small that an average one holds so many times the noise of its count."""

DEEPEST, MIDDLE = 10, 4

Floats = NDArray[np.float64]


class Forest(BinnedEstimator):
    """The average of many trees.                                                        [Breiman 2001]

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

    def fit(self, X: Any, y: Any, groups: Any = None) -> Forest:
        """Grows the trees; `groups` says whose row each is where people have several."""
        question = self._asked(X, y, groups)
        whole(self.n_estimators, "n_estimators")
        if question.price is None or question.domains is None:
            return self._grow(question, question.pay(None))
        self._bins = public_bins(question.domains, self.bins or 32)
        moves = Moves(GRAIN, 2) if self._regresses else Moves(1, 1, opposite=True)
        noise = bought_noise(question, moves, times=self.n_estimators, counted=False)
        return self._count(question, question.pay(noise.loss), noise)

    def _grow(self, question: Question, records: Records) -> Forest:
        self._bins, self.classes_ = self._bins_for(question, records, self.bins or 256), records.classes
        data, rows = Binned.of(self._bins, records.values), len(records.values)
        columns = len(self._bins.sizes)
        tries = self.max_features or (columns if self._regresses else max(1, int(sqrt(columns))))
        growth = Growth(
            KINDS[self.criterion], self.max_leaf_nodes, self.max_depth, max(self.min_samples_leaf, 1), tries=tries
        )
        numbers = self._numbers(question, records) if self._regresses else np.zeros(rows)
        labels = np.zeros(1, np.int64) if self._regresses else records.target
        middle = numbers.mean()
        self.estimators_: list[Any] = []
        for _ in range(self.n_estimators):
            weights = np.bincount(records.rng.integers(0, rows, rows), minlength=rows).astype(np.float64)
            stats = np.column_stack([weights * (numbers - middle), weights]) if self._regresses else weights[:, None]
            tree, _ = growth.grown(
                data,
                stats,
                labels,
                rows=np.flatnonzero(weights),
                channels=2 if self._regresses else len(records.classes),
                seed=int(records.rng.integers(2**62)),
            )
            self.estimators_.append((tree, _means(tree, middle) if self._regresses else _shares(tree.sums)))
        return self

    def _count(self, question: Question, records: Records, noise: StepNoise) -> Forest:
        """Blind trees, each leaf counted once."""
        self.classes_ = records.classes
        columns = turned(self._bins.codes(records.values))
        depth = self.max_depth or self._depth(question, noise)
        stats = self._stats(question, records)
        self.estimators_ = []
        for _ in range(self.n_estimators):
            tree = random_tree(self._bins, depth=depth, columns=COLUMNS_A_TREE, rng=records.rng)
            places = tree.leaf_of(columns)
            sums = np.column_stack([np.bincount(places, each, tree.leaves) for each in stats.T]).astype(np.int64)
            noisy = sums + noise.draw(sums.shape, rng=records.rng)
            self.estimators_.append((tree, self._leaf_values(question, noisy, noise)))
        return self

    def _depth(self, question: Question, noise: StepNoise) -> int:
        """As deep as leaves of average size stay above the noise."""
        if question.size is None:
            return MIDDLE
        grain = GRAIN if self._regresses else 1
        leaves = question.size * grain / (ROWS_OVER_NOISE * float(noise.variance) ** 0.5)
        return min(max(int(np.log2(max(leaves, 1.0))), 1), DEEPEST)

    def _stats(self, question: Question, records: Records) -> NDArray[np.int64]:
        if not self._regresses:
            return np.asarray(np.eye(len(records.classes), dtype=np.int64)[records.target])
        middle, half = halves(question)
        scaled = (self._numbers(question, records) - middle) / half
        steps = np.clip(np.floor(GRAIN * scaled + records.rng.random(len(scaled))), -GRAIN, GRAIN)
        return np.column_stack([steps, np.full(len(steps), GRAIN)]).astype(np.int64)

    def _leaf_values(self, question: Question, sums: NDArray[np.int64], noise: StepNoise) -> Floats:
        deviation = float(noise.variance) ** 0.5
        if not self._regresses:
            counts = np.maximum(sums, 0) + deviation
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))
        middle, half = halves(question)
        mean = sums[:, 0] / np.maximum(sums[:, 1], 2 * deviation)
        return np.asarray(middle + half * np.clip(mean, -1, 1))[:, None]

    def _scores(self, codes: Codes) -> Floats:
        columns = turned(codes)
        total = np.zeros((len(codes), self.estimators_[0][1].shape[1]))
        for tree, values in self.estimators_:
            total += values[tree.leaf_of(columns) if isinstance(tree, RandomTree) else tree.leaves(codes)]
        return total / len(self.estimators_)


def _means(tree: GrownTree, middle: float) -> Floats:
    return (middle + tree.sums[:, 0] / tree.sums[:, 1])[:, None]


def _shares(sums: Floats) -> Floats:
    return np.asarray(sums / sums.sum(axis=1, keepdims=True))
