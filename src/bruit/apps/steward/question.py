"""One statistic of one file, as a person asks for it: typed in a terminal or filled into a form."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bruit import central, tables
from bruit.errors import BudgetExceeded, InvalidArgument
from bruit.ledger import Budget, Ledger
from bruit.privacy import Release, exactly
from bruit.tables import Column, Table, UndeclaredColumn

NAMED = {
    "median": [Fraction(1, 2)],
    "quartiles": [Fraction(i, 4) for i in range(1, 4)],
    "deciles": list(central.DECILES),
    "percentiles": [Fraction(i, 100) for i in range(1, 100)],
}
"""Quantiles that have a name."""

STATISTICS = ("count", "sum", "mean", "variance", "histogram", "quantiles", "group-by")

SIZES = (1_000, 10_000, 100_000, 1_000_000)
"""Sizes a preview answers for where the error depends on a size that is private."""


@dataclass(frozen=True)
class Question:
    """One statistic of one table, as it was typed; nothing in it has a default."""

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
        if self.statistic not in STATISTICS:
            raise InvalidArgument(f"statistic {self.statistic!r}: choose among {', '.join(STATISTICS)}")
        if self.size is not None and self.statistic not in ("mean", "variance"):
            raise InvalidArgument("size, a public number of rows, is for a mean or a variance")

    def release(self, table: Table, budget: Budget) -> Release[Any]:
        """The statistic, paid from the budget."""
        answers: dict[str, Callable[[Table, Budget], Release[Any]]] = {
            "count": self._count,
            "sum": self._sum,
            "mean": lambda table, budget: self._moment(central.mean, table, budget),
            "variance": lambda table, budget: self._moment(central.variance, table, budget),
            "histogram": self._histogram,
            "group-by": self._groups,
            "quantiles": self._quantiles,
        }
        return answers[self.statistic](table, budget)

    def rehearsal(self, table: Table, ledger: Ledger, price: Mapping[str, str]) -> tuple[Release[Any], Fraction]:
        """The same on no rows, paid from a book in memory on the same terms: all checks and the true price, no data."""
        terms = ledger.terms
        by: Any = terms.by if terms.order is None else (terms.by, terms.order)
        book = Ledger(
            ledger.name,
            epsilon=terms.epsilon,
            delta=terms.delta,
            neighbours=terms.neighbours,
            person=terms.person,
            by=by,
        )
        release = self.release(replace(table, frame=table.frame.head(0)), price_of(book, price))
        return release, book.spent.total

    def expected(self, release: Release[Any], table: Table, ledger: Ledger, price: Mapping[str, str]) -> dict[str, Any]:
        """The error to expect: what noise alone does at the stated confidence, or the mean rank error of quantiles."""
        if self.statistic == "quantiles":
            return {"rank error, in rows": max(release.details["expected_rank_error"])}
        if self.statistic not in ("mean", "variance"):
            return {"noise": release.noise}
        sizes = SIZES if self.size is None else (self.size,)
        return {
            f"noise, at {size} rows": central.expected_error(
                self.statistic,
                epsilon=price["epsilon"],
                neighbours=ledger.neighbours,
                domain=self._numbers(table).numbers,
                size=size,
                rows=table.bounds[1],
                public_size=self.size is not None,
                confidence=self.confidence,
            )
            for size in sizes
        }

    def notes(self, table: Table) -> list[str]:
        """What a person should know of how the column is read; from its declared type, never from its values."""
        if self.column is None or self.within is None or not self._numbers(table).parses_text:
            return []
        row = "its row is dropped" if self.missing is None else f"it is read as {self.missing}"
        return [f"numbers are read from text; what is no number counts as missing: {row}"]

    def _count(self, table: Table, budget: Budget) -> Release[Any]:
        data = table if self.column is None else self._declared(table)
        return central.count(data, budget=budget, confidence=self.confidence)

    def _sum(self, table: Table, budget: Budget) -> Release[Any]:
        return central.sum(self._numbers(table), budget=budget, confidence=self.confidence)

    def _moment(self, moment: Callable[..., Release[Any]], table: Table, budget: Budget) -> Release[Any]:
        return moment(self._numbers(table), budget=budget, size=self.size, confidence=self.confidence)

    def _histogram(self, table: Table, budget: Budget) -> Release[Any]:
        return central.histogram(self._declared(table), budget=budget, confidence=self.confidence)

    def _groups(self, table: Table, budget: Budget) -> Release[Any]:
        by: Column | UndeclaredColumn = table[str(self.group_by)]
        if self.among is not None:
            by = table[str(self.group_by)].among(listed(self.among))
        values = None if self.column is None else self._numbers(table)
        return central.group_by(by, values=values, budget=budget, confidence=self.confidence)

    def _quantiles(self, table: Table, budget: Budget) -> Release[Any]:
        named = NAMED.get(str(self.quantiles), str(self.quantiles).split(","))
        return central.quantiles(self._numbers(table), named, budget=budget)

    def _declared(self, table: Table) -> Column:
        if self.among is None:
            return self._numbers(table)
        if self.within is not None:
            raise InvalidArgument("within is for numbers, among for categories: give one of them")
        return self._undeclared(table).among(listed(self.among))

    def _numbers(self, table: Table) -> Column:
        column = self._undeclared(table)
        if self.within is None or self.grid is None:
            raise InvalidArgument(
                f"column {self.column} needs bounds (within) and a step (grid), known before seeing the data"
                + ("; or its categories (among)" if self.statistic in ("histogram", "count") else "")
            )
        low, high = self.within
        return column.within(low, high, grid=self.grid, missing=self.missing)

    def _undeclared(self, table: Table) -> UndeclaredColumn:
        if self.column is None:
            raise InvalidArgument(f"{self.statistic} needs a column: of which one?")
        return table[self.column]


def price_of(book: Ledger, price: Mapping[str, str]) -> Budget:
    """The price as a budget of the book; one above the whole book is refused before any noise is planned for it."""
    if exactly(price["epsilon"], "epsilon") > book.epsilon:
        raise BudgetExceeded(
            f"the price ε = {price['epsilon']} is above ε = {float(book.epsilon):.6g}, all that the book {book.name!r} "
            "ever had; nothing was charged"
        )
    return book.budget(epsilon=price["epsilon"], delta=price.get("delta"))


def opened(path: str, person: str, rows: int | None, groups: int | None) -> Table:
    """The table of a file, with the stated bounds on what one person can change."""
    return limited(tables.read(path, person=person), rows, groups)


def limited(table: Table, rows: int | None, groups: int | None) -> Table:
    """The table with the stated bounds on what one person can change; without any, as it is."""
    if rows is None:
        if groups is not None:
            raise InvalidArgument("groups also needs rows: how many rows of one person count in each group")
        return table
    return table.limit(rows=rows, groups=1 if groups is None else groups)


def listed(text: str) -> list[str]:
    """The categories of a line like `a, b, "c, d"`."""
    try:
        return next(csv.reader([text], skipinitialspace=True))
    except csv.Error as error:
        raise InvalidArgument('categories stand on one line, like: a, b, "c, d"') from error
