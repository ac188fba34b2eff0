"""Encodes declared columns as cells (bins of values), and decodes cells into values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.errors import InvalidArgument, OutOfDomain
from bruit.privacy import Exact, exactly
from bruit.tables import Among, Domain, Within
from bruit.tables.declared_plans import Code
from bruit.tables.expressions.nodes import Coalesce, Constant

MOST_CELLS: Final = 256
"""Cells of one column: a byte holds them."""

USUAL_CELLS: Final = 32
"""Cells that a column of numbers is cut into where its edges are not given."""


@dataclass(frozen=True)
class CodedColumn:
    """A declared column and the cells its values fall into; cuts come from the domain, never from the data.

    Cell i holds the domain's integers from firsts[i] up to firsts[i+1] - 1. Where the domain would drop a row (for
    a missing number, or a category that is not listed), the row stays and the value is missing: one more cell.
    """

    name: str
    domain: Domain
    firsts: tuple[int, ...]

    @property
    def may_miss(self) -> bool:
        """Whether values can be missing."""
        return self.domain.missing is None if isinstance(self.domain, Within) else self.domain.drop_others

    @property
    def size(self) -> int:
        """The number of cells, including the one for missing values."""
        return len(self.firsts) + self.may_miss

    @property
    def ends(self) -> tuple[int, ...]:
        """The last grid integer of each cell."""
        return (*(first - 1 for first in self.firsts[1:]), self.domain.lowest + self.domain.size - 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each cell."""
        missing = ("missing",) if self.may_miss else ()
        if isinstance(self.domain, Among):
            return (*self.domain.labels, *missing)
        low, high = (self.domain.decode(np.array(ends)) for ends in (self.firsts, self.ends))
        names = (f"{a:g}" if a == b else f"{a:g} to {b:g}" for a, b in zip(low, high, strict=True))
        return (*names, *missing)

    @property
    def _width(self) -> int | None:
        """The integers of every cell, where all cells but the last hold equally many."""
        low, size = self.domain.lowest, self.domain.size
        width = self.firsts[1] - low if len(self.firsts) > 1 else size
        return width if self.firsts == tuple(range(low, low + size, width)) else None

    @property
    def code(self) -> Code:
        """The expression that encodes values inside the engine; `place` turns its result into cells.

        Cells of equal width are found in the engine already, a byte each; for others the integer of the domain.
        """
        low, width = self.domain.lowest, self._width
        if width is None:
            return (lambda cell: Coalesce(cell, Constant(low + self.domain.size))), polars.Int64
        return (lambda cell: Coalesce((cell - low) // width, Constant(self.size - 1))), polars.UInt8

    def place(self, encoded: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
        """Converts the integers that `code` computed into cells; the last cell is for missing values."""
        if self._width is not None:
            return encoded.astype(np.uint8)
        edges = np.array([*self.firsts[1:], self.domain.lowest + self.domain.size])
        return np.minimum(np.searchsorted(edges, encoded, side="right"), self.size - 1).astype(np.uint8)

    def decode(self, cells: NDArray[np.uint8], rng: np.random.Generator) -> polars.Series:
        """A value for each cell: its category, or a random number of the grid within the cell."""
        missing = cells >= len(self.firsts)
        place = np.minimum(cells, len(self.firsts) - 1)
        if isinstance(self.domain, Among):
            values = polars.Series(self.name, np.array(self.domain.labels, object)[place], polars.String)
        else:
            first, last = np.array(self.firsts)[place], np.array(self.ends)[place]
            values = self._numbers(rng.integers(first, last + 1))
        return values.set(polars.Series(missing), None) if self.may_miss else values

    def _numbers(self, integers: NDArray[np.int64]) -> polars.Series:
        assert isinstance(self.domain, Within)
        if self.domain.grid.denominator == 1:
            return polars.Series(self.name, integers * int(self.domain.grid), polars.Int64)
        return polars.Series(self.name, self.domain.decode(integers), polars.Float64)

    def to_json(self) -> dict[str, Any]:
        """A complete description in JSON types."""
        return {"name": self.name, "domain": self.domain.to_json(), "firsts": list(self.firsts)}


def code_columns(
    columns: Mapping[str, Domain], edges: Mapping[str, Sequence[Exact]] | None = None
) -> tuple[CodedColumn, ...]:
    """The columns with their cells; `edges` gives the least value of each cell but the first of a numeric column."""
    given = edges or {}
    if not isinstance(given, Mapping):
        raise InvalidArgument(f"edges={edges!r}: give them by column, such as {{'age': [18, 65]}}")
    if not columns:
        raise InvalidArgument("a synthetic table needs at least one column with a declared domain")
    if unknown := set(given) - set(columns):
        raise InvalidArgument(f"edges for {', '.join(sorted(unknown))}: no such column among {', '.join(columns)}")
    return tuple(_coded(name, domain, given.get(name)) for name, domain in columns.items())


def _coded(name: str, domain: Domain, edges: Sequence[Exact] | None) -> CodedColumn:
    if not isinstance(domain, Within | Among):
        raise InvalidArgument(f"{name}: give a domain, bruit.tables.within(...) or bruit.tables.among(...)")
    if edges is not None:
        column = CodedColumn(name, domain, _firsts(name, domain, edges))
    elif isinstance(domain, Among) or domain.size <= USUAL_CELLS:
        column = CodedColumn(name, domain, tuple(range(domain.lowest, domain.lowest + domain.size)))
    else:
        width = -(-domain.size // USUAL_CELLS)
        column = CodedColumn(name, domain, tuple(range(domain.lowest, domain.highest + 1, width)))
    if column.size > MOST_CELLS:
        raise OutOfDomain(f"{name}: {column.size} cells; at most {MOST_CELLS}: list fewer categories, or give edges")
    return column


def _firsts(name: str, domain: Domain, edges: Sequence[Exact]) -> tuple[int, ...]:
    if not isinstance(domain, Within):
        raise InvalidArgument(f"{name} holds categories: edges are for numbers")
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise InvalidArgument(f"{name}: edges={edges!r}: give a list, the least value of each further cell")
    steps = [exactly(edge, "edge") / domain.grid for edge in edges]
    if any(step.denominator != 1 for step in steps):
        raise OutOfDomain(f"{name}: edges must lie on the grid of {domain.grid}")
    firsts = (domain.lowest, *map(int, steps))
    if any(a >= b for a, b in pairwise(firsts)) or firsts[-1] > domain.highest:
        raise OutOfDomain(f"{name}: edges must rise, above the low bound and at most the high one")
    return firsts
