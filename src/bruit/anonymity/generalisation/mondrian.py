"""Mondrian: multidimensional boxes, cut in two as long as both halves meet the requirements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.anonymity import _kernels as kernels
from bruit.anonymity.coded import NO_WEIGHTS, Coded, join_columns

WORTH = 8
"""Rows are moved as distinct ones with weights where these are at most one in so many."""

LISTED = 3
"""Up to so many texts of a box are listed; more are shown by the first and the last."""


@dataclass(frozen=True)
class Boxes:
    """The box of each row, and the lowest and highest code of each box in every column."""

    part: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    sizes: NDArray[np.int64]

    @property
    def loss(self) -> float:
        """The information loss: the mean of (values in the box - 1) / (values - 1).        [Iyengar 2002, LM]"""
        lost = (self.high - self.low) / np.maximum(self.sizes - 1, 1)
        rows = np.bincount(self.part, minlength=len(self.low))
        return float(rows @ lost.mean(axis=1)) / len(self.part)

    def names(self, column: int, coded: Coded) -> list[str]:
        """The name of each box's range in a column."""
        ends = zip(self.low[:, column].tolist(), self.high[:, column].tolist(), strict=True)
        known: dict[tuple[int, int], str] = {}
        return [known.setdefault(end, _name(coded.texts, *end, number=coded.numbers is not None)) for end in ends]


def _name(texts: list[str], low: int, high: int, *, number: bool) -> str:
    if low == high:
        return texts[low]
    if number or high - low >= LISTED:
        return f"{texts[low]} … {texts[high]}"
    return " | ".join(texts[low : high + 1])


def boxes(columns: Sequence[Coded], secret: Coded | None, *, k: int, l: int = 1) -> Boxes:  # noqa: E741
    """Strict multidimensional boxes of at least k rows and l different sensitive values.   [LeFevre et al. 2006]

    Equal rows are never parted; where rows repeat, each distinct row is moved once, with its weight.
    """
    count = len(columns[0].codes)
    sizes = np.array([column.size for column in columns], np.int64)
    numbers = np.empty(count, np.int32)
    every = list(columns) if secret is None or l <= 1 else [*columns, secret]
    _, weights, whole = kernels.tally(join_columns(every, count), NO_WEIGHTS, numbers, max(count // WORTH, 1))
    chosen: slice | NDArray[np.int64] = slice(None)
    if whole:
        chosen = np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1))
    else:
        weights = np.ones(count, np.int64)
    rows = np.stack([column.codes[chosen].astype(np.int32) for column in columns], axis=1)
    hidden = np.zeros(1, np.int32) if secret is None else secret.codes[chosen].astype(np.int32)
    part = np.empty(len(rows), np.int32)
    low, high = kernels.mondrian(rows, weights.astype(np.int32), hidden, sizes, k, l, part)
    return Boxes(part[numbers] if whole else part, low, high, sizes)
