"""Equivalence classes (rows with equal quasi-identifiers) and the sensitive values in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bruit.anonymity.coded import Coded, count_keys
from bruit.errors import InvalidArgument

Kind = Literal["categorical", "ordered", "numeric"]
KINDS: tuple[Kind, ...] = ("categorical", "ordered", "numeric")


@dataclass(frozen=True)
class Groups:
    """Equivalence classes as sorted runs: one run for each class and sensitive value, with its count.

    Run i stands in group `group[i]`, holds value `value[i]` and `count[i]` rows; group g has the key `keys[g]` and
    `sizes[g]` rows.
    """

    group: NDArray[np.int64]
    value: NDArray[np.int64]
    count: NDArray[np.int64]
    keys: NDArray[np.int64]
    sizes: NDArray[np.int64]
    values: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.sizes.sum())

    @property
    def starts(self) -> NDArray[np.int64]:
        """The index of the first run of each class."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @property
    def distinct(self) -> NDArray[np.int64]:
        """The number of different sensitive values in each class."""
        return np.bincount(self.group, minlength=len(self.keys))

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each run's rows in its class."""
        return self.count / self.sizes[self.group]

    @property
    def overall(self) -> NDArray[np.float64]:
        """The share of each sensitive value in the whole table."""
        return np.bincount(self.value, weights=self.count, minlength=self.values) / max(self.rows, 1)

    @property
    def entropies(self) -> NDArray[np.float64]:
        """The entropy of the sensitive values in each class, in nats."""
        shares = self.shares
        return self.sum_runs(-shares * np.log(shares))

    def sum_runs(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums one term per run over the runs of each class."""
        return np.asarray(np.bincount(self.group, weights=terms, minlength=len(self.keys)), np.float64)


def group_rows(keys: NDArray[np.int64], sensitive: Coded | None = None) -> Groups:
    """The equivalence classes of rows with equal keys, from one counting pass."""
    values = 1 if sensitive is None else sensitive.size
    pairs = keys if sensitive is None else keys * values + sensitive.codes
    found, counts = count_keys(pairs)
    return from_runs(found // values, found % values, counts, values)


def from_runs(keys: NDArray[np.int64], value: NDArray[np.int64], count: NDArray[np.int64], values: int) -> Groups:
    """Builds the classes from runs that are already sorted by key and value."""
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(keys)))
    sizes = np.add.reduceat(count, starts) if len(starts) else np.zeros(0, np.int64)
    return Groups(group, value, count, keys[starts], sizes, values)


def distances(
    groups: Groups, kind: Kind, numbers: NDArray[np.float64] | None = None, *, overall: Sequence[float] | None = None
) -> NDArray[np.float64]:
    """The distance of each class's sensitive values from the table's, as in t-closeness.

    The least mass × distance that turns one into the other, values being 1 apart (categorical), |i - j| / (m - 1) by
    their places (ordered), or their difference as a share of the range (numeric).  [Li, Li & Venkatasubramanian 2007]
    """
    shares = groups.overall if overall is None else np.asarray(overall, np.float64)
    if kind == "categorical":
        more = np.maximum(groups.shares - shares[groups.value], 0.0)
        return groups.sum_runs(more)
    return _earth_mover(groups, shares, _gaps(groups.values, kind, numbers))


def _gaps(values: int, kind: Kind, numbers: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The distance from each value to the next."""
    if kind == "ordered":
        return np.full(max(values - 1, 0), 1 / max(values - 1, 1))
    if numbers is None or not np.isfinite(numbers).all():
        raise InvalidArgument("kind 'numeric' needs finite numbers without missing values; use 'ordered'")
    return np.diff(numbers) / max(float(np.ptp(numbers)), np.finfo(float).tiny)


def _earth_mover(groups: Groups, shares: NDArray[np.float64], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The earth mover's distance: the sum over gaps of |F_group - F_table| × gap, F the share of values so far.

    F_group only changes at the values that the group holds. Between two of them it is a constant c; F_table rises,
    so the sum splits where it passes c, and prefix sums give both parts.
    """
    below = np.cumsum(shares)[: len(gaps)]
    lengths, areas = np.concatenate([[0.0], gaps.cumsum()]), np.concatenate([[0.0], (below * gaps).cumsum()])
    within = groups.shares.cumsum()
    level = within - (within - groups.shares)[groups.starts][groups.group]
    stop = np.append(groups.value[1:], len(gaps))
    stop[np.append(groups.starts[1:], len(groups.group)) - 1] = len(gaps)
    start = groups.value
    cross = np.clip(np.searchsorted(below, level), start, stop)
    part = level * (lengths[cross] - lengths[start]) - (areas[cross] - areas[start])
    part += (areas[stop] - areas[cross]) - level * (lengths[stop] - lengths[cross])
    before = areas[groups.value[groups.starts]]
    moved: NDArray[np.float64] = groups.sum_runs(part) + before
    return moved
