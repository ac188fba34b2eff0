"""Random queries of the SQL door, each with what it means in plain Python: values of rows, conditions, groups, sums.

Nothing of the package is used: three-valued logic, exact fractions and Python's calendar are the reference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import floor
from random import Random
from typing import Any

Row = dict[str, Any]
Value = tuple[str, Callable[[Row], Any]]
"""An SQL expression and what it is of a row; None where it is missing."""

WARDS = ("Cardiologie", "Urgences")
SITES = {"Cardiologie": "North", "Urgences": "South"}
BEDS = {"Cardiologie": 10, "Urgences": 4}
DAYS = ("2025-01-31", "2025-03-01", "2025-11-09")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MOST = 40
"""More rows than anybody has."""


@dataclass(frozen=True)
class Asked:
    """A query, its keys and its statistics: for each name what it is of the rows of a group."""

    sql: str
    rows: Callable[[dict[str, list[Row]]], list[Row]]
    keys: dict[str, Callable[[Row], Any]]
    statistics: dict[str, Callable[[list[Row]], Any]]
    levels: tuple[tuple[str, ...], ...]

    def answer(self, tables: dict[str, list[Row]]) -> dict[tuple[Any, ...], dict[str, Any]]:
        """The statistics of each group that has rows, by its labels; None for a key that a level leaves out."""
        rows = [(row, {name: key(row) for name, key in self.keys.items()}) for row in self.rows(tables)]
        rows = [(row, labels) for row, labels in rows if None not in labels.values()]
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for level in self.levels:
            groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
            for row, labels in rows:
                groups[tuple(labels[name] if name in level else None for name in self.keys)].append(row)
            for cell, own in groups.items():
                found[cell] = {name: statistic(own) for name, statistic in self.statistics.items()}
        return found


def _label(number: Fraction | None) -> str | None:
    if number is None:
        return None
    return str(number) if number.denominator == 1 else repr(float(number))


def _both(a: bool | None, b: bool | None) -> bool | None:
    return False if a is False or b is False else None if None in (a, b) else True


def _either(a: bool | None, b: bool | None) -> bool | None:
    return True if a is True or b is True else None if None in (a, b) else False


def _known(work: Callable[..., Any], *values: Any) -> Any:
    return None if None in values else work(*values)


class Writer:
    """Writes one random query over the columns that a table has."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.numbers = ["age", "days", "cost"]
        self.labels: dict[str, tuple[str, ...]] = {"ward": (*WARDS, "OTHER"), "sex": ("F", "M")}
        self.before = ""
        self.dates, self.texts = ["admitted"], ["city"]

    def number(self, depth: int = 2) -> Value:
        """An expression that is a number."""
        rng = self.rng
        kind = rng.choice(["column"] if depth == 0 else ["column", "+", "-", "*", "/", "floor", "case", "neg"])
        if kind == "column":
            name = rng.choice(self.numbers)
            return name, lambda row: row[name]
        sql, of = self.number(depth - 1)
        if kind in ("+", "-"):
            other, of_other = self.number(0) if rng.random() < 0.5 else self.constant()
            sign = 1 if kind == "+" else -1
            return f"({sql} {kind} {other})", lambda row: _known(lambda a, b: a + sign * b, of(row), of_other(row))
        if kind in ("*", "/"):
            by = rng.choice(["2", "0.5", "3", "-1.5"])
            factor = Fraction(by) if kind == "*" else 1 / Fraction(by)
            return f"({sql} {kind} {by})", lambda row: _known(lambda a: a * factor, of(row))
        if kind == "floor":
            return f"floor({sql})", lambda row: _known(lambda a: Fraction(floor(a)), of(row))
        if kind == "neg":
            return f"(-{sql})", lambda row: _known(lambda a: -a, of(row))
        condition, holds = self.condition(1)
        other, of_other = self.constant() if rng.random() < 0.6 else ("null", lambda row: None)
        return (
            f"(case when {condition} then {sql} else {other} end)",
            lambda row: of(row) if holds(row) is True else of_other(row),
        )

    def constant(self) -> Value:
        """A number."""
        text = self.rng.choice(["0", "1", "7", "12.5", "40", "-3"])
        return text, lambda row: Fraction(text)

    def condition(self, depth: int = 2) -> Value:
        """A condition: true, false, or None where it is missing."""
        rng = self.rng
        kinds = ["compare", "columns", "between", "in", "null"]
        kinds += ["label", "labels"] * bool(self.labels) + ["date"] * bool(self.dates)
        kind = rng.choice(kinds + (["and", "or", "not"] * 2 if depth else []))
        if kind in ("and", "or"):
            (one, of_one), (two, of_two) = self.condition(depth - 1), self.condition(depth - 1)
            join = _both if kind == "and" else _either
            return f"({one} {kind} {two})", lambda row: join(of_one(row), of_two(row))
        if kind == "not":
            sql, of = self.condition(depth - 1)
            return f"(not {sql})", lambda row: _known(lambda a: not a, of(row))
        made: Value = getattr(self, f"_{kind}")()
        return made

    def _compare(self, *, columns: bool = False) -> Value:
        sql, of = self.number(1)
        other, of_other = self.number(0) if columns else self.constant()
        signs: dict[str, Callable[[Any, Any], bool]] = {
            "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
            "=": lambda a, b: a == b, "<>": lambda a, b: a != b,
        }  # fmt: skip
        sign = self.rng.choice(list(signs))
        if self.rng.random() < 0.5:
            (sql, of), (other, of_other) = (other, of_other), (sql, of)
        return f"{sql} {sign} {other}", lambda row: _known(signs[sign], of(row), of_other(row))

    def _columns(self) -> Value:
        return self._compare(columns=True)

    def _between(self) -> Value:
        sql, of = self.number(1)
        low, high = sorted(self.rng.sample([0, 3, 10, 25, 60], 2))
        return f"{sql} between {low} and {high}", lambda row: _known(lambda a: low <= a <= high, of(row))

    def _in(self) -> Value:
        sql, of = self.number(1)
        values = self.rng.sample([0, 1, 2, 3, 5, 10, 20], 3)
        no = self.rng.choice(["", "not "])
        return f"{sql} {no}in ({', '.join(map(str, values))})", lambda row: _known(
            lambda a: (a in values) != bool(no), of(row)
        )

    def _null(self) -> Value:
        sql, of = self.number(1)
        no = self.rng.choice(["", "not "])
        return f"{sql} is {no}null", lambda row: (of(row) is None) != bool(no)

    def _label(self) -> Value:
        name = self.rng.choice(list(self.labels))
        label, sign = self.rng.choice(self.labels[name]), self.rng.choice(["=", "<>"])
        return f"{name} {sign} '{label}'", lambda row: _known(lambda a: (a == label) == (sign == "="), row[name])

    def _labels(self) -> Value:
        name = self.rng.choice(list(self.labels))
        few = self.rng.sample(self.labels[name], 2)
        return f"{name} in ({', '.join(map(repr, few))})", lambda row: _known(lambda a: a in few, row[name])

    def _date(self) -> Value:
        name = self.rng.choice(self.dates)
        first, last = sorted(self.rng.sample(DAYS, 2))
        low, high = date.fromisoformat(first), date.fromisoformat(last)
        if self.rng.random() < 0.5:
            return f"{name} between '{first}' and date '{last}'", lambda row: _known(
                lambda a: low <= a <= high, row[name]
            )
        return f"{name} >= '{first}'", lambda row: _known(lambda a: a >= low, row[name])

    def key(self) -> tuple[str, Callable[[Row], Any]]:
        """A group key and the label that a row has."""
        kinds = ["bins", "case"] + ["label"] * bool(self.labels) + ["text"] * bool(self.texts)
        kind = self.rng.choice(kinds + ["month", "weekday"] * bool(self.dates))
        if kind in ("label", "text"):
            name = self.rng.choice(list(self.labels) if kind == "label" else self.texts)
            return name, lambda row: row[name]
        if kind == "month":
            name = self.rng.choice(self.dates)
            return f"date_trunc('month', {name})", lambda row: _known(lambda a: f"{a:%Y-%m}", row[name])
        if kind == "weekday":
            name = self.rng.choice(self.dates)
            return f"extract(isodow from {name})", lambda row: _known(lambda a: WEEKDAYS[a.weekday()], row[name])
        if kind == "bins":
            name = self.rng.choice(self.numbers)
            return f"floor({name} / 20) * 20", lambda row: _known(
                lambda a: _label(Fraction(floor(a / 20) * 20)), row[name]
            )
        condition, holds = self.condition(1)
        return f"case when {condition} then 'yes' else 'no' end", lambda row: "yes" if holds(row) is True else "no"

    def statistic(self) -> tuple[str, Callable[[list[Row]], Any]]:
        """An aggregate and what it is of the rows of a group; None where no row has a value."""
        rng = self.rng
        condition, holds = self.condition(1) if rng.random() < 0.4 else ("", lambda row: True)
        only = f" filter (where {condition})" if condition else ""
        kind = rng.choice(["count(*)", "count", "people", "distinct", "sum", "avg", "var_pop"])
        if kind == "count(*)":
            return f"count(*){only}", lambda rows: sum(holds(row) is True for row in rows)
        if kind == "people":
            return "count(distinct patient)", lambda rows: len({row["patient"] for row in rows})
        sql, of = self.number(1)

        def values(rows: list[Row]) -> list[Fraction]:
            return [value for row in rows if holds(row) is True and (value := of(row)) is not None]

        if kind == "distinct":
            return f"count(distinct {sql}){only}", lambda rows: len(set(values(rows)))
        work: dict[str, Callable[[Sequence[Fraction]], Any]] = {
            "count": len,
            "sum": lambda found: sum(found, Fraction(0)),
            "avg": lambda found: sum(found) / len(found) if found else None,
            "var_pop": lambda found: _variance(found) if found else None,
        }
        return f"{kind}({sql}){only}", lambda rows: work[kind](values(rows))

    def source(self) -> tuple[str, Callable[[dict[str, list[Row]]], list[Row]]]:
        """What follows FROM, and its rows; the columns that it has are noted."""
        kind = self.rng.choice(
            ["plain"] * 2 + ["inner", "cte", "join", "left", "public", "left public", "union", "person"]
        )
        made: tuple[str, Any] = getattr(self, f"_from_{kind.replace(' ', '_')}")()
        return made

    def _from_plain(self) -> tuple[str, Any]:
        return "from stays", lambda tables: tables["stays"]

    def _from_inner(self) -> tuple[str, Any]:
        """A query inside FROM, which filters rows and exchanges two columns or derives one."""
        condition, holds = self.condition(1)
        sql, of = self.number(1)
        columns = f"patient, ward, sex, admitted, city, age, days as cost, {sql} as days"
        text = f"from (select {columns} from stays where {condition})"
        return text, lambda tables: [
            row | {"cost": row["days"], "days": of(row)} for row in tables["stays"] if holds(row) is True
        ]

    def _from_cte(self) -> tuple[str, Any]:
        condition, holds = self.condition(1)
        self.before = f"with some as (select * from stays where {condition}) "
        return "from some", lambda tables: [row for row in tables["stays"] if holds(row) is True]

    def _from_join(self, *, outer: bool = False) -> tuple[str, Any]:
        self.numbers += ["result"]
        self.labels = self.labels | {"kind": (*WARDS, "OTHER")}

        def rows(tables: dict[str, list[Row]]) -> list[Row]:
            own = defaultdict(list)
            for row in tables["tests"]:
                own[row["patient"]].append(row)
            nothing: list[Row] = [{"result": None, "kind": None}] if outer else []
            return [row | more for row in tables["stays"] for more in own[row["patient"]] or nothing]

        return f"from stays {'left ' * outer}join tests using (patient)", rows

    def _from_left(self) -> tuple[str, Any]:
        return self._from_join(outer=True)

    def _from_public(self, *, outer: bool = False) -> tuple[str, Any]:
        self.labels = self.labels | {"site": ("North", "South")}
        self.numbers += ["beds"]
        return f"from stays {'left ' * outer}join wards using (ward)", lambda tables: [
            row | {"site": SITES.get(row["ward"]), "beds": _known(Fraction, BEDS.get(row["ward"]))}
            for row in tables["stays"]
            if outer or row["ward"] in SITES
        ]

    def _from_left_public(self) -> tuple[str, Any]:
        return self._from_public(outer=True)

    def _from_union(self) -> tuple[str, Any]:
        self.numbers, self.labels, self.dates, self.texts = ["days"], {"ward": (*WARDS, "OTHER")}, [], []
        one = "select patient, ward, days from stays"
        other = "select patient, kind as ward, result as days from tests"
        return f"from ({one} union all {other})", lambda tables: [
            *tables["stays"],
            *({"patient": row["patient"], "ward": row["kind"], "days": row["result"]} for row in tables["tests"]),
        ]

    def _from_person(self) -> tuple[str, Any]:
        """One row a person, of summaries of their rows."""
        condition, holds = self.condition(1)
        sql, of = self.number(1)
        self.numbers, self.labels, self.dates, self.texts = ["age", "days", "cost"], {}, [], []
        inner = f"select patient, count(*) as age, sum({sql}) as days, max(cost) as cost from stays where {condition}"

        def rows(tables: dict[str, list[Row]]) -> list[Row]:
            own = defaultdict(list)
            for row in tables["stays"]:
                if holds(row) is True:
                    own[row["patient"]].append(row)
            return [
                {
                    "patient": patient,
                    "age": Fraction(len(each)),
                    "days": sum((value for row in each if (value := of(row)) is not None), Fraction(0)),
                    "cost": max((row["cost"] for row in each if row["cost"] is not None), default=None),
                }
                for patient, each in own.items()
            ]

        return f"from ({inner} group by patient)", rows


def query(rng: Random) -> Asked:
    """A random query with its meaning."""
    writer = Writer(rng)
    source, rows = writer.source()
    condition, holds = writer.condition() if rng.random() < 0.5 else ("", lambda row: True)
    different = dict(writer.key() for _ in range(rng.choice([0, 1, 1, 2])))
    keys = {f"k{i}": key for i, key in enumerate(different.items())}
    statistics = {f"s{i}": writer.statistic() for i in range(rng.choice([1, 2, 3]))}
    selected = [f"{sql} as {name}" for name, (sql, _) in (keys | statistics).items()]
    grouped = f" group by {', '.join(keys)}" if keys else ""
    levels: tuple[tuple[str, ...], ...] = (tuple(keys),)
    if keys and rng.random() < 0.3:
        grouped = f" group by rollup ({', '.join(keys)})"
        levels = tuple(tuple(keys)[:length] for length in range(len(keys), -1, -1))
    where = f" where {condition}" if condition else ""
    return Asked(
        f"{writer.before}select {', '.join(selected)} {source}{where}{grouped}",
        lambda tables: [row for row in rows(tables) if holds(row) is True],
        {name: of for name, (_, of) in keys.items()},
        {name: of for name, (_, of) in statistics.items()},
        levels,
    )


def _variance(values: Sequence[Fraction]) -> Fraction:
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
