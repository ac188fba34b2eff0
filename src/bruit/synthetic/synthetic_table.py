"""`SyntheticTable`: invented rows, and answers from them with intervals for the true table's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final, Protocol

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.core.arguments import confidence as read_confidence
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument, MissingExtra
from bruit.privacy import Covers, Guarantee, Interval, Release
from bruit.synthetic.accuracy.estimates import Measurements, Weights
from bruit.synthetic.accuracy.misfit import Misfit
from bruit.synthetic.accuracy.numbers import mean_of, quantile_of
from bruit.synthetic.accuracy.rehearsals import Spread, count_rows, rehearse
from bruit.synthetic.coding import CodedColumn
from bruit.synthetic.conditions import Where, find_column, read_where, read_whole_cells
from bruit.synthetic.files.statement import statement
from bruit.synthetic.fitting import Fit
from bruit.tables import Within

MOST_ROWS: Final = 2**31
"""Rows of one table."""

MOST_ORDER: Final = 3
"""Columns of one question that has an interval."""

MOST_CELLS: Final = 20_000
"""Cells of a marginal that is answered cell by cell."""

EXCEL_ROWS: Final = 2**20
"""Lines of a sheet, its heading among them."""

Bounds = tuple[float, float]


class Synthesis(Protocol):
    """The synthesis of a table that is public already: fits it again, or draws more rows from the counts of a fit."""

    def __call__(self, rows: NDArray[np.uint8], seed: int) -> Fit:
        """A fit to the given rows."""

    def draw(self, fit: Fit, many: int, seed: int) -> NDArray[np.uint8]:
        """So many rows fitted to the counts of a fit."""


@dataclass(frozen=True)
class SyntheticTable:
    """Synthetic rows drawn from noisy counts; everything here may be published.

    `rows` holds the cells, one row a person's row; `frame()` the values. Answers are counted in these rows; their
    intervals cover the true table after clamping and bounding. Where a measured marginal holds all columns of a
    question the interval is that of its noise, else that of a rehearsal of the whole synthesis, which is wider.
    """

    columns: tuple[CodedColumn, ...]
    fit: Fit
    guarantee: Guarantee
    measurements: Measurements
    audited: dict[int, Misfit]
    again: Synthesis = field(repr=False)
    state: int = field(repr=False)

    @property
    def rows(self) -> NDArray[np.uint8]:
        """The cells of each synthetic row."""
        return self.fit.rows

    @property
    def measured(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each marginal that was measured."""
        return tuple(tuple(self.columns[i].name for i in one.clique) for one in self.fit.measured)

    @cached_property
    def spread(self) -> Spread:
        """The errors of unmeasured counts in rehearsals; computed on first use, in about twice the synthesis's time."""
        sizes = np.array([column.size for column in self.columns], np.int64)
        return rehearse(self.fit, sizes, self.audited, self.again, state=self.state)

    def frame(self) -> polars.DataFrame:
        """The rows as values: categories, and random numbers of the grid within each cell; the same at each call."""
        return self._decode(self.rows)

    def draw(self, rows: int) -> polars.DataFrame:
        """So many rows fitted to the same noisy counts, as values: it costs no privacy, whatever their number.

        More rows than there are people agree more closely with the counts, which steadies a model trained on them.
        """
        return self._decode(self.again.draw(self.fit, whole(rows, "rows", most=MOST_ROWS), self.state))

    def _decode(self, rows: NDArray[np.uint8]) -> polars.DataFrame:
        rng = np.random.default_rng(self.state)
        return polars.DataFrame([column.decode(rows[:, i], rng) for i, column in enumerate(self.columns)])

    @property
    def statement(self) -> str:
        """The statement of what the table may and may not be used for, to accompany its rows."""
        return statement(self.guarantee, rows=len(self.rows), measured=self.measured)

    def write(self, path: str | Path) -> Path:
        """Writes the rows as CSV, Parquet or Excel, by the file's extension.

        The statement stands beside them in a file `.statement.md`, and in a workbook on its second sheet too.
        """
        target = Path(path)
        match target.suffix.lower():
            case ".csv":
                self.frame().write_csv(target)
            case ".parquet":
                self.frame().write_parquet(target)
            case ".xlsx":
                self._write_excel(target)
            case _:
                raise InvalidArgument(f"{target.name}: a synthetic table is written as .csv, .parquet, .xlsx")
        target.with_suffix(".statement.md").write_text(self.statement, "utf-8")
        return target

    def _write_excel(self, path: Path) -> None:
        if len(self.rows) >= EXCEL_ROWS:
            raise InvalidArgument(f"{path.name}: a sheet holds {EXCEL_ROWS} lines, the table has more: write .parquet")
        try:
            from xlsxwriter import Workbook
        except ModuleNotFoundError as error:
            raise MissingExtra("Excel files", "excel") from error
        with Workbook(str(path), {"strings_to_formulas": False, "strings_to_urls": False}) as book:
            rows = book.add_worksheet("rows")  # no table of Excel, which refuses names that differ by case alone
            for place, column in enumerate(self.frame()):
                rows.write_column(0, place, [column.name, *column])
            sheet = book.add_worksheet("statement")
            for number, line in enumerate(self.statement.splitlines()):
                sheet.write_string(number, 0, line)

    def count(self, where: Where, *, confidence: float = 0.95) -> Release[float]:
        """How many rows of the true table meet all conditions on at most three columns.

        A range that cuts a cell counts a part of it; its interval reaches from none to all of that cell.
        """
        read_confidence(confidence)
        shares = read_where(self.columns, where)
        if len(shares) > MOST_ORDER:
            raise InvalidArgument(f"{len(shares)} columns: at most {MOST_ORDER} have an interval; ask about fewer")
        value = self._count({i: each.share for i, each in shares.items()})
        low = self.bounds({i: each.inside.astype(float) for i, each in shares.items()}, confidence)[0]
        high = self.bounds({i: each.touched.astype(float) for i, each in shares.items()}, confidence)[1]
        return self._release(value, ("count",), min(low, value), max(high, value), confidence)

    def marginal(self, *names: str, confidence: float = 0.95) -> Release[NDArray[np.float64]]:
        """Counts of each combination of cells of one to three columns; marginals agree on their totals."""
        read_confidence(confidence)
        places = [find_column(self.columns, name) for name in names]
        shape = tuple(self.columns[i].size for i in places)
        if not 1 <= len(set(places)) == len(places) <= MOST_ORDER or int(np.prod(shape)) > MOST_CELLS:
            raise InvalidArgument(f"give 1 to {MOST_ORDER} different columns of at most {MOST_CELLS} cells together")
        values, low, high = np.empty((3, *shape))
        for cell in np.ndindex(*shape):
            weights = {
                i: (np.arange(self.columns[i].size) == c).astype(float) for i, c in zip(places, cell, strict=True)
            }
            values[cell] = self._count(weights)
            ends = self.bounds(weights, confidence)
            low[cell], high[cell] = min(ends[0], values[cell]), max(ends[1], values[cell])
        labels = tuple(" / ".join(cell) for cell in product(*(self.columns[i].labels for i in places)))
        return self._release(values, labels, low.ravel(), high.ravel(), confidence)

    def workload(self, marginals: Sequence[Sequence[str]], *, confidence: float = 0.95) -> dict[tuple[str, ...], Any]:
        """Several marginals, by their columns, all counted in the same rows, so that they are consistent."""
        return {tuple(names): self.marginal(*names, confidence=confidence) for names in marginals}

    def mean(self, name: str, where: Where | None = None, *, confidence: float = 0.95) -> Release[float]:
        """The mean of a column of numbers over the rows that meet the conditions, missing values left out.

        A range in a condition must end where cells end.
        """
        place, domain = self._numbers(name)
        weights = {i: inside.astype(float) for i, inside in read_whole_cells(self.columns, where or {}).items()}
        found = mean_of(self, place, domain, weights, read_confidence(confidence))
        return self._release(found.value, (name,), found.low, found.high, confidence)

    def quantile(self, name: str, probability: float, *, confidence: float = 0.95) -> Release[float]:
        """The quantile of a numeric column at a probability; its interval is derived from intervals of counts."""
        place, domain = self._numbers(name)
        if not 0 < probability < 1:
            raise InvalidArgument(f"probability={probability} must lie between 0 and 1, for example 0.5")
        found = quantile_of(self, place, domain, probability, read_confidence(confidence))
        return self._release(found.value, (name,), found.low, found.high, confidence)

    def bounds(self, weights: Weights, confidence: float) -> Bounds:
        """An interval for a count given by cell weights 0 or 1, clipped to between none and all rows."""
        value, people = self._count(weights), self.measurements.total
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        asked = {i: weight for i, weight in weights.items() if not weight.all()}
        most = people.value + z * people.variance**0.5
        found = self.measurements.linear(asked)
        exact = None if found is None else (found.value, z * found.variance**0.5 + 0.5)
        if exact is None or (len(asked) > 2 and exact[1] > self._half_width(asked, value, confidence)):
            exact = (value, self._half_width(asked, value, confidence))
        return float(np.clip(exact[0] - exact[1], 0, most)), float(np.clip(exact[0] + exact[1], 0, most))

    def _half_width(self, weights: Weights, value: float, confidence: float) -> float:
        return self.spread.half_width(len(weights), value, self.fit.people, confidence)

    def _count(self, weights: Weights) -> float:
        return count_rows(self.rows, weights) * self.fit.people / max(len(self.rows), 1)

    def _numbers(self, name: str) -> tuple[int, Within]:
        place = find_column(self.columns, name)
        domain = self.columns[place].domain
        if not isinstance(domain, Within):
            raise InvalidArgument(f"{name} holds categories: a mean or a quantile needs numbers")
        return place, domain

    def _release(self, value: Any, labels: tuple[str, ...], low: Any, high: Any, confidence: float) -> Release[Any]:
        interval = Interval(np.asarray(low, float), np.asarray(high, float), confidence, Covers.TABLE)
        return Release(value, self.guarantee, "synthetic table", labels, interval)
