"""Opens whatever holds a table without a schema: its engine and the names and types of its columns; reads no row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars

from bruit.core.names import text
from bruit.tables.cells.texts import Reading
from bruit.tables.expressions.to_sql import DUCKDB
from bruit.tables.relations.running import withheld
from bruit.tables.schema.columns import ColumnType
from bruit.tables.sources.opening import Source
from bruit.tables.sources.pandas_columns import read_series

Declared = Mapping[str, tuple[str, ColumnType]]
"""For each name in a question the column of the table that it is, and its declared type."""


@dataclass(frozen=True, eq=False)
class Opened:
    """A table left where it is: a polars lazy frame, pandas frame, DuckDB relation or Spark frame."""

    engine: str
    frame: Any
    kinds: Mapping[str, Any]
    reading: Reading
    _series: dict[tuple[str, ColumnType], tuple[polars.Series, bool]] = field(default_factory=dict, repr=False)

    def source(self, declared: Declared) -> Source:
        """The source that reads the declared columns in the engine, each cell on its own."""
        if self.engine == "pandas":
            return self._from_pandas(declared)
        again = {name: held for name, (held, _) in declared.items() if name != held}
        kinds = {**self.kinds, **{name: self.kinds[held] for name, held in again.items()}}
        return Source(self.engine, self._with_columns(again) if again else self.frame, kinds, self.reading)

    def _from_pandas(self, declared: Declared) -> Source:
        read = set()
        for name, (held, column) in declared.items():
            if (held, column) not in self._series:
                values = self.frame[next(each for each in self.frame.columns if str(each) == held)]
                self._series[held, column] = read_series(values, held, column, self.reading)
            if self._series[held, column][1]:
                read.add(name)
        frame = polars.DataFrame({name: self._series[each][0] for name, each in declared.items()}).lazy()
        return Source("polars", frame, dict(frame.collect_schema()), self.reading, frozenset(read))

    def _with_columns(self, again: Mapping[str, str]) -> Any:
        """The frame with columns a second time, under other names."""
        if self.engine == "polars":
            return self.frame.with_columns(**{name: polars.col(held) for name, held in again.items()})
        if self.engine == "spark":
            frame = self.frame
            for name, held in again.items():
                frame = frame.withColumn(name, frame[f"`{held}`"])
            return frame
        quote = DUCKDB.identifier
        return self.frame.project(
            ", ".join(["*", *(f"{quote(held)} AS {quote(name)}" for name, held in again.items())])
        )

    @cached_property
    def values(self) -> Any:
        """The rows unchanged, for curators and callers' functions: a polars lazy frame, or the engine's own.

        Python objects in a pandas frame become texts, whatever mixture of types a column holds.
        """
        if self.engine != "pandas":
            return self.frame
        return polars.DataFrame({str(name): _plain(self.frame[name]) for name in self.frame.columns}).lazy()

    def without_rows(self) -> Opened:
        """The same columns without any row."""
        if self.engine in ("polars", "pandas"):
            return replace(self, frame=self.frame.head(0), _series={})
        return replace(self, frame=self.frame.limit(0))

    def collect(self, names: list[str], *, most: int | None = None) -> polars.DataFrame:
        """The named columns of the first `most` rows, unchanged; private, for the curator only."""
        values = self.values
        with withheld():
            if self.engine in ("polars", "pandas"):
                wanted = values.select(names)
                return (wanted if most is None else wanted.head(most)).collect(engine="streaming")  # type: ignore[no-any-return]
            if self.engine == "spark":
                wanted = values.select([values[f"`{name}`"] for name in names])
                return polars.DataFrame(polars.from_arrow((wanted if most is None else wanted.limit(most)).toArrow()))
            wanted = values.project(", ".join(map(DUCKDB.identifier, names)))
            return (wanted if most is None else wanted.limit(most)).pl()  # type: ignore[no-any-return]


def _plain(values: Any) -> polars.Series:
    if values.dtype.kind in "biufM" and not hasattr(values.dtype, "categories"):
        return polars.Series(values.to_numpy())
    return polars.Series([text(value) for value in values], dtype=polars.String)
