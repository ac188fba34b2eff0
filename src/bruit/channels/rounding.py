"""Rounding a stochastic matrix to integers out of 2^52 without losing privacy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels.loss import ONE
from bruit.errors import InvalidArgument
from bruit.privacy import Exact, exactly


def integers_out_of(rows: ArrayLike | Sequence[Sequence[Exact]]) -> tuple[NDArray[np.object_], list[int]]:
    """The rows of a stochastic matrix as exact integers, with the total of each row."""
    table = [[exactly(_plain(cell), "a probability") for cell in row] for row in _rectangle(rows)]
    numerators, totals = [], []
    for row in table:
        if min(row) < 0 or abs(sum(row, Fraction(-1))) > Fraction(1, 10**9):
            raise InvalidArgument("a channel needs rows of probabilities, none negative, that sum to 1 within 1e-9")
        scale = int(np.lcm.reduce([cell.denominator for cell in row], dtype=object))
        numerators.append([int(cell * scale) for cell in row])
        totals.append(sum(numerators[-1]))
    return np.array(numerators, dtype=object), totals


def round_rows(numerators: NDArray[np.object_], totals: list[int]) -> NDArray[np.int64]:
    """Rows of integers that sum to 2^52 and whose likelihood ratios are at most those of the exact matrix.

    Let E be the largest ratio a / b within a column and c >= (E + 1) / (E - 1). Every row is scaled to 2^52 - m c,
    each cell is rounded to one of its two neighbouring integers so that the row sums to that, and c is added
    everywhere. Since (a + 1 + c) / (b - 1 + c) <= E whenever a <= E b, no ratio passes E. Rows that are all equal stay
    equal, a matrix that is whole out of 2^52 stays as it is, zeros stay zeros in a matrix of infinite loss, and when E
    is so close to 1 that m c would not fit, c is 0 and the loss is whatever the integers say.
    """
    padding = 0 if _whole(numerators, totals) else _padding(numerators, totals)
    outputs = numerators.shape[1]
    available = ONE - outputs * padding
    rounded = [_largest_remainder(row, total, available) for row, total in zip(numerators, totals, strict=True)]
    return np.array(rounded, dtype=np.int64) + padding


def _whole(numerators: NDArray[np.object_], totals: list[int]) -> bool:
    return all(int(cell) * ONE % total == 0 for row, total in zip(numerators, totals, strict=True) for cell in row)


def _padding(numerators: NDArray[np.object_], totals: list[int]) -> int:
    exact = [[Fraction(int(cell), total) for cell in row] for row, total in zip(numerators, totals, strict=True)]
    columns = list(zip(*exact, strict=True))
    if any(min(column) == 0 < max(column) for column in columns):
        return 0
    ratio = max((max(column) / min(column) for column in columns if max(column) > 0), default=Fraction(1))
    if ratio == 1:
        return 0
    padding = -((ratio + 1) // (1 - ratio))
    used = sum(1 for column in columns if max(column) > 0)
    return int(padding) if padding * len(columns) < ONE >> 12 and used == len(columns) else 0


def _largest_remainder(row: NDArray[np.object_], total: int, available: int) -> list[int]:
    """The row scaled to sum to `available`: floors, and one more where the remainders are largest."""
    floors = [int(cell) * available // total for cell in row]
    remainders = [int(cell) * available % total for cell in row]
    order = sorted(range(len(floors)), key=lambda place: (-remainders[place], place))
    for place in order[: available - sum(floors)]:
        floors[place] += 1
    return floors


def _rectangle(rows: Any) -> list[list[Any]]:
    table = [list(row) for row in rows]
    if not table or not table[0] or len({len(row) for row in table}) != 1:
        raise InvalidArgument("a channel needs a table with one row of probabilities for each input, all of one length")
    return table


def _plain(cell: Any) -> Exact:
    return cell.item() if isinstance(cell, np.generic) else cell  # type: ignore[no-any-return]
