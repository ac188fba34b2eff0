"""Finds the best combination of generalisation levels of all columns by searching the full lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from bruit.anonymity._kernels import tally
from bruit.anonymity.coded import EVERY, NO_WEIGHTS, Coded, join_codes, join_columns
from bruit.anonymity.disclosure.equivalence_classes import Groups, Kind, distances, from_runs
from bruit.anonymity.generalisation.hierarchies import Level
from bruit.errors import InvalidArgument

MOST_NODES = 10_000


@dataclass(frozen=True)
class Wanted:
    """The requirements on every class: at least k rows, l different sensitive values, distance at most t."""

    k: int
    l: int = 1  # noqa: E741  the letter of the literature
    t: float = 1.0
    suppress: float = 0.0
    kind: Kind = "categorical"

    def holds(self, groups: Groups, numbers: NDArray[np.float64] | None) -> NDArray[np.bool_]:
        """Which classes meet the requirements; t is measured against the whole table, suppressed rows included."""
        kept: NDArray[np.bool_] = groups.sizes >= self.k
        if self.l > 1:
            kept &= groups.distinct >= self.l
        if self.t < 1:
            kept &= distances(groups, self.kind, numbers) <= self.t + 1e-12
        return kept


@dataclass(frozen=True)
class Node:
    """A combination of levels, one per column, with its information loss and the share of rows it suppresses."""

    levels: tuple[int, ...]
    loss: float
    suppressed: float


@dataclass(frozen=True)
class Lattice:
    """The lattice of all combinations of levels, over the distinct rows of a table."""

    columns: tuple[Coded, ...]
    levels: tuple[tuple[Level, ...], ...]
    weights: NDArray[np.int64]
    secret: Coded | None
    rows: int

    @property
    def nodes(self) -> int:
        """The number of combinations of levels."""
        return prod(len(each) for each in self.levels)

    def best(self, wanted: Wanted) -> Node | None:
        """The node of least information loss; None where every node suppresses more rows than allowed.

        A suppressed row loses everything, so a node loses at least the mean of its levels' losses. Nodes are tried in
        the order of that bound; when it passes the best loss found, no node left can be better.
        """
        best: Node | None = None
        for bound, levels in self._order_nodes():
            if best is not None and bound >= best.loss:
                break
            loss, suppressed = self.judge(levels, wanted)
            if suppressed <= wanted.suppress and (best is None or loss < best.loss):
                best = Node(levels, loss, suppressed)
        return best

    def judge(self, levels: Sequence[int], wanted: Wanted) -> tuple[float, float]:
        """The information loss of a node, and the share of its rows in classes that fail the requirements."""
        lost = np.zeros(len(self.weights))
        for column, every, level in zip(self.columns, self.levels, levels, strict=True):
            lost += every[level].loss[column.codes]
        kept = self.kept(levels, wanted)
        suppressed = int(self.weights[~kept].sum())
        loss = float((self.weights * lost)[kept].sum()) / len(self.columns) + suppressed
        return loss / self.rows, suppressed / self.rows

    def kept(self, levels: Sequence[int], wanted: Wanted) -> NDArray[np.bool_]:
        """Which distinct rows are not suppressed at these levels."""
        keys = self.keys(levels)
        if wanted.l <= 1 and wanted.t >= 1:
            numbers = np.empty(len(keys), np.int32)
            _, sizes, _ = tally(keys, self.weights, numbers, EVERY)
            stays: NDArray[np.bool_] = (sizes >= wanted.k)[numbers]
            return stays
        groups = self.groups(keys)
        numbers_of = None if self.secret is None else self.secret.numbers
        return wanted.holds(groups, numbers_of)[np.searchsorted(groups.keys, keys)]

    def keys(self, levels: Sequence[int]) -> NDArray[np.int64]:
        """One integer key per distinct row at these levels; rows of one class have the same key."""
        parts = [
            (every[level].codes[column.codes], every[level].size)
            for column, every, level in zip(self.columns, self.levels, levels, strict=True)
        ]
        return join_codes(parts, len(self.weights), room=1 if self.secret is None else self.secret.size)

    def groups(self, keys: NDArray[np.int64]) -> Groups:
        """The equivalence classes of the distinct rows with equal keys, with their sensitive values."""
        values = 1 if self.secret is None else self.secret.size
        pairs = keys if self.secret is None else keys * values + self.secret.codes
        found, counts, _ = tally(pairs, self.weights, np.zeros(0, np.int32), EVERY)
        order = np.argsort(found)
        return from_runs(found[order] // values, found[order] % values, counts[order], values)

    def _order_nodes(self) -> list[tuple[float, tuple[int, ...]]]:
        means = [
            [float(self.weights @ level.loss[column.codes]) / self.rows for level in every]
            for column, every in zip(self.columns, self.levels, strict=True)
        ]
        nodes = product(*(range(len(every)) for every in self.levels))
        bounds = ((sum(mean[i] for mean, i in zip(means, node, strict=True)) / len(means), node) for node in nodes)
        return sorted(bounds)


def lattice(columns: Sequence[Coded], levels: Sequence[tuple[Level, ...]], secret: Coded | None) -> Lattice:
    """Builds the lattice of levels over a table's distinct rows."""
    nodes = prod(len(every) for every in levels)
    if nodes > MOST_NODES:
        raise InvalidArgument(
            f"{nodes} combinations of levels are more than {MOST_NODES}; give fewer levels or use method='mondrian'"
        )
    every = [*columns, secret] if secret is not None else list(columns)
    rows = len(columns[0].codes)
    numbers = np.empty(rows, np.int32)
    _, weights, _ = tally(join_columns(every, rows), NO_WEIGHTS, numbers, EVERY)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1))
    thin = [Coded(column.name, column.codes[first], column.labels) for column in every]
    hidden = thin.pop() if secret is not None else None
    return Lattice(tuple(thin), tuple(levels), weights, hidden, rows)
