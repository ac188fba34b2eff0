"""Functions supplied by a caller (scores, queries): tried on an empty table, then run so that no record raises.

On no rows an answer that is no number is refused, since that tells nothing of anybody. On the real table whatever comes
back is read as whole numbers: a float is floored (|⌊a⌋ - ⌊b⌋| <= s where |a - b| <= s and s is whole), anything else,
an error too, counts as zero, and no message tells which.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bruit.errors import InvalidArgument
from bruit.tables import Table

Answers = Callable[[Table], ArrayLike]


def try_on_no_rows(function: Answers, table: Table, *, numbers: int | None, what: str) -> None:
    """Refuses a function that does not return `numbers` whole numbers (one for None) for an empty table."""
    asked = "a whole number" if numbers is None else f"one whole number for each of the {numbers} candidates"
    try:
        answer = np.asarray(function(table.without_rows()), object)
    except Exception as error:
        raise InvalidArgument(
            f"{what}: the function fails on a table without rows ({error}); it must answer any table with {asked}"
        ) from error
    shape = () if numbers is None else (numbers,)
    if answer.shape != shape or not all(_is_number(each) for each in answer.reshape(-1).tolist()):
        raise InvalidArgument(f"{what}: the function must answer with {asked}; on no rows it answered otherwise")


def read_numbers(function: Answers, table: Table, count: int) -> list[int]:
    """The function's `count` whole numbers for a table, or zeros where it fails or returns anything else."""
    try:
        found = np.asarray(function(table), object).reshape(-1).tolist()
    except Exception:
        return [0] * count
    return [_whole(each) for each in found] if len(found) == count else [0] * count


def _is_number(value: Any) -> bool:
    return isinstance(value, int | np.integer) or (isinstance(value, float | np.floating) and isfinite(value))


def _whole(value: Any) -> int:
    return floor(value) if _is_number(value) else 0
