"""Gradient-boosted trees: small trees, each fitted to the errors of those before it."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import FitRequest, Records
from bruit.learning.trees._growing_kernels import CURVED, GRADIENT, PACK
from bruit.learning.trees._supervised import BinnedEstimator, TreePlan, halves, require_depth
from bruit.learning.trees.binning import Bins, Codes, by_column
from bruit.learning.trees.growing import Binned, Growth
from bruit.learning.trees.noise import Moves, buy_noise
from bruit.learning.trees.random_trees import RandomTree, random_tree

GRAIN = 16
"""Residuals are integers of so many steps to one."""

CURVATURE_STEPS = 2.0**12
"""Curvatures have so many steps to one: their sums over two million rows, above a count of rows, are exact."""

TREES, PRIVATE_TREES = 100, 500
DEPTH, COLUMNS_A_TREE = 6, 2
PATIENCE, LARGEST_STEP = 0.4, 12.0
"""A leaf moves by PATIENCE * rate / trees times the sum of its residuals, at most LARGEST_STEP / size times."""

Floats = NDArray[np.float64]


class BoostedTrees(BinnedEstimator):
    """Stochastic gradient boosting: each small tree is fitted to the current residuals.            [Friedman 2002]

    Without privacy trees grow leaf by leaf on histograms of gradients and curvatures. With a budget the splits of each
    tree are drawn blindly, a leaf moves by its noisy sum of residuals, and one row moves one leaf a tree by at most
    one. See docs/trees.md.
    """

    criteria = ("log_loss", "squared_error")

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        n_estimators: int | None = None,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        subsample: float = 1.0,
        bins: int | None = None,
        domain: Any = None,
        classes: Any = None,
        target: Any = None,
        size: int | None = None,
        rows_per_person: int = 1,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.subsample = subsample
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
        return self.loss

    def _make_plan(self, question: FitRequest, bins: Bins) -> TreePlan:
        trees = whole(PRIVATE_TREES if self.n_estimators is None else self.n_estimators, "n_estimators")
        require_depth(self.max_depth)
        return TreePlan(bins, buy_noise(question, _moves(question), times=trees), trees)

    # ------------------------------------------------------------ exact

    def _fit_exactly(self, question: FitRequest, records: Records) -> None:
        trees = whole(TREES if self.n_estimators is None else self.n_estimators, "n_estimators")
        if not 0 < self.subsample <= 1:
            raise InvalidArgument(f"subsample={self.subsample} must lie above 0 and at most at 1")
        self._bins, self.classes_ = self._exact_bins(question, records), records.classes
        data, rows = Binned.of(self._bins, records.values), len(records.values)
        target, sums = self._start_scores(question, records)
        kind = GRADIENT if self._regresses else CURVED
        growth = Growth(kind, self.max_leaf_nodes, self.max_depth, self.min_samples_leaf, ridge=1e-9)
        self.estimators_: list[Any] = []
        for _ in range(trees):
            chosen = None
            if self.subsample < 1:
                chosen = np.flatnonzero(records.rng.random(rows) < self.subsample)
            slopes, curvatures = self._slopes(sums, target)
            for output in range(sums.shape[1]):
                stats = np.column_stack([slopes[:, output], curvatures[:, output]])
                tree, leaf_of = growth.grown(data, stats, np.zeros(1, np.int64), rows=chosen)
                bend = tree.sums[:, 1] if self._regresses else np.fmod(tree.sums[:, 1], PACK)
                values = self.learning_rate * tree.sums[:, 0] / np.maximum(bend, 1e-9)
                sums[:, output] += values[leaf_of if chosen is None else tree.leaves(data.codes)]
                self.estimators_.append((output, tree, values))

    def _start_scores(self, question: FitRequest, records: Records) -> tuple[NDArray[Any], Floats]:
        """What is predicted, and the scores to start with: the mean, or the log-odds of the classes."""
        rows = len(records.values)
        if self._regresses:
            numbers = self._numbers(question, records)
            self._start, self._half = np.array([numbers.mean()]), 1.0
            return numbers, np.full((rows, 1), self._start[0])
        shares = np.bincount(records.target, minlength=len(records.classes)) / rows
        logs = np.log(np.maximum(shares, 1e-9))
        self._start = logs[1:] - logs[:1] if len(logs) == 2 else logs
        return records.target, np.tile(self._start, (rows, 1))

    def _slopes(self, sums: Floats, target: NDArray[Any]) -> tuple[Floats, Floats]:
        """The gradient and the curvature of the loss in each score; curvatures come with the count of rows."""
        if self._regresses:
            return target[:, None] - sums, np.ones_like(sums)
        if sums.shape[1] == 1:
            share = special.expit(sums)
            return target[:, None] - share, _with_counts(share * (1 - share))
        share = special.softmax(sums, axis=1)
        truth = np.arange(sums.shape[1]) == target[:, None]
        return truth - share, _with_counts(share * (1 - share))

    # ------------------------------------------------------------ private

    def _fit_noisily(self, question: FitRequest, records: Records, plan: TreePlan) -> None:
        self.classes_, self._bins = records.classes, plan.bins
        columns = by_column(plan.bins.codes(records.values))
        outputs = 1 if self._regresses or len(records.classes) == 2 else len(records.classes)
        target, sums = self._blind_start(question, records, outputs)
        step = self._step(plan, plan.noise.size(question, len(sums), rng=records.rng))
        depth = self.max_depth or DEPTH
        # Before the dither, of which there is one a row: a row more or less leaves the trees as they are.
        trees = [
            random_tree(plan.bins, depth=depth, columns=COLUMNS_A_TREE, rng=records.rng) for _ in range(plan.count)
        ]
        dither = records.rng.random(len(sums))[:, None]
        self.estimators_ = []
        for tree in trees:
            moves = residual_steps(self._slopes(sums, target)[0], dither)
            places = tree.leaf_of(columns)
            found = np.column_stack([np.bincount(places, each, tree.leaves) for each in moves.T]).astype(np.int64)
            values = step * (found + plan.noise.draw(found.shape, rng=records.rng)) / GRAIN
            sums += values[places]
            self.estimators_.append((None, tree, values))

    def _step(self, plan: TreePlan, size: int) -> float:
        """How far a leaf goes for each of its residuals."""
        largest = LARGEST_STEP / size * (0.25 if self._regresses else 1.0)
        return min(PATIENCE * plan.noise.rate / plan.count, largest)

    def _blind_start(self, question: FitRequest, records: Records, outputs: int) -> tuple[NDArray[Any], Floats]:
        """The middle of the bounds, in half widths of them, or even odds."""
        sums = np.zeros((len(records.values), outputs))
        self._start, self._half = np.zeros(outputs), 1.0
        if not self._regresses:
            return records.target, sums
        middle, self._half = halves(question)
        self._start = np.array([middle])
        return (self._numbers(question, records) - middle) / self._half, sums

    def _scores(self, codes: Codes) -> Floats:
        columns, sums = by_column(codes), np.zeros((len(codes), len(self._start)))
        for output, tree, values in self.estimators_:
            if isinstance(tree, RandomTree):
                sums += values[tree.leaf_of(columns)]
            else:
                sums[:, output] += values[tree.leaves(codes)]
        if self._regresses:
            return self._start + self._half * sums
        sums += self._start
        if sums.shape[1] == 1:
            share = special.expit(sums)
            return np.hstack([1 - share, share])
        return np.asarray(special.softmax(sums, axis=1))


def _with_counts(curvatures: Floats) -> Floats:
    """Curvatures, rounded up to steps that sums hold exactly, with the count of rows above them."""
    return PACK + np.ceil(curvatures * CURVATURE_STEPS) / CURVATURE_STEPS


def _moves(question: FitRequest) -> Moves:
    """One leaf a tree, for one output; for several classes the squares of a leaf sum to at most two."""
    classes = 1 if question.classes is None or len(question.classes) == 2 else len(question.classes)
    return Moves(GRAIN, 1) if classes == 1 else Moves(GRAIN, classes, squares=2 * GRAIN**2)


def residual_steps(residuals: Floats, dither: Floats) -> NDArray[np.int64]:
    """Residuals as integers of at most GRAIN, whose squares sum to at most 2 GRAIN^2 over the outputs of a row."""
    steps = np.clip(np.floor(GRAIN * residuals + dither), -GRAIN, GRAIN)
    if steps.shape[1] > 1:
        norm = np.sqrt((steps**2).sum(axis=1, keepdims=True))
        steps = np.trunc(steps * np.minimum(1.0, sqrt(2) * GRAIN * (1 - 1e-12) / np.maximum(norm, 1.0)))
    return steps.astype(np.int64)
