"""One statistic of one file, as typed in a terminal or filled into a form."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars

from bruit import central, tables
from bruit.central import STATISTICS, Need, Statistic
from bruit.core.numbers import as_float, exactly
from bruit.core.release import Release
from bruit.errors import BudgetExceeded, InvalidArgument
from bruit.ledger import Budget, Ledger
from bruit.tables import Column, Table, UndeclaredColumn

NAMED = {
    "median": [Fraction(1, 2)],
    "quartiles": [Fraction(i, 4) for i in range(1, 4)],
    "deciles": list(central.DECILES),
    "percentiles": [Fraction(i, 100) for i in range(1, 100)],
}
"""Quantiles that have a name."""

SIZES = (1_000, 10_000, 100_000, 1_000_000)
"""Sizes a preview answers for where the error depends on a size that is private."""


@dataclass(frozen=True)
class FileStatistic:
    """One statistic of one table as typed; no field has a default."""

    statistic: str
    column: str | None
    within: tuple[str, str] | None
    grid: str | None
    missing: str | None
    among: str | None
    group_by: str | None
    quantiles: str | None
    size: int | None
    confidence: float

    def __post_init__(self) -> None:
        if self.size is not None and Need.SIZE not in self._asks.takes:
            raise InvalidArgument(f"size, a public number of rows, is not for {self.statistic}")

    @property
    def _asks(self) -> Statistic:
        return STATISTICS[self.statistic]

    def release(self, table: Table, budget: Budget) -> Release[Any]:
        """Answers the statistic, paid from the budget."""
        settings: dict[str, Any] = {}
        if Need.CONFIDENCE in self._asks.takes:
            settings["confidence"] = self.confidence
        if Need.SIZE in self._asks.takes:
            settings["size"] = self.size
        if Need.GROUPS in self._asks.needs:
            settings["values"] = None if self.column is None else self._numbers(table)
        return self._asks.release(*self._data(table), budget=budget, **settings)

    def _data(self, table: Table) -> tuple[Any, ...]:
        """What the statistic reads: the table, a declared column, or a column and its probabilities."""
        needs = self._asks.needs
        if Need.GROUPS in needs:
            by = table[str(self.group_by)]
            return (by if self.among is None else by.among(parse_categories(self.among)),)
        if Need.NUMBERS in needs:
            numbers = self._numbers(table)
            return (numbers, self._probabilities()) if Need.PROBABILITIES in needs else (numbers,)
        return (self._declare_column(table) if Need.COLUMN in needs or self.column is not None else table,)

    def _probabilities(self) -> Sequence[Any]:
        return NAMED.get(str(self.quantiles), str(self.quantiles).split(","))

    def rehearsal(self, table: Table, ledger: Ledger, price: Mapping[str, str]) -> tuple[Release[Any], Fraction]:
        """Runs the question on an empty table and a copy of the ledger: all checks and the true price, no data."""
        book = Ledger.in_memory(ledger.name, ledger.terms)
        release = self.release(table.without_rows(), price_of(book, price))
        return release, book.spent.total

    def expected(self, release: Release[Any], table: Table, ledger: Ledger, price: Mapping[str, str]) -> dict[str, Any]:
        """The expected error: the noise's half-width at the stated confidence, or the mean rank error of quantiles."""
        if Need.PROBABILITIES in self._asks.needs:
            return {"rank error, in rows": max(release.details["expected_rank_error"])}
        if not self._asks.divides:
            return {"noise": release.noise}
        sizes = SIZES if self.size is None else (self.size,)
        return {
            f"noise, at {size} rows": central.expected_error(
                self.statistic,
                epsilon=price["epsilon"],
                neighbours=ledger.neighbours,
                domain=self._numbers(table).numbers,
                limit=table.bounds,
                **{"expected_size" if self.size is None else "size": size},
                confidence=self.confidence,
            )
            for size in sizes
        }

    def notes(self, table: Table) -> list[str]:
        """Remarks on how the column is read, from its declared type, never from its values."""
        if self.column is None or self.within is None or table.columns.get(self.column) != polars.String:
            return []
        row = "its row is dropped" if self.missing is None else f"it is read as {self.missing}"
        return [f"numbers are read from text; what is no number counts as missing: {row}"]

    def _declare_column(self, table: Table) -> Column:
        if self.among is None:
            return self._numbers(table)
        if self.within is not None:
            raise InvalidArgument("within is for numbers, among for categories: give one of them")
        return self._bare_column(table).among(parse_categories(self.among))

    def _numbers(self, table: Table) -> Column:
        column = self._bare_column(table)
        if self.within is None or self.grid is None:
            raise InvalidArgument(
                f"column {self.column} needs bounds (within) and a step (grid), known before seeing the data"
                + ("; or its categories (among)" if Need.NUMBERS not in self._asks.needs | self._asks.takes else "")
            )
        low, high = self.within
        return column.within(low, high, grid=self.grid, missing=self.missing)

    def _bare_column(self, table: Table) -> UndeclaredColumn:
        if self.column is None:
            raise InvalidArgument(f"{self.statistic} needs a column: of which one?")
        return table[self.column]


def price_of(book: Ledger, price: Mapping[str, str]) -> Budget:
    """The price as a budget of the ledger; a price above the ledger's total is refused at once."""
    asked = exactly(price["epsilon"], "epsilon")
    if asked > book.epsilon:
        raise BudgetExceeded(
            f"the price ε = {as_float(asked):.6g} is above ε = {float(book.epsilon):.6g}, all that the book "
            f"{book.name!r} ever had; nothing was charged"
        )
    return book.budget(epsilon=price["epsilon"], delta=price.get("delta"))


def open_table(path: str, person: str, rows: int | None, groups: int | None) -> Table:
    """Opens the table of a file, with the stated limits per person."""
    return limit_table(tables.read(path, person=person), rows, groups)


def limit_table(table: Table, rows: int | None, groups: int | None) -> Table:
    """The table with the stated limits per person; unchanged where none are stated."""
    if rows is None:
        if groups is not None:
            raise InvalidArgument("groups also needs rows: how many rows of one person count in each group")
        return table
    return table.limit(rows=rows) if groups is None else table.limit(groups=groups, each=rows)


def parse_categories(text: str) -> list[str]:
    """Parses a line such as `a, b, "c, d"` into categories."""
    try:
        return next(csv.reader([text], skipinitialspace=True))
    except csv.Error as error:
        raise InvalidArgument('categories stand on one line, like: a, b, "c, d"') from error
