"""A tree grown level by level on noisy histograms of all columns."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, sqrt

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.learning.estimator.contract import FitRequest, Records
from bruit.learning.trees._growing_kernels import GRADIENT, Rule, best_split
from bruit.learning.trees._supervised import TreePlan, halves
from bruit.learning.trees.binning import Bins, Codes
from bruit.learning.trees.growing import GrownTree, columns_of
from bruit.learning.trees.noise import Moves, buy_noise

GRAIN = 16
"""What is predicted moves a sum by at most so many steps; a row counts for as many."""

DEEPEST, MIDDLE = 8, 3
MOST_LEVELS = 16
"""The most levels that may be asked for: each reads a histogram of all its nodes, of which noise leaves none empty."""

ROWS_OVER_NOISE = 25.0
"""A node is worth a split while it holds so many times the noise of one cell."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Levels:
    """The statistics that each level reads per node, column and bin: class counts, or target sum and row count."""

    plan: TreePlan
    kind: int
    channels: int


def plan_levels(question: FitRequest, bins: Bins, *, depth: int | None, kind: int) -> TreePlan:
    """The number of levels and their noise from public numbers alone; the leaves are one more release."""
    columns = len(bins.sizes)
    moves = _moves(kind, columns)
    if depth is None:
        rate = buy_noise(question, moves, times=1, counted=False).rate
        depth = MIDDLE if question.size is None else _worthwhile(question.size * rate / sqrt(columns))
    depth = whole(depth, "max_depth", most=MOST_LEVELS, why="with a budget every level is counted with noise")
    return TreePlan(bins, buy_noise(question, moves, times=depth + 1, counted=False), depth)


def _worthwhile(rows_over_noise: float) -> int:
    """How many levels stay above the noise when every level halves the rows."""
    return min(max(int(log2(max(rows_over_noise / ROWS_OVER_NOISE, 1))), 1), DEEPEST)


def _moves(kind: int, columns: int) -> Moves:
    """How far one person moves the sums of a level: a class count per column by 1, or a sum and a count by GRAIN."""
    return Moves(GRAIN, 2 * columns) if kind == GRADIENT else Moves(1, columns, opposite=True)


def noisy_tree(levels: Levels, codes: Codes, records: Records, question: FitRequest) -> GrownTree:
    """Grows a tree level by level, each from one noisy histogram; a last release counts the leaves."""
    bins, noise = levels.plan.bins, levels.plan.noise
    stats = _stats(levels, records, question)
    node_of = np.zeros(len(codes), np.int64)
    nodes = _Nodes(levels.channels, int(bins.sizes.max()))
    level = [0]
    for _ in range(levels.plan.count):
        cells = _histogram(codes, node_of, level, stats, bins, levels.channels)
        cells = cells + noise.draw(cells.shape, rng=records.rng)
        level = nodes.split(level, _possible(cells, levels.kind), bins, levels)
        if not level:
            break
        node_of = nodes.tree.leaves(codes)
    tree = nodes.tree
    leaves = np.flatnonzero(tree.left < 0)
    counts = _totals(np.searchsorted(leaves, tree.leaves(codes)), len(leaves), stats, levels.channels)
    counts = counts + noise.draw(counts.shape, rng=records.rng)
    return _add_sums(tree, leaves, counts)


def _stats(levels: Levels, records: Records, question: FitRequest) -> Ints:
    """What each row adds to its cell: one in its class, or its number and GRAIN."""
    out = np.zeros((len(records.target), levels.channels), np.int64)
    if levels.kind != GRADIENT:
        out[np.arange(len(out)), records.target] = 1
        return out
    assert question.target is not None
    middle, half = halves(question)
    scaled = (question.target.decode(records.target) - middle) / half
    dither = records.rng.random(len(scaled))
    out[:, 0] = np.clip(np.floor(GRAIN * scaled + dither), -GRAIN, GRAIN)
    out[:, 1] = GRAIN
    return out


def _histogram(codes: Codes, node_of: Ints, level: list[int], stats: Ints, bins: Bins, channels: int) -> Ints:
    """Shape (nodes of the level, bins of all columns, channels)."""
    place = np.full(max(level) + 1, -1)  # the newest nodes have the highest numbers
    place[level] = np.arange(len(level))
    here = place[node_of]
    rows = here >= 0
    cells = int(bins.sizes.sum())
    out = np.zeros((len(level) * cells, channels), np.int64)
    for column, start in enumerate(bins.offsets[:-1]):
        out += _totals(here[rows] * cells + start + codes[rows, column], len(out), stats[rows], channels)
    return out.reshape(len(level), cells, channels)


def _totals(places: Ints, size: int, stats: Ints, channels: int) -> Ints:
    """Exact sums of small integers: floats hold them."""
    sums = [np.bincount(places, stats[:, channel], size) for channel in range(channels)]
    return np.column_stack(sums).astype(np.int64)


def _possible(cells: Ints, kind: int) -> Floats:
    """Noisy counts clamped at zero; sums of what is predicted may have either sign."""
    found = np.maximum(cells, 0.0)
    if kind == GRADIENT:
        found[..., 0] = cells[..., 0]
    return found


class _Nodes:
    """A tree that is being grown."""

    def __init__(self, channels: int, widest: int) -> None:
        self.column, self.last, self.left, self.right, self.mask = [-1], [0], [-1], [-1], [-1]
        self.masks = np.zeros((0, widest), bool)
        self.gain, self.channels, self.widest = [0.0], channels, widest

    def split(self, level: list[int], cells: Floats, bins: Bins, levels: Levels) -> list[int]:
        """Splits the nodes of a level where a noisy split gains; gives back their children."""
        children: list[int] = []
        for node, histogram in zip(level, cells, strict=True):
            gain, column, last, goes_left = _best(histogram, bins, levels)
            if column < 0:
                continue
            self.column[node], self.last[node], self.gain[node] = column, last, gain
            if bins.categorical[column]:
                self.mask[node] = len(self.masks)
                self.masks = np.vstack([self.masks, goes_left])
            self.left[node], self.right[node] = len(self.left), len(self.left) + 1
            for values, empty in (
                (self.column, -1),
                (self.last, 0),
                (self.left, -1),
                (self.right, -1),
                (self.mask, -1),
            ):
                values += [empty, empty]
            self.gain += [0.0, 0.0]
            children += [self.left[node], self.right[node]]
        return children

    @property
    def tree(self) -> GrownTree:
        """The tree as it is, without sums."""
        column, last, left, right = map(_array, (self.column, self.last, self.left, self.right))
        masks = self.masks if len(self.masks) else np.zeros((1, self.widest), bool)
        sums = np.zeros((len(self.left), self.channels))
        return GrownTree(column, last, left, right, sums, _array(self.mask), masks, np.array(self.gain))


def _array(values: list[int]) -> Ints:
    return np.array(values, np.int64)


def _best(histogram: Floats, bins: Bins, levels: Levels) -> tuple[float, int, int, NDArray[np.bool_]]:
    """The best split of one node; every column brings the total of its own noisy cells."""
    best: tuple[float, int, int, NDArray[np.bool_]] = (0.0, -1, 0, np.zeros(int(bins.sizes.max()), bool))
    rule = Rule(levels.kind, 2 * levels.plan.noise.deviation, 0.0)
    columns = columns_of(bins)
    for column, (start, end) in enumerate(zip(bins.offsets[:-1], bins.offsets[1:], strict=True)):
        goes_left = np.zeros(int(bins.sizes.max()), bool)
        total = histogram[start:end].sum(axis=0)
        gain, found, last = best_split(histogram, columns, np.array([column]), total, rule, goes_left)
        if found >= 0 and gain > best[0]:
            best = (gain, found, last, goes_left)
    return best


def _add_sums(tree: GrownTree, leaves: Ints, counts: Ints) -> GrownTree:
    """The tree with the noisy sums of its leaves, and in every other node those of its children."""
    sums = np.zeros(tree.sums.shape)
    sums[leaves] = counts
    for node in np.flatnonzero(tree.left >= 0)[::-1]:
        sums[node] = sums[tree.left[node]] + sums[tree.right[node]]
    return tree._replace(sums=sums)


def leaf_values(tree: GrownTree, levels: Levels, question: FitRequest) -> Floats:
    """Leaf predictions from noisy sums: class shares with add-one smoothing, or means shrunk where rows are few."""
    if levels.kind != GRADIENT:
        counts = np.maximum(tree.sums, 0.0) + 1.0
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))
    middle, half = halves(question)
    mean = tree.sums[:, 0] / np.maximum(tree.sums[:, 1], levels.plan.noise.deviation)
    return np.asarray(middle + half * np.clip(mean, -1.0, 1.0))[:, None]
