"""Bins for outputs of any kind, learnt from other outputs of the same mechanism, so that events can be counted."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

DISTINCT = 256
"""Up to so many different values each have a cell; beyond, only the most frequent, and the others share cells."""

REPEATED = 20
"""A value that came so often is an atom, however small its mass: a rare but exact publication is one."""

JOINT = 4096
"""Up to so many cells the coordinates of a vector are looked at together; beyond, through one score."""

SHOWN = 4
"""How many parts of an event are shown."""

LEVELS = np.concatenate([10.0 ** -np.arange(5.0, 1.5, -0.5), np.linspace(0.0, 1.0, 65)[1:-1]])
QUANTILES = np.unique(np.concatenate([LEVELS, 1.0 - LEVELS]))
"""Cells of equal mass, and thin ones in both tails, where a forgotten noise shows."""


class Bins(Protocol):
    """Assigns each output of a mechanism to one of `count` bins."""

    @property
    def count(self) -> int:
        """The number of bins."""

    def of(self, outputs: NDArray[Any]) -> NDArray[np.int64]:
        """The number of the bin that each output falls into."""

    def describe(self, chosen: NDArray[np.int64]) -> str:
        """Describes the chosen bins as text, in rising order."""


@dataclass(frozen=True)
class ScalarBins:
    """Bins of real outputs, cut at edges; an edge with an atom has a bin of its own, others belong to the left bin.

    The cell of x is the number of edges below x plus the number of atoms up to x.
    """

    edges: NDArray[Any]
    atoms: NDArray[Any]

    @property
    def count(self) -> int:
        return len(self.edges) + len(self.atoms) + 1

    def of(self, outputs: NDArray[Any]) -> NDArray[np.int64]:
        below = np.searchsorted(self.edges, outputs, side="left")
        return np.asarray(below + np.searchsorted(self.atoms, outputs, side="right"), np.int64)

    def describe(self, chosen: NDArray[np.int64]) -> str:
        step = 2 if len(self.atoms) == len(self.edges) else 1  # where every edge is an atom, the gaps are empty
        shown = chosen[chosen % 2 == 1] if step == 2 else chosen
        runs = np.split(shown, np.flatnonzero(np.diff(shown) > step) + 1)
        return _join_intervals([self._run(int(run[0]), int(run[-1])) for run in runs if len(run)])

    def _run(self, first: int, last: int) -> str:
        tops = np.sort(np.concatenate([self.edges, self.atoms]))
        low = "-∞" if first == 0 else _short(tops[first - 1])
        high = "∞" if last == len(tops) else _short(tops[last])
        starts_with_atom = 0 < first < len(tops) and tops[first] == tops[first - 1]
        stops_before_atom = last + 1 < len(tops) and tops[last] == tops[last + 1]
        if first == last and starts_with_atom:
            return low
        return f"{'[' if starts_with_atom else '('}{low}, {high}{')' if stops_before_atom or high == '∞' else ']'}"


@dataclass(frozen=True)
class JointBins:
    """Bins of vectors: one for each combination of the bins of their coordinates."""

    parts: tuple[ScalarBins, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of bins of each coordinate."""
        return tuple(part.count for part in self.parts)

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    def of(self, outputs: NDArray[Any]) -> NDArray[np.int64]:
        columns = tuple(part.of(column) for part, column in zip(self.parts, outputs.T, strict=True))
        return np.asarray(np.ravel_multi_index(columns, self.shape), np.int64)

    def describe(self, chosen: NDArray[np.int64]) -> str:
        places = np.transpose(np.unravel_index(chosen, self.shape))
        return _join_intervals([", ".join(map(_describe_one, self.parts, place)) for place in places])


@dataclass(frozen=True)
class ScoredBins:
    """Bins of the summed log-likelihood ratios of all coordinates: best where coordinates are independent."""

    parts: tuple[ScalarBins, ...]
    ratios: tuple[NDArray[np.float64], ...]
    scores: ScalarBins

    @property
    def count(self) -> int:
        return self.scores.count

    def of(self, outputs: NDArray[Any]) -> NDArray[np.int64]:
        return self.scores.of(_score(self.parts, self.ratios, outputs))

    def describe(self, chosen: NDArray[np.int64]) -> str:
        return f"score in {self.scores.describe(chosen)}"


def learn(first: NDArray[Any], second: NDArray[Any]) -> Bins:
    """Learns bins for outputs from draws on one data set and on its neighbour."""
    both = np.concatenate([first, second])
    if both.ndim == 1:
        return _learn_scalar(both)
    joint = JointBins(tuple(map(_learn_scalar, both.T)))
    return joint if joint.count <= JOINT else _learn_scored(joint.parts, first, second)


def _learn_scalar(outputs: NDArray[Any]) -> ScalarBins:
    """Every value an atom if they are few, else quantiles, and the most frequent of the repeated values as atoms."""
    values, counts = np.unique(outputs, return_counts=True)
    if len(values) <= DISTINCT:
        return ScalarBins(values, values)
    edges = values[np.unique(np.searchsorted(counts.cumsum(), QUANTILES * len(outputs)))]
    often = np.argsort(-counts, kind="stable")[:DISTINCT]
    atoms = values[often[counts[often] >= REPEATED]]
    finite = edges[~np.isnan(edges)]
    if np.isnan(values[-1]):  # not-a-number sorts above every number
        finite = np.append(finite, values[-2])
    atoms = np.unique(atoms[~np.isnan(atoms)])
    return ScalarBins(np.union1d(finite, atoms), atoms)


def _learn_scored(parts: tuple[ScalarBins, ...], first: NDArray[Any], second: NDArray[Any]) -> ScoredBins:
    """Learns likelihood ratios from one half of the outputs, and the bins of their sum from the other half."""
    half = len(first) // 2
    ratios = tuple(
        np.log1p(_histogram(part, one)) - np.log1p(_histogram(part, other))
        for part, one, other in zip(parts, first[:half].T, second[:half].T, strict=True)
    )
    return ScoredBins(
        parts, ratios, _learn_scalar(_score(parts, ratios, np.concatenate([first[half:], second[half:]])))
    )


def _score(
    parts: tuple[ScalarBins, ...], ratios: tuple[NDArray[np.float64], ...], outputs: NDArray[Any]
) -> NDArray[np.float64]:
    """The sum over coordinates of the log likelihood ratio of the coordinate's cell."""
    total = np.zeros(len(outputs))
    for part, ratio, column in zip(parts, ratios, outputs.T, strict=True):
        total += ratio[part.of(column)]
    return np.round(total, 9)


def _histogram(part: ScalarBins, outputs: NDArray[Any]) -> NDArray[np.int64]:
    return np.bincount(part.of(outputs), minlength=part.count)


def _describe_one(part: ScalarBins, cell: np.int64) -> str:
    return part.describe(np.array([cell])) or "nothing"


def _join_intervals(texts: list[str]) -> str:
    more = f" ∪ {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return " ∪ ".join(texts[:SHOWN]) + more


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, np.floating) else str(value)
