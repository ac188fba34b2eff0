"""Compiles operations to one SQL statement for DuckDB or Spark, each step a named subquery."""

from __future__ import annotations

from bruit.core.neighbours import EACH_ROW
from bruit.tables.cells.polars_cells import Encoded
from bruit.tables.column_names import OWN
from bruit.tables.expressions.nodes import Field, Node, replaced, text_numbers
from bruit.tables.expressions.to_sql import Dialect, to_sql
from bruit.tables.relations.operations import (
    PERSON,
    ROOM,
    Copies,
    Filter,
    Group,
    Join,
    Least,
    LeastNumbers,
    Operation,
    Placed,
    Project,
    Scan,
    Union,
)
from bruit.tables.sources.opening import Source


class Statement:
    """Writes operations as subqueries of one WITH statement; `leaves` are its sources, in order, called `leaf` 0, …"""

    def __init__(self, dialect: Dialect, *, leaf: str = "leaf_") -> None:
        self.dialect, self.called = dialect, leaf
        self.steps: dict[int, str] = {}
        self.texts: list[str] = []
        self.leaves: list[Source] = []
        self.unread: set[int] = set()  # scans whose persons stay texts as they stand, which `Placed` reads

    def write(self, operation: Operation) -> str:
        """The whole SQL statement of an operation."""
        last = self._step(operation)
        return f"WITH {', '.join(self.texts)} SELECT * FROM {last}"

    def leaf(self, source: Source) -> str:
        """The name by which the statement refers to a source."""
        if not any(each is source for each in self.leaves):
            self.leaves.append(source)
        return f"{self.called}{next(place for place, each in enumerate(self.leaves) if each is source)}"

    def _step(self, operation: Operation, *, kept: bool = False) -> str:
        if id(operation) not in self.steps:
            self.steps[id(operation)] = self._named(self._text(operation), kept=kept)
        return self.steps[id(operation)]

    def _named(self, text: str, *, kept: bool) -> str:
        """The name of a new subquery; one that is `kept` is worked out once, whoever reads it (DuckDB)."""
        name = f"step_{len(self.texts)}"
        self.texts.append(f"{name} AS {'MATERIALIZED ' if kept else ''}({text})")
        return name

    def _own(self, name: str) -> str:
        return self._names((OWN + name,))

    def _names(self, names: tuple[str, ...], prefix: str = "") -> str:
        return ", ".join(prefix + self.dialect.identifier(name) for name in names)

    def _text(self, operation: Operation) -> str:
        match operation:
            case Scan():
                return self._scan(operation)
            case Project(source, columns):
                return self._project(self._step(source), columns)
            case Filter(source, condition):
                return f"SELECT * FROM {self._step(source)} WHERE {to_sql(condition, self.dialect)}"
            case Group():
                return self._group(operation)
            case Copies():
                return self._copies(operation)
            case Least() | LeastNumbers():
                return self._least(operation)
            case Placed():
                return self._placed(operation)
            case Join(left, right, on, columns, outer):
                return self._join(self._step(left), self._step(right), on, columns, outer=outer)
            case Union(inputs, columns):
                parts = (f"SELECT {self._names(columns)} FROM {self._step(each)}" for each in inputs)
                return " UNION ALL ".join(parts)
        raise TypeError(operation)

    def _project(self, step: str, columns: tuple[tuple[str, Node], ...]) -> str:
        """New columns; in DuckDB, which keeps a step for all who read it, each different text is hashed once."""
        found = {} if self.dialect.spark else {node: None for _, each in columns for node in text_numbers(each)}
        joins = ""
        for place, node in enumerate(found):
            text, once_text = self._names((node.text.name,)), self._names((f"{OWN}text {place}",))
            number = self._names((f"{OWN}number {place}",))
            once = f"SELECT DISTINCT {text} AS {once_text} FROM {step} WHERE {text} IS NOT NULL"
            hashed = self.dialect.text_number(once_text, node.key)
            joins += (
                f" LEFT JOIN (SELECT {once_text}, {hashed} AS {number} FROM ({once})) n_{place}"
                f" ON {step}.{text} = n_{place}.{once_text}"
            )
        fields: dict[Node, Node] = {node: Field(f"{OWN}number {place}") for place, node in enumerate(found)}
        swapped = ((name, replaced(node, fields)) for name, node in columns)
        named = ", ".join(f"{to_sql(node, self.dialect)} AS {self._names((name,))}" for name, node in swapped)
        return f"SELECT {named} FROM {step}{joins}"

    def _scan(self, scan: Scan) -> str:
        parts, values = [], []
        wanted = [(name, name) for name in scan.columns]
        person = scan.person and scan.schema.person != EACH_ROW
        wanted += [(scan.schema.person, PERSON)] if person else []
        for place, (name, called) in enumerate(wanted):
            encoded = scan.source.encode(name, scan.schema, prefix=f"c{place}")
            if called == PERSON and id(scan) in self.unread:
                encoded = Encoded({f"c{place}": str(scan.source.unread(name))}, Field(f"c{place}"))
            parts += [f"{text} AS {self._names((part,))}" for part, text in encoded.parts.items()]
            values.append(f"{to_sql(encoded.value, self.dialect)} AS {self._names((called,))}")
        leaf = self.leaf(scan.source)
        inner = f"SELECT {', '.join(parts)} FROM {leaf}" if parts else f"SELECT 1 AS c FROM {leaf}"
        read = f"SELECT {', '.join(values) or '1 AS c'} FROM ({inner})"
        return f"SELECT * FROM ({read}) WHERE {self._names((PERSON,))} IS NOT NULL" if person else read

    def _group(self, group: Group) -> str:
        wanted = [*(self._names((key,)) for key in group.keys), *(self._aggregate(*each) for each in group.aggregates)]
        source = self._step(group.input)
        if group.gathered and self.dialect.spark:
            source = f"(SELECT * FROM {source} DISTRIBUTE BY {self._names((PERSON,))})"
        return f"SELECT {', '.join(wanted)} FROM {source} GROUP BY {self._names(group.keys)}"

    def _aggregate(self, name: str, what: str, column: str | None) -> str:
        called = self._names((name,))
        if column is None:
            return f"CAST(count(*) AS BIGINT) AS {called}"
        inner = self._names((column,))
        function = f"count(DISTINCT {inner})" if what == "distinct" else f"{what}({inner})"
        return f"CAST({function} AS BIGINT) AS {called}"

    def _copies(self, copies: Copies) -> str:
        """The first copy of every row, and beside them the further ones of the few rows that have any.

        Spark would read the rows a second time for the second part: there one pass makes both.
        """
        columns, source = self._names(copies.columns), self._step(copies.input)
        count, copy = self._names((copies.count,)), self._names((copies.copy,))
        number = f"least({count}, CAST({copies.most} AS BIGINT))"
        if self.dialect.spark:
            places = f"CASE WHEN {count} > 1 THEN sequence(0L, {number} - 1L) ELSE array(0L) END"
            return f"SELECT {columns}, explode({places}) AS {copy} FROM {source}"
        first = f"SELECT {columns}, CAST(0 AS BIGINT) AS {copy} FROM {source}"
        further = f"SELECT {columns}, unnest(range(1, {number})) AS {copy} FROM {source} WHERE {count} > 1"
        return f"{first} UNION ALL {further}"

    def _least(self, least: Least | LeastNumbers) -> str:
        if isinstance(least, LeastNumbers):  # by a window too: DuckDB's min(…, n) fails beyond its memory
            by, number = least.by, least.number
            least = Least(least.input, (*by, number), by, (number,), least.most)
        order = ", ".join(f"{self._names((name,))} ASC NULLS FIRST" for name in least.order)
        place = self._names((f"{OWN}place",))
        number = f"row_number() OVER (PARTITION BY {self._names(least.by)} ORDER BY {order})"
        numbered = f"SELECT *, {number} AS {place} FROM {self._step(least.input)}"
        return f"SELECT {self._names(least.columns)} FROM ({numbered}) WHERE {place} <= {least.most}"

    def _placed(self, placed: Placed) -> str:
        """Each different text is read, hashed and numbered once; the list is kept, so that all see one order."""
        scan, cell, text, place = _scan_below(placed.input), *map(self._own, ("cell", "text", "place"))
        column, reading = self._names((PERSON,)), self._names((PERSON,))
        if scan is not None and scan.source.unread(scan.schema.person) is not None:
            self.unread.add(id(scan))
            column = self._names((scan.schema.person,))
            [reading] = scan.source.encode(scan.schema.person, scan.schema, prefix=text).parts.values()
        source, person = self._step(placed.input, kept=True), self._names((PERSON,))
        different = f"SELECT DISTINCT {person} AS {column} FROM {source}"
        cells = self._named(f"SELECT {column} AS {cell}, {reading} AS {text} FROM ({different})", kept=True)
        number = f"row_number() OVER () * {ROOM} + {self.dialect.text_number(text, placed.key)}"
        texts = f"SELECT DISTINCT {text} FROM {cells} WHERE {text} IS NOT NULL"
        names = self._named(f"SELECT {text}, {number} AS {place} FROM ({texts})", kept=True)
        listed = f"SELECT {cell}, {place} FROM {cells} JOIN {names} USING ({text})"
        kept = self._names((PERSON, *placed.columns)).replace(person, f"{place} AS {person}", 1)
        return f"SELECT {kept} FROM {source} JOIN ({listed}) ON {person} = {cell}"

    def _join(self, left: str, right: str, on: tuple[str, ...], columns: tuple[str, ...], *, outer: bool) -> str:
        equal = " AND ".join(f"l.{self._names((name,))} = r.{self._names((name,))}" for name in on)
        kept = f", {self._names(columns, 'r.')}" if columns else ""
        return f"SELECT l.*{kept} FROM {left} l {'LEFT' if outer else 'INNER'} JOIN {right} r ON {equal}"


def _scan_below(operation: Operation) -> Scan | None:
    """The scan whose persons pass through filters and new columns alone, looked at by none of them, if it is one."""
    while isinstance(operation, Project | Filter):
        looked = (
            [operation.condition] if isinstance(operation, Filter) else [n for c, n in operation.columns if c != PERSON]
        )
        if any(PERSON in node.fields() for node in looked):
            return None
        operation = operation.input
    return operation if isinstance(operation, Scan) else None
