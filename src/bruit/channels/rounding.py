"""Rounding a stochastic matrix to integers out of 2^52 without losing privacy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels.weights import ONE
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument


def integers_out_of(rows: ArrayLike | Sequence[Sequence[Exact]]) -> tuple[NDArray[np.object_], list[int]]:
    """The rows of a stochastic matrix as exact integers, with the total of each row."""
    numerators, totals = [], []
    for row in _rectangle(rows):
        whole, scale = _over_one_denominator([_plain(cell) for cell in row])
        if min(whole) < 0 or abs(sum(whole) - scale) * 10**9 > scale:
            raise InvalidArgument("a channel needs rows of probabilities, none negative, that sum to 1 within 1e-9")
        numerators.append(whole)
        totals.append(sum(whole))
    return np.array(numerators, dtype=object), totals


def _over_one_denominator(row: Sequence[Exact]) -> tuple[list[int], int]:
    """The numerators of a row over one denominator; floats, as the decimals that denote them, without fractions."""
    if all(type(cell) is float and isfinite(cell) for cell in row):
        parts = [_decimal(cell) for cell in row]  # type: ignore[arg-type]
        least = min(0, *(exponent for _, exponent in parts))
        return [digits * 10 ** (exponent - least) for digits, exponent in parts], 10**-least
    cells = [exactly(cell, "a probability") for cell in row]
    scale = int(np.lcm.reduce([cell.denominator for cell in cells], dtype=object))
    return [int(cell * scale) for cell in cells], scale


def _decimal(cell: float) -> tuple[int, int]:
    """The shortest decimal that denotes a float: its digits, and the power of ten they count."""
    mantissa, _, exponent = repr(cell).partition("e")
    whole, _, rest = mantissa.partition(".")
    return int(whole + rest), int(exponent or 0) - len(rest)


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
    about = np.array([[cell / total for cell in row] for row, total in zip(numerators, totals, strict=True)])
    extremes = [_extremes(numerators[:, place], totals, about[:, place]) for place in range(numerators.shape[1])]
    if any(least == 0 < most for least, most in extremes):
        return 0
    ratio = max((most / least for least, most in extremes if most > 0), default=Fraction(1))
    if ratio == 1:
        return 0
    padding = -((ratio + 1) // (1 - ratio))
    used = sum(1 for _, most in extremes if most > 0)
    return int(padding) if padding * len(extremes) < ONE >> 12 and used == len(extremes) else 0


def _extremes(column: NDArray[np.object_], totals: list[int], about: NDArray[np.float64]) -> tuple[Fraction, Fraction]:
    """The least and the greatest probability of a column, exactly: only cells that are near them as floats compete."""
    low, high = about.min(), about.max()
    ends = np.flatnonzero((about <= low * (1 + 1e-12)) | (about >= high * (1 - 1e-12)))
    exact = [Fraction(int(column[place]), totals[place]) for place in ends]
    return min(exact), max(exact)


def _largest_remainder(row: NDArray[np.object_], total: int, available: int) -> list[int]:
    """The row scaled to sum to `available`: floors, and one more where the remainders are largest."""
    floors, remainders = map(list, zip(*(divmod(int(cell) * available, total) for cell in row), strict=True))
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
