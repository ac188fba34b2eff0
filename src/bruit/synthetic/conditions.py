"""Translates conditions on declared columns into cells, with the share of each cell that meets them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.privacy import Exact, exactly
from bruit.synthetic.coding import CodedColumn
from bruit.synthetic.fitting import possible_row
from bruit.synthetic.gibbs import Impossible
from bruit.tables import Among, Within

Condition = Sequence[object] | tuple[Exact, Exact] | str | None
"""Categories, a pair (low, high) of numbers with both ends inside, one category, or None: the value is missing."""

Where = Mapping[str, Condition]
"""One condition for each column that is asked about; all must hold."""

MOST_COLUMNS = 3
"""Columns of an impossible combination."""


@dataclass(frozen=True)
class CellShare:
    """The share of each cell's values that meet a condition."""

    share: NDArray[np.float64]

    @property
    def inside(self) -> NDArray[np.bool_]:
        """The cells of which every value meets the condition."""
        return np.asarray(self.share == 1)

    @property
    def touched(self) -> NDArray[np.bool_]:
        """The cells of which some value meets the condition."""
        return np.asarray(self.share > 0)


def find_column(coded: Sequence[CodedColumn], name: str) -> int:
    """The index of a column by its name."""
    for place, column in enumerate(coded):
        if column.name == name:
            return place
    raise InvalidArgument(f"no column {name!r} in the synthetic table; it has {', '.join(each.name for each in coded)}")


def read_where(coded: Sequence[CodedColumn], where: Where) -> dict[int, CellShare]:
    """The share of each cell that meets each condition, by column index."""
    if not isinstance(where, Mapping):
        raise InvalidArgument(f"{where!r}: give conditions by column, such as {{'age': (0, 15), 'licence': 'yes'}}")
    places = {find_column(coded, name): condition for name, condition in where.items()}
    return {i: read_condition(coded[i], condition) for i, condition in sorted(places.items())}


def read_whole_cells(coded: Sequence[CodedColumn], where: Where) -> dict[int, NDArray[np.bool_]]:
    """The cells that meet each condition, by column index; a range that cuts a cell is refused."""
    shares = read_where(coded, where)
    for i, each in shares.items():
        if (each.inside != each.touched).any():
            name = coded[i].name
            raise InvalidArgument(
                f"{name}: {where[name]} cuts a cell in two: let the range end where a cell ends, or give edges there"
            )
    return {i: each.inside for i, each in shares.items()}


def read_condition(column: CodedColumn, condition: Condition) -> CellShare:
    """The share of each cell of a column that meets one condition."""
    share = np.zeros(column.size)
    if condition is None:
        if not column.may_miss:
            raise InvalidArgument(f"{column.name} has no missing values: its domain says what stands for them")
        share[-1] = 1
    elif isinstance(column.domain, Among):
        share[_places(column, column.domain, condition)] = 1
    else:
        share[: len(column.firsts)] = _range_shares(column, column.domain, condition)
    return CellShare(share)


def _places(column: CodedColumn, domain: Among, condition: Condition) -> list[int]:
    single = isinstance(condition, str) or not isinstance(condition, Iterable)
    values = [str(value) for value in ([condition] if single else condition)]  # type: ignore[union-attr]
    if unknown := [value for value in values if value not in domain.labels]:
        raise InvalidArgument(f"{column.name}: no category {unknown[0]!r}; declared are {', '.join(domain.labels)}")
    return [domain.labels.index(value) for value in values]


def _range_shares(column: CodedColumn, domain: Within, condition: Condition) -> NDArray[np.float64]:
    if isinstance(condition, str) or not isinstance(condition, Sequence) or len(condition) != 2:
        raise InvalidArgument(f"{column.name} holds numbers: give a pair (low, high), both ends inside")
    low, high = (exactly(end, "end") / domain.grid for end in condition)  # type: ignore[arg-type]
    if low > high:
        raise InvalidArgument(f"{column.name}: low {condition[0]} is above high {condition[1]}; give (low, high)")
    first, last = np.array(column.firsts), np.array(column.ends)
    inside = np.minimum(last, floor(high)) - np.maximum(first, ceil(low)) + 1
    return np.asarray(np.clip(inside / (last - first + 1), 0, 1))


def read_impossible(coded: Sequence[CodedColumn], combinations: Sequence[Where]) -> tuple[Impossible, ...]:
    """The cells of publicly impossible combinations; a range that cuts a cell, or that leaves no row, is refused."""
    if isinstance(combinations, Mapping | str):
        raise InvalidArgument("impossible: give a list of combinations, such as [{'age': (0, 15), 'licence': 'yes'}]")
    found = tuple(_impossible(coded, each) for each in combinations)
    if possible_row(found, np.array([column.size for column in coded])) is None:
        raise InvalidArgument("impossible: all combinations together leave no row at all; narrow them")
    return found


def _impossible(coded: Sequence[CodedColumn], where: Where) -> Impossible:
    inside = read_whole_cells(coded, where)
    if not 1 <= len(inside) <= MOST_COLUMNS:
        raise InvalidArgument(f"an impossible combination names 1 to {MOST_COLUMNS} columns; {len(inside)} were given")
    cells = np.ones(1, bool)
    for each in inside.values():
        cells = np.logical_and.outer(cells, each).ravel()
    if cells.all():
        raise InvalidArgument(f"impossible: {dict(where)} leaves no value at all; narrow it")
    return Impossible(tuple(inside), cells)
