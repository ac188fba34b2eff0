"""Random queries: the exact integers are those of plain Python, on every engine, and no person moves them too far."""

import datetime
from fractions import Fraction
from random import Random
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from random_queries import BEDS, MOST, SITES, WARDS, Asked, Row, query

from bruit.central.questions import Limit, Question, asking
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE
from bruit.errors import BruitError
from bruit.tables.plan.operators import Plan, open_table
from bruit.tables.schema import Schema, category, date, found, number, whole

sql = pytest.importorskip("bruit.sql", reason="sqlglot is not installed", exc_type=ImportError)

DAY = {"first": "2025-01-01", "last": "2025-12-31", "outside": "drop"}
SCHEMAS: dict[str, dict[str, Any]] = {
    "stays": {
        "patient": whole(),
        "ward": category(list(WARDS)),
        "sex": category(["F", "M"], others="drop"),
        "age": number(0, 120, grid=1),
        "days": number(0, 60, grid=1),
        "cost": number(0, 500, grid=Fraction(5, 2)),
        "admitted": date(**DAY),
        "city": found(longest=20),
    },
    "tests": {"patient": whole(), "result": number(0, 60, grid=1), "kind": category(list(WARDS))},
}


def person(rng: Random, patient: int) -> dict[str, list[Row]]:
    """The rows that a person has in both tables, some values missing."""

    def some(value: Any) -> Any:
        return None if rng.random() < 0.15 else value

    def stay() -> Row:
        return {
            "patient": patient,
            "ward": rng.choice([*WARDS, "OTHER"]),
            "sex": some(rng.choice("FM")),
            "age": some(Fraction(rng.randrange(121))),
            "days": some(Fraction(rng.randrange(61))),
            "cost": some(Fraction(rng.randrange(201) * 5, 2)),
            "admitted": some(datetime.date(2025, 1, 1) + datetime.timedelta(days=rng.randrange(365))),
            "city": some(rng.choice(["Lyon", "Nice", "Aix"])),
        }

    def test() -> Row:
        kind = rng.choice([*WARDS, "OTHER"])
        return {"patient": patient, "result": some(Fraction(rng.randrange(61))), "kind": kind}

    twice = [stay() for _ in range(rng.randrange(4))]
    return {"stays": twice + twice[:1] + [stay()], "tests": [test() for _ in range(rng.randrange(3))]}


def together(people: list[dict[str, list[Row]]]) -> dict[str, list[Row]]:
    return {name: [row for each in people for row in each[name]] for name in SCHEMAS}


def opened(tables: dict[str, list[Row]], engine: str) -> dict[str, Any]:
    """The tables inside an engine; numbers as floats, dates as dates."""
    plans: dict[str, Any] = {"wards": sql.PublicTable("ward", {"site": SITES, "beds": BEDS})}
    held = duckdb.connect()
    for name, columns in SCHEMAS.items():
        shown = [{k: float(v) if isinstance(v, Fraction) else v for k, v in row.items()} for row in tables[name]]
        typed = {"patient": pl.Int64, "admitted": pl.Date}
        kinds = {k: typed.get(k, pl.Float64 if c.type == "number" else pl.String) for k, c in columns.items()}
        source: Any = pl.DataFrame(shown, schema=kinds)
        if engine == "duckdb":
            held.register(f"given {name}", source.to_arrow())
            held.execute(f'create table {name} as select * from "given {name}"')
            source = held.table(name)
        plans[name] = open_table(source, Schema("patient", columns, name=name))
    return plans


Cells = list[dict[Any, dict[str, list[int]]]]
"""For each level the integers of each group, by measure."""


def integers(question: Question, key: int) -> Cells:
    """The exact integers of a question, from rows chosen by a key."""
    levels = question.levels_asked
    read = question.reader.read_levels(np.random.default_rng(key), [level.places for level in levels])
    found: Cells = []
    for level, exact in zip(levels, read, strict=True):
        cells = level.cells if exact.found is None else [level.found_cell(*each) for each in exact.found]
        place, own = int(question.is_found), {cell: dict[str, list[int]]() for cell in cells}
        for name, measure in question.measures.items():
            parts = exact.parts[place : place + len(measure.parts)]
            for i, cell in enumerate(cells):
                own[cell][name] = [int(part[i]) for part in parts]
            place += len(parts)
        found.append(own)
    return found


def value(measure: Any, parts: list[int]) -> Any:
    """What a measure says by its exact integers: None for the mean of nobody."""
    if measure.value is None or measure.what in ("non_missing", "distinct"):
        return parts[0]
    numbers = measure.value.numbers
    if measure.what == "sum":
        return parts[0] * numbers.grid
    if not sum(parts):
        return None
    width, shares = numbers.size - 1, [Fraction(part, sum(parts)) for part in parts]
    if measure.what == "mean":
        return (numbers.lowest + shares[0] * width) * numbers.grid
    return (shares[2] - (shares[2] + shares[1] / 2) ** 2) * (width * numbers.grid) ** 2


REFUSED = ("can only be one number", "too fine for a variance", "state its bounds", "told apart")
"""What a random query may be refused for: its bounds, or that it measures nothing."""


def translated(asked: Asked, tables: dict[str, Any], limit: Limit) -> Any:
    """The question of a query, or None where it is refused by its bounds."""
    try:
        return sql.translate(asked.sql, tables, limit=limit, most=MOST)
    except BruitError as refused:
        if any(words in str(refused) for words in REFUSED):
            return None
        raise


@pytest.mark.parametrize("seed", range(40))
def test_a_random_query_has_the_answer_of_plain_python_on_every_engine(seed: int) -> None:
    """Where the limit binds nobody, its exact integers are what the query means."""
    rng = Random(seed)
    tables = together([person(rng, patient) for patient in range(8)])
    asked = query(rng)
    by_engine = [translated(asked, opened(tables, engine), Limit(rows=MOST**2)) for engine in ("polars", "duckdb")]
    if by_engine[0] is None:
        return
    one, other = (integers(each.question, seed) for each in by_engine)
    assert one == other, asked.sql
    measures, truth = by_engine[0].question.measures, asked.answer(tables)
    named = {name: by_engine[0].measured.get(node.sql()) for name, node in by_engine[0].selected}
    for cell, parts in ((cell, parts) for level in one for cell, parts in level.items()):
        for name, measure in named.items():
            if measure is not None:
                exact = value(measures[measure], parts[measure])
                own = truth.get(cell)
                assert exact == (own[name] if own else None if measures[measure].what in ("mean", "variance") else 0), (
                    asked.sql,
                    cell,
                    name,
                )
    assert set(truth) <= {cell for level in one for cell in level}


@pytest.mark.parametrize("seed", range(40))
def test_rule_12_one_person_moves_a_random_query_by_its_sensitivity(seed: int) -> None:
    rng = Random(1000 + seed)
    people = [person(rng, patient) for patient in range(6)]
    asked = query(rng)
    limit = rng.choice([Limit(rows=1), Limit(rows=2), Limit(rows=4), Limit(groups=1, each=2), Limit(groups=2, each=1)])
    without, another = people[:-1], [*people[:-1], person(rng, rng.choice([5, 77]))]
    engine = rng.choice(["polars", "duckdb"])
    found = []
    for table in (people, without, another):
        asking = translated(asked, opened(together(table), engine), limit)
        if asking is None:
            return
        found.append(integers(asking.question, seed))
    for relation, other in ((ADD_OR_REMOVE_ONE, found[1]), (REPLACE_ONE, found[2])):
        for level, one, two in zip(asking.question.levels_asked, found[0], other, strict=True):
            for name, measure in asking.question.measures.items():
                bound = asking.question.sensitivity(name, relation, level)
                nothing = {name: [0] * len(measure.parts)}
                moved = np.array(
                    [np.subtract(one.get(cell, nothing)[name], two.get(cell, nothing)[name]) for cell in {*one, *two}]
                    or [[0]]
                )
                assert np.abs(moved).sum() <= bound.l1, asked.sql
                assert (moved**2).sum() <= bound.l2_squared, asked.sql
                assert np.abs(moved).max() <= bound.linf, asked.sql


def test_rule_12_a_limit_that_is_not_kept_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: rows are chosen by the limit, and priced as if one row counted."""
    true = asking.sensitivity  # type: ignore[attr-defined]
    monkeypatch.setattr(asking, "sensitivity", lambda row, limit, **more: true(row, Limit(rows=1), **more))
    with pytest.raises(AssertionError, match="select"):
        for seed in range(40):
            test_rule_12_one_person_moves_a_random_query_by_its_sensitivity(seed)


def test_a_query_that_means_something_else_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: a public table that is joined keeps rows which it does not list."""
    true = Plan.lookup
    monkeypatch.setattr(Plan, "lookup", lambda plan, public, *, on, outer=True: true(plan, public, on=on))
    with pytest.raises(AssertionError, match="join wards"):
        for seed in range(40):
            test_a_random_query_has_the_answer_of_plain_python_on_every_engine(seed)
