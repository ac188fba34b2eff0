"""One decision tree, split by squared error, Gini impurity or entropy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.learning.estimator.contract import FitRequest, Records
from bruit.learning.trees._supervised import BinnedEstimator, TreePlan
from bruit.learning.trees.binning import Bins, Codes
from bruit.learning.trees.growing import KINDS, Binned, GrownTree, Growth
from bruit.learning.trees.noisy_tree import Levels, leaf_values, noisy_tree, plan_levels

Floats = NDArray[np.float64]


class DecisionTree(BinnedEstimator):
    """Greedy recursive splitting: CART (criterion "gini" or "squared_error") and ID3 ("entropy").   [docs/spec.md S1.1]

    Without privacy every split is the best there is, until a node is pure, nothing is gained, or a limit is reached.
    Of equally good splits one is drawn, as scikit-learn does, so that only a seed makes two fits the same tree.
    With a budget the tree grows level by level: each level reads one noisy histogram of all columns, and the leaves
    are counted once more. `values_` holds the class shares of every node of `tree_`, or its number.
    """

    criteria = tuple(KINDS)
    _few_bins = 16

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        bins: int | None = None,
        domain: Any = None,
        classes: Any = None,
        target: Any = None,
        size: int | None = None,
        rows_per_person: int = 1,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
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
        return plan_levels(question, bins, depth=self.max_depth, kind=KINDS[self.criterion])

    def _fit_noisily(self, question: FitRequest, records: Records, plan: TreePlan) -> None:
        levels = Levels(plan, KINDS[self.criterion], 2 if self._regresses else len(records.classes))
        self.tree_ = noisy_tree(levels, plan.bins.codes(records.values), records, question)
        self._keep(records, plan.bins, leaf_values(self.tree_, levels, question))

    def _fit_exactly(self, question: FitRequest, records: Records) -> None:
        bins = self._exact_bins(question, records)
        data, least = Binned.of(bins, records.values), max(self.min_samples_leaf, 1)
        growth = Growth(KINDS[self.criterion], self.max_leaf_nodes, self.max_depth, least, in_order=False)
        seed = int(records.rng.integers(2**62))
        if self._regresses:
            numbers = self._numbers(question, records)
            stats = np.column_stack([numbers - numbers.mean(), np.ones(len(numbers))])
            self.tree_, _ = growth.grown(data, stats, np.zeros(1, np.int64), seed=seed)
            values = (self.tree_.sums[:, 0] / self.tree_.sums[:, 1] + numbers.mean())[:, None]
        else:
            stats = np.ones((len(records.target), 1))
            self.tree_, _ = growth.grown(data, stats, records.target, channels=len(records.classes), seed=seed)
            values = self.tree_.sums / self.tree_.sums.sum(axis=1, keepdims=True)
        self._keep(records, bins, values)

    def _keep(self, records: Records, bins: Bins, values: Floats) -> None:
        self.classes_, self._bins, self.values_ = records.classes, bins, values

    def get_depth(self) -> int:
        """The most splits between the root and a leaf."""
        return self.tree_.depth

    def _scores(self, codes: Codes) -> Floats:
        tree: GrownTree = self.tree_
        return np.asarray(self.values_[tree.leaves(codes)])
