"""Bins of columns: fixed from public domains before any record is read, or read from the data without privacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.tables import Among, Domain, Within

MOST_BINS = 2**15
"""The most bins that can be asked for: the number of a bin takes two bytes."""

FEW = 256
"""Up to here the number of a bin takes one byte."""

WIDE = 1000
"""A domain that starts at zero and has more values than this holds amounts: its bins are narrow near zero."""

ROWS_LOOKED_AT = 200_000
"""Without a domain the bins of a column are taken from about so many rows."""

Codes = NDArray[np.unsignedinteger[Any]]
"""Numbers of bins, of one byte or two."""


@dataclass(frozen=True)
class Bins:
    """The bins of every column: those of an ordered column end at `edges`, a category is a bin of its own."""

    edges: tuple[NDArray[np.float64], ...]
    categorical: NDArray[np.bool_]
    sizes: NDArray[np.int64]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The index of each column's first bin when the bins of all columns are concatenated."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def codes(self, values: NDArray[np.int64] | NDArray[np.float64]) -> Codes:
        """The bin index of every value, in row order."""
        kind = np.uint8 if self.sizes.max(initial=1) <= FEW else np.uint16
        found = np.empty(values.shape, kind)
        for column, edges in enumerate(self.edges):
            number = values[:, column] if self.categorical[column] else np.searchsorted(edges, values[:, column])
            found[:, column] = number
        return found


def by_column(codes: Codes) -> Codes:
    """The bin indices in column order (a contiguous transpose)."""
    return np.ascontiguousarray(codes.T)


def public_bins(domains: Sequence[Domain], most: int) -> Bins:
    """The bins of public domains: one per value where there are few, else `most` bins of equal width.

    A wide domain that starts at zero has as many again whose widths grow from one step on.
    """
    most = min(whole(most, "bins", least=2), MOST_BINS)
    edges = tuple(_edges(domain, most) for domain in domains)
    categorical = np.array([isinstance(domain, Among) for domain in domains], bool)
    sizes = [
        domain.size if isinstance(domain, Among) else len(ends) + 1 for domain, ends in zip(domains, edges, strict=True)
    ]
    return Bins(edges, categorical, np.array(sizes, np.int64))


def holds_amounts(domain: Within) -> bool:
    """Whether a column is taken to hold amounts, such as money: many values, from zero on."""
    return domain.lowest == 0 and domain.size > WIDE


def _edges(domain: Domain, most: int) -> NDArray[np.float64]:
    """The last integer of every bin but the last."""
    if isinstance(domain, Among):
        return np.empty(0)
    if domain.size <= most:
        return np.arange(domain.lowest, domain.highest, dtype=np.float64)
    if holds_amounts(domain):
        growing = np.floor(np.geomspace(1, domain.highest, most + 1)) - 1
        return np.union1d(_even(domain, most), growing)
    return _even(domain, most)


def _even(domain: Within, most: int) -> NDArray[np.float64]:
    return domain.lowest + np.floor(domain.size * np.arange(1, most) / most) - 1


def read_bins(values: NDArray[np.float64], most: int) -> Bins:
    """Bins read from the data, without privacy: edges halfway between values, at quantiles where values are many."""
    most = min(whole(most, "bins", least=2), MOST_BINS)
    looked_at = values[:: max(1, len(values) // ROWS_LOOKED_AT)]
    edges = tuple(_halfway(np.sort(column), most) for column in looked_at.T)
    sizes = np.array([len(ends) + 1 for ends in edges], np.int64)
    return Bins(edges, np.zeros(len(edges), bool), sizes)


def _halfway(ordered: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Halfway between successive values; of many values only those at the quantiles."""
    below, above = ordered[:-1], ordered[1:]
    differ = below < above
    below, above = below[differ], above[differ]
    if len(below) >= most:
        ranks = np.flatnonzero(differ) + 1
        wanted = np.searchsorted(ranks, np.arange(1, most) * len(ordered) / most)
        chosen = np.unique(np.minimum(wanted, len(ranks) - 1))
        below, above = below[chosen], above[chosen]
    return np.asarray(below / 2 + above / 2)
