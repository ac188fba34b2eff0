"""Gibbs sampling of a table from its tempered posterior given noisy marginals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bruit.synthetic._kernels import LANES, sweep
from bruit.synthetic.marginals import Clique, Counts, cells_of, count_cells

IMPOSSIBLE: Final = np.float32(-1e6)
"""The field of a combination that cannot occur: far below any that counts can have, so its weight is exactly 0."""


@dataclass(frozen=True)
class Measured:
    """The noisy counts of one marginal, as a flat array, with the variance of their noise.

    `belief` is how much more than usual the marginal's own pattern is believed, as its noisy counts suggest.
    """

    clique: Clique
    noisy: NDArray[Any]
    variance: float
    belief: float = 1.0

    @property
    def pull(self) -> float:
        """The weight of this marginal in the sampler: belief / standard deviation of its noise."""
        return float(self.belief * self.variance**-0.5)


@dataclass(frozen=True)
class Impossible:
    """Combinations of one to three columns publicly known not to occur, as a flat array of booleans."""

    clique: Clique
    cells: NDArray[np.bool_]


@dataclass(frozen=True)
class _View:
    """A marginal laid out with one column last and padded to `length`: the stride of each column, where it begins."""

    last: int
    others: Clique
    strides: dict[int, int]
    length: int
    begin: int


class GibbsSampler:
    """Draws rows from P(table) ~ exp(-sum over marginals k of pull_k |noisy_k - counts_k(table)|^2 / 2).

    At the fixed point a cell of c rows keeps the share c / (c + 1 / pull) of its noisy residual: small cells are
    shrunk, large ones are believed. Columns in `frozen` stay as they are.
    """

    def __init__(
        self,
        sizes: Counts,
        measured: Sequence[Measured],
        *,
        impossible: Sequence[Impossible] = (),
        frozen: Collection[int] = (),
        state: int,
    ) -> None:
        self.sizes, self.measured, self.impossible, self.state = sizes, measured, impossible, np.uint64(state)
        self._length = 0
        self._cliques = [each.clique for each in measured] + [each.clique for each in impossible]
        self._views = [[self._view(i, clique) for i in clique] for clique in self._cliques]
        pulls = [each.pull for each in measured] + [0.0] * len(impossible)
        by_column: list[list[tuple[_View, list[_View], float]]] = [[] for _ in sizes]
        for views, pull in zip(self._views, pulls, strict=True):
            for view in views:
                if view.last not in frozen:
                    by_column[view.last].append((view, [each for each in views if each is not view], pull))
        self._index(by_column)

    def _view(self, last: int, clique: Clique) -> _View:
        others, strides = tuple(j for j in clique if j != last), {last: 1}
        size = length = -(-int(self.sizes[last]) // LANES) * LANES
        for j in reversed(others):
            strides[j], size = size, size * int(self.sizes[j])
        begin, self._length = self._length, self._length + size
        return _View(last, others, strides, length, begin)

    def _index(self, by_column: list[list[tuple[_View, list[_View], float]]]) -> None:
        """The arrays of the kernel; their layout is in its docstring."""
        flat = [view for views in by_column for view in views]
        self._first = np.cumsum([0, *map(len, by_column)])
        self._start = np.array([view.begin for view, _, _ in flat], np.int64)
        self._pull = np.array([pull for _, _, pull in flat])
        self._twins = np.array([len(twins) for _, twins, _ in flat], np.int64)
        self._other, self._stride = np.zeros((2, len(flat), 2), np.int64)
        self._twin = np.zeros((len(flat), 2, 4), np.int64)
        for v, (view, twins, _) in enumerate(flat):
            self._other[v, : len(view.others)] = view.others
            self._stride[v, : len(view.others)] = [view.strides[j] for j in view.others]
            for t, seen in enumerate(twins):
                places = (seen.begin, seen.strides[view.last], *(seen.strides[j] for j in view.others))
                self._twin[v, t, : len(places)] = places

    def run(self, table: NDArray[np.uint8], people: float, sweeps: int) -> None:
        """Redraws the rows of a table in place; each row stands for people / rows people.

        The field is computed afresh before each sweep, so that rounding does not add up.
        """
        if not len(table) or not len(self._start):
            return
        weight, field = people / len(table), np.full(self._length, IMPOSSIBLE)
        step = (self._pull * weight).astype(np.float32)
        for _ in range(sweeps):
            self._fill(field, np.ascontiguousarray(table.T), weight)
            views = self._first, self._start, self._other, self._stride, self._twin, self._twins
            self.state = np.uint64(sweep(table, field, *views, step, self.sizes, self.state))

    def mean_counts(
        self, table: NDArray[np.uint8], people: float, cliques: Sequence[Clique], sweeps: int
    ) -> list[NDArray[np.float64]]:
        """Redraws the rows as `run` does, and returns the counts of marginals in people, their mean over the sweeps."""
        sums = [np.zeros(cells_of(clique, self.sizes)) for clique in cliques]
        for _ in range(sweeps):
            self.run(table, people, 1)
            columns = np.ascontiguousarray(table.T)
            for total, clique in zip(sums, cliques, strict=True):
                total += count_cells(columns, clique, self.sizes)
        return [total * (people / len(table) / sweeps) for total in sums]

    def _fill(self, field: NDArray[np.float32], columns: NDArray[np.uint8], weight: float) -> None:
        gaps = [m.pull * (m.noisy - weight * count_cells(columns, m.clique, self.sizes)) for m in self.measured]
        gaps += [np.where(each.cells, IMPOSSIBLE, 0.0) for each in self.impossible]
        for clique, views, gap in zip(self._cliques, self._views, gaps, strict=True):
            block = gap.reshape(self.sizes[list(clique)])
            for view in views:
                axes = [clique.index(j) for j in (*view.others, view.last)]
                lines = np.transpose(block, axes).reshape(-1, block.shape[axes[-1]])
                padded = field[view.begin : view.begin + len(lines) * view.length].reshape(-1, view.length)
                padded[:, : lines.shape[1]] = lines
