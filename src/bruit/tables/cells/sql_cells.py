"""Reads cells of DuckDB and Spark columns inside the engine: fixed patterns, safe casts, physical dates."""

from __future__ import annotations

import re

from bruit.tables.cells.moments import EARLIEST, LATEST, from_digits, from_second, groups_of, within_bounds
from bruit.tables.cells.polars_cells import Encoded
from bruit.tables.cells.texts import BLANKS, WHOLE, Reading
from bruit.tables.expressions.days import DAY
from bruit.tables.expressions.nodes import Coalesce, Constant, Field
from bruit.tables.expressions.to_sql import Dialect
from bruit.tables.schema.columns import (
    LARGEST_WHOLE,
    Category,
    ColumnType,
    Date,
    Found,
    Number,
    Time,
    Whole,
    YesNo,
)

FAMILIES = {
    "boolean": "BOOLEAN",
    "whole": "TINYINT SMALLINT INTEGER INT BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT",
    "float": "FLOAT DOUBLE REAL DECIMAL",
    "text": "VARCHAR STRING ENUM CHAR UUID",
    "date": "DATE",
    "naive": "TIMESTAMP_NTZ TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS",
}
"""The families of types by their names in DuckDB and Spark; TIMESTAMP is a wall clock there and an instant here."""


def family_of(kind: str, dialect: Dialect) -> str:
    """The family of a SQL type; `unread` for a type whose cells all count as missing."""
    stated = kind.upper()
    if stated == "TIMESTAMP WITH TIME ZONE" or (dialect.spark and stated == "TIMESTAMP"):
        return "instant"
    if stated == "TIMESTAMP":
        return "naive"
    if stated.endswith("[]") or "[" in stated:
        return "unread"
    word = re.split(r"[ (]", stated)[0]
    return next((family for family, names in FAMILIES.items() if word in names.split()), "unread")


class SqlCells:
    """Writes the SQL that reads one column; `family` is that of its type, `cell` its quoted name."""

    def __init__(self, name: str, kind: str, reading: Reading, dialect: Dialect) -> None:
        self.cell, self.reading, self.dialect = dialect.identifier(name), reading, dialect
        self.family = family_of(kind, dialect)

    def encode(self, column: ColumnType, *, prefix: str) -> Encoded:
        """Builds the SQL expressions that read the column as its type declares."""
        if isinstance(column, Date | Time):
            return self._moment(column, prefix)
        if isinstance(column, Number):
            found = self._number(column)
        elif isinstance(column, Whole):
            found = self._whole(column)
        else:
            found = self._label(column)
        return Encoded({prefix: found}, Field(prefix))

    def _stripped(self, text: str) -> str:
        if self.dialect.spark:
            return f"trim(BOTH {self.dialect.text(BLANKS)} FROM {text})"
        # Most texts have a plain sign at both ends, and DuckDB trims slowly.
        inside = f"ord({text}) BETWEEN 33 AND 126 AND ord({text}[-1]) BETWEEN 33 AND 126"
        return f"(CASE WHEN {inside} THEN {text} ELSE trim({text}, {self.dialect.text(BLANKS)}) END)"

    def _known(self, text: str) -> str:
        missing = ", ".join(map(self.dialect.text, self.reading.file.missing))
        return self._binary(f"(CASE WHEN {text} NOT IN ({missing}) THEN {text} END)") if missing else text

    def raw_text(self) -> str:
        """The cell as a text of plain bytes."""
        kind = "STRING" if self.dialect.spark else "VARCHAR"
        return self._binary(f"CAST({self.cell} AS {kind})")

    def _binary(self, text: str) -> str:
        """The text compared by its bytes: no collation, of its column or of the session, joins two people."""
        return f"collate({text}, 'UTF8_BINARY')" if self.dialect.spark else f"({text} COLLATE c)"

    def _matches(self, text: str, pattern: str) -> str:
        word = "rlike" if self.dialect.spark else "regexp_matches"
        return f"{word}({text}, {self.dialect.text(pattern)})"

    def _text(self) -> str:
        if self.family == "text":
            return self._known(self._stripped(self.raw_text()))
        if self.family == "boolean":
            return f"(CASE WHEN {self.cell} THEN 'true' WHEN NOT {self.cell} THEN 'false' END)"
        kind = "STRING" if self.dialect.spark else "VARCHAR"
        return f"CAST({self._exact(LARGEST_WHOLE)} AS {kind})"

    def _exact(self, largest: int) -> str:
        """The whole numbers of a column of numbers; whatever is not whole, or too large, is missing."""
        if self.family == "whole":
            return f"TRY_CAST(CASE WHEN {self.cell} BETWEEN {-largest} AND {largest} THEN {self.cell} END AS BIGINT)"
        if self.family != "float":
            return "CAST(NULL AS BIGINT)"
        number, most = f"TRY_CAST({self.cell} AS DOUBLE)", min(largest, LARGEST_WHOLE)
        inside = f"(CASE WHEN {number} BETWEEN {-most} AND {most} THEN {number} END)"  # Spark's floor fails beyond 2^63
        return f"TRY_CAST(CASE WHEN {inside} = floor({inside}) THEN {inside} END AS BIGINT)"

    def _number(self, column: Number) -> str:
        if self.family == "text":
            number = self._parsed(column)
        elif self.family in ("whole", "float"):
            number = f"TRY_CAST({self.cell} AS DOUBLE)"
        elif self.family == "boolean":
            number = f"(CASE WHEN {self.cell} THEN {_double(1)} WHEN NOT {self.cell} THEN {_double(0)} END)"
        else:
            number = "CAST(NULL AS DOUBLE)"
        present = f"(CASE WHEN NOT isnan({number}) THEN {number} END)"
        if column.missing is not None:
            present = f"coalesce({present}, {_double(column.missing)})"
        low, high = _double(column.low), _double(column.high)
        inside = f"(CASE WHEN {present} < {low} THEN {low} WHEN {present} > {high} THEN {high} ELSE {present} END)"
        return f"CAST(floor({inside} / {_double(column.grid)} + {_double(0.5)}) AS BIGINT)"

    def _parsed(self, column: Number) -> str:
        text = self._stripped(self.raw_text())
        for unit in column.strip:
            text = f"replace({text}, {self.dialect.text(unit)}, '')"
        text = self._known(self._stripped(text) if column.strip else text)
        found = []
        for form in self.reading.numbers:
            plain = text
            for mark in form.thousands:
                plain = f"replace({plain}, {self.dialect.text(mark)}, '')"
            if form.decimal != ".":
                plain = f"replace({plain}, {self.dialect.text(form.decimal)}, '.')"
            found.append(f"TRY_CAST(CASE WHEN {self._matches(text, form.pattern)} THEN {plain} END AS DOUBLE)")
        return f"coalesce({', '.join(found)})"

    def _whole(self, column: Whole) -> str:
        if self.family == "text":
            text = self._known(self._stripped(self.raw_text()))
            number = f"TRY_CAST(CASE WHEN {self._matches(text, WHOLE)} THEN {text} END AS BIGINT)"
            return f"(CASE WHEN {number} BETWEEN {-column.largest} AND {column.largest} THEN {number} END)"
        return "CAST(NULL AS BIGINT)" if column.long and self.family == "float" else self._exact(column.largest)

    def _label(self, column: ColumnType) -> str:
        text, quoted = self._text(), self.dialect.text
        if isinstance(column, Category):
            cases = " ".join(f"WHEN {quoted(value)} THEN {code}" for code, value in enumerate(column.values))
            others = "NULL" if column.others is None else len(column.values)
            return f"CAST(CASE {text} {cases} ELSE {others} END AS BIGINT)"
        if isinstance(column, YesNo):
            if self.family == "boolean":
                return f"CAST(CASE WHEN {self.cell} THEN 1 WHEN NOT {self.cell} THEN 0 END AS BIGINT)"
            yes, no = (", ".join(map(quoted, texts)) for texts in (column.yes, column.no))
            return f"CAST(CASE WHEN {text} IN ({yes}) THEN 1 WHEN {text} IN ({no}) THEN 0 END AS BIGINT)"
        return self._binary(f"substr({text}, 1, {column.longest})" if isinstance(column, Found) else text)

    def _moment(self, column: Date | Time, prefix: str) -> Encoded:
        if self.family in ("date", "naive", "instant"):
            moment = from_second(Field(prefix), column, instant=self.family == "instant")
            return Encoded({prefix: self._second()}, within_bounds(moment, column))
        if self.family != "text":
            return Encoded({}, Constant(None))
        text, parts, found = self._known(self._stripped(self.raw_text())), {}, None
        for place, pattern in enumerate(self.reading.moments(column)):
            names = {token: f"{prefix}.{place}.{group}" for token, group in groups_of(pattern).items()}
            for token, group in groups_of(pattern).items():
                digits = f"regexp_extract({text}, {self.dialect.text(pattern.expression)}, {group})"
                parts[names[token]] = f"TRY_CAST({digits} AS BIGINT)"
            moment = from_digits(names, column)
            found = moment if found is None else Coalesce(found, moment)
        return Encoded(parts, within_bounds(found or Constant(None), column))

    def _second(self) -> str:
        """Seconds since 1970, cut far outside every schema, so that neither infinity nor the year 290 000 fails."""
        low, high = "1500-01-01", "3200-01-01"
        if self.family == "date":
            bounds, inside = (f"DATE '{low}'", f"DATE '{high}'"), self._days(self.cell) + f" * {DAY}"
        elif self.family == "naive":
            cell = self.cell if self.dialect.spark else f"TRY_CAST({self.cell} AS TIMESTAMP)"
            kind = "TIMESTAMP_NTZ" if self.dialect.spark else "TIMESTAMP"
            clock = f"hour({cell}) * 3600 + minute({cell}) * 60 + CAST(floor(second({cell})) AS BIGINT)"
            bounds = (f"{kind} '{low} 00:00:00'", f"{kind} '{high} 00:00:00'")
            inside = f"{self._days(f'CAST({cell} AS DATE)')} * {DAY} + {clock}"
        elif self.dialect.spark:
            bounds = (f"TIMESTAMP '{low} 00:00:00 UTC'", f"TIMESTAMP '{high} 00:00:00 UTC'")
            inside = f"unix_seconds({self.cell})"
        else:
            bounds = (f"TIMESTAMPTZ '{low} 00:00:00+00'", f"TIMESTAMPTZ '{high} 00:00:00+00'")
            inside = f"CAST(floor(epoch({self.cell})) AS BIGINT)"
        cases = f"WHEN {self.cell} < {bounds[0]} THEN {EARLIEST} WHEN {self.cell} > {bounds[1]} THEN {LATEST}"
        return f"CAST(CASE {cases} ELSE {inside} END AS BIGINT)"

    def _days(self, day: str) -> str:
        if self.dialect.spark:
            return f"CAST(unix_date({day}) AS BIGINT)"
        return f"CAST(datediff('day', DATE '1970-01-01', {day}) AS BIGINT)"


def _double(value: object) -> str:
    return f"CAST('{float(value)!r}' AS DOUBLE)"  # type: ignore[arg-type]
