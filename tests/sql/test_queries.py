"""Fifty queries of an analyst: what each becomes, or the sentence that refuses it with the book untouched."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import bruit
from bruit.errors import BudgetMissing, InvalidArgument
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category, date, found, number, text, whole, yesno

sql = pytest.importorskip("bruit.sql", reason="sqlglot is not installed", exc_type=ImportError)

STAYS: dict[str, Any] = {
    "patient": whole(),
    "stay": text(),
    "ward": category(["Cardiologie", "Urgences"]),
    "sex": category(["F", "M"], others="drop"),
    "age": number(0, 120, grid=1),
    "cost": number(0, 50_000, grid=10),
    "days": number(0, 60, grid=1),
    "admitted": date(first="2025-01-01", last="2025-12-31"),
    "city": found(longest=20),
    "note": text(),
}
TESTS: dict[str, Any] = {
    "patient": whole(),
    "result": number(0, 10, grid=1),
    "taken": date(first="2025-01-01", last="2025-12-31"),
    "kind": category(["Cardiologie", "Urgences"]),
}

LINES = [line.split("\t") for line in Path(__file__).with_name("queries.tsv").read_text().splitlines()[1:]]
ANSWERED, REFUSED, ALSO_REFUSED = (
    {query: words for kind, query, words in LINES if kind == outcome}
    for outcome in ("answered", "refused", "also refused")
)
"""Queries with their words, or with a pattern of the sentence that refuses them."""


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    rng, n = np.random.default_rng(1), 900
    stays: dict[str, Any] = {
        "patient": rng.integers(0, 300, n),
        "ward": rng.choice(["Cardiologie", "Urgences", "x / y"], n).tolist(),
        "sex": rng.choice(["F", "M"], n).tolist(),
        "age": rng.integers(0, 100, n),
        "cost": rng.gamma(2, 900, n),
        "days": rng.integers(0, 20, n),
        "admitted": [f"2025-{month:02}-15" for month in rng.integers(1, 13, n)],
        "city": rng.choice(["Lyon", "Nice / Nord"], n).tolist(),
        "stay": ["s"] * n,
        "note": ["x"] * n,
    }
    tests: dict[str, Any] = {
        "patient": range(300),
        "result": [5] * 300,
        "taken": ["2025-01-01"] * 300,
        "kind": ["Urgences"] * 300,
    }
    wards: dict[str, Any] = {
        "site": {"Cardiologie": "North", "Urgences": "South"},
        "beds": {"Cardiologie": 10, "Urgences": 4},
    }
    return {
        "stays": open_table(pl.DataFrame(stays), Schema("patient", STAYS, name="stays")),
        "tests": open_table(pl.DataFrame(tests), Schema("patient", TESTS, name="tests")),
        "wards": sql.PublicTable("ward", wards),
    }


@pytest.fixture
def book() -> Any:
    return bruit.Ledger("h", epsilon=9000, delta=0.5, neighbours=bruit.ADD_OR_REMOVE_ONE, person="patient")


def test_there_are_fifty() -> None:
    assert (len(ANSWERED), len(REFUSED)) == (32, 18)


@pytest.mark.parametrize("query", ANSWERED)
def test_a_query_becomes_a_question_in_words_and_is_answered(query: str, tables: Any, book: Any) -> None:
    limit = Limit(rows=3)
    asked = sql.translate(query, tables, limit=limit, most=3)
    assert asked.question.words == f"{ANSWERED[query]}, of {limit}"
    price = book.budget(epsilon=50, delta=1e-2)
    answer = sql.ask(query, tables=tables, budget=price, limit=limit, most=3, rng=np.random.default_rng(1))
    assert answer.frame.columns == [name for name, _ in asked.selected]
    assert answer.frame.height > 0
    assert book.spent.epsilon <= 50


@pytest.mark.parametrize("query", [*REFUSED, *ALSO_REFUSED])
def test_a_query_that_is_no_question_is_refused_by_name_and_nothing_is_paid(query: str, tables: Any, book: Any) -> None:
    price = book.budget(epsilon=1, delta=1e-3)
    with pytest.raises(InvalidArgument, match=(REFUSED | ALSO_REFUSED)[query]):
        sql.ask(query, tables=tables, budget=price, limit=Limit(rows=3), most=3)
    assert book.spent.epsilon == 0


def test_released_numbers_are_computed_with_filtered_and_ordered_for_free(tables: Any, book: Any) -> None:
    query = """select city, count(*) as n, sum(days) / count(*) as mean_days, 1 as one from stays where age >= 18
               group by city having n > 10 and sum(days) / count(*) < 100 order by n desc limit 2"""
    answer = sql.ask(query, tables=tables, budget=book.budget(epsilon=300, delta=1e-2), limit=Limit(rows=20))
    assert answer.frame.columns == ["city", "n", "mean_days", "one"]
    assert set(answer.frame["city"]) == {"Lyon", "Nice / Nord"}, "a label with a slash stays one label"
    assert answer.frame["n"].to_list() == sorted(answer.frame["n"].to_list(), reverse=True)
    stays = tables["stays"].leaves[0].source.frame.filter(pl.col("age") >= 18).collect()
    assert answer.frame["mean_days"].to_list() == pytest.approx([stays["days"].mean()] * 2, abs=1.5)
    assert answer.frame["n"].sum() == pytest.approx(stays.height, abs=2)


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("urgent", 300),
        ("urgent = true", 300),
        ("urgent <> true", 200),
        ("not urgent", 200),
        ("urgent = false", 200),
        ("true = urgent", 300),
        ("urgent = 'yes'", 300),
        ("not urgent or days > 1", 200),
    ],
)
def test_a_yes_or_no_column_is_a_condition(condition: str, rows: int) -> None:
    """What is neither yes nor no is on no side, as NULL in SQL."""
    urgent = ["oui"] * 300 + ["non"] * 200 + [None] * 100
    frame = pl.DataFrame({"patient": range(600), "urgent": urgent, "days": [1] * 600})
    columns = {"patient": whole(), "urgent": yesno(yes=["oui"], no=["non"]), "days": number(0, 9, grid=1)}
    stays = {"stays": open_table(frame, Schema("patient", columns))}
    book = bruit.Ledger("h", epsilon=1000, neighbours=bruit.ADD_OR_REMOVE_ONE, person="patient")
    query = f"select count(*) filter (where {condition}) as n, count(*) as all_rows from stays"
    answer = sql.ask(query, tables=stays, budget=book.budget(epsilon=900), limit=Limit(rows=1))
    assert answer.frame.rows() == [(rows, 600)]


def test_columns_of_an_inner_query_are_all_computed_from_its_own_rows(tables: Any) -> None:
    """Two columns may exchange their names, and the words say what each was made of."""
    inner = "select patient, days as cost, cost as days from stays"
    swapped = sql.translate(f"select sum(days) as d from ({inner})", tables, limit=Limit(rows=1)).question
    assert swapped.measures["m0"].value.numbers == tables["stays"].columns["cost"]
    assert swapped.words.startswith("sum of days of stays with cost = days, days = cost, of")
    doubled = sql.translate(
        "select sum(days) as d from (select patient, days * 2 as days from stays)", tables, limit=Limit(rows=1)
    )
    plain = sql.translate("select sum(days) as d from (select patient, days from stays)", tables, limit=Limit(rows=1))
    assert doubled.question.digest != plain.question.digest


def test_a_join_and_a_summary_say_how_many_rows_they_keep(tables: Any) -> None:
    joined = "select avg(result) from stays join tests using (patient)"
    summed = "select avg(k) from (select patient, count(*) as k from stays group by patient)"
    for query in (joined, summed):
        with pytest.raises(InvalidArgument, match=r"needs most=\.\.\.: how many rows of a person it keeps"):
            sql.translate(query, tables, limit=Limit(rows=1))


DIALECTS = (
    *("bigquery", "clickhouse", "mysql", "oracle", "postgres"),
    *("presto", "snowflake", "spark", "sqlite", "tsql"),
)
PRESENT = "select count(*) from stays where cost is not null"
WRITTEN_APART = (
    PRESENT,
    "select count(*) from stays where not cost is null",
    "select count(*) from stays where age not between 3 and 5 and ward not in ('Urgences') and days <> 5",
    "select avg(age / 10) as a from stays",
    "select approx_percentile(cost, days, 0.9) as q from stays",
)
"""Conditions, quotients and weights that dialects write or mean in ways of their own."""


def words_of(query: str, tables: Any, dialect: str) -> str | None:
    try:
        return str(sql.translate(query, tables, limit=Limit(rows=3), most=3, dialect=dialect).question.words)
    except InvalidArgument:
        return None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_means_the_same_in_every_dialect_or_is_refused(dialect: str, tables: Any) -> None:
    """PostgreSQL's IS NOT NULL was read as IS NULL, and Presto's weights of a quantile were left out."""
    for query in (*ANSWERED, *WRITTEN_APART):
        assert words_of(query, tables, dialect) in (None, words_of(query, tables, "duckdb"))
    assert "not cost is missing" in (words_of(PRESENT, tables, dialect) or "")


@pytest.mark.parametrize("dialect", ["postgres", "presto", "sqlite", "tsql"])
def test_whole_numbers_are_not_divided_where_the_dialect_rounds(dialect: str, tables: Any) -> None:
    limit = Limit(rows=1)
    with pytest.raises(InvalidArgument, match=r"age / 10 is rounded in this dialect: divide by a number with a point"):
        sql.translate("select avg(age / 10) as a from stays", tables, limit=limit, dialect=dialect)
    exact = sql.translate("select avg(age / 10.0) as a from stays", tables, limit=limit, dialect=dialect)
    assert exact.question.words.startswith("mean of (age / 10")


@pytest.mark.parametrize(
    ("query", "dialect"),
    [
        ("select ward, count(*) as n from stays group by ward with rollup", "mysql"),
        ("select ward, count(*) as n from stays group by ward with cube", "spark"),
        ("select ward, count(*) as n from stays group by ward, sex grouping sets ((ward))", "spark"),
        ("select avg(n) as a from (select patient, count(*) as n from stays group by patient with rollup) p", "mysql"),
    ],
)
def test_totals_that_stand_behind_the_keys_are_not_left_out(query: str, dialect: str, tables: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"write all of them inside|ROLLUP in GROUP BY of a summary per person"):
        sql.translate(query, tables, limit=Limit(rows=1), most=3, dialect=dialect)


CLAUSE = "select with differential_privacy options (epsilon = 0.5, max_rows_contributed = 3, privacy_unit_column = {}) "


def test_price_and_limit_may_stand_in_the_query_as_bigquery_writes_them(tables: Any, book: Any) -> None:
    query = CLAUSE.format("patient") + "ward, count(*) as n from stays group by ward"
    for dialect in ("bigquery", "duckdb"):
        answer = sql.ask(query, tables=tables, budget=book, dialect=dialect)
        assert answer.frame.columns == ["ward", "n"]
        assert answer.release.guarantee.epsilon == 0.5
        assert answer.release.details["asked"]["limit"] == {"rows": 3}
    literal = "select count(*) from stays where ward = 'select with differential_privacy'"
    with pytest.raises(InvalidArgument, match="is no label of ward"):
        sql.ask(literal, tables=tables, budget=book, limit=Limit(rows=1))


def test_what_a_query_and_its_arguments_say_differently_is_refused(tables: Any, book: Any) -> None:
    spent = book.spent.epsilon
    count = "count(*) from stays"
    plain = "select with differential_privacy options ({}) count(*) from stays"
    price = book.budget(epsilon=1)
    named = CLAUSE.format("patient") + count
    two = "max_rows_contributed = 1, max_groups_contributed = 2"
    twice = plain.format("epsilon = 1") + " union all " + plain.format("epsilon = 1")
    refused = [
        ("belong to 'patient', as it was registered", CLAUSE.format("stay") + count, book, None),
        ("another epsilon or delta than budget", named, price, None),
        ("another limit than limit=at most 2", named, book, Limit(rows=2)),
        ("two different limits", plain.format(two), price, None),
        ("say too how many rows count", plain.format("max_groups_contributed = 2"), price, None),
        ("is no option that is known", plain.format("kappa = 3"), price, None),
        ("is stated twice: state each", plain.format("epsilon = 1, epsilon = 2"), price, None),
        ("must be a whole number", plain.format("max_rows_contributed = x"), price, None),
        ("written as name = value", plain.format("epsilon 1"), price, None),
        ("a delta without an epsilon", plain.format("delta = 0.1, max_rows_contributed = 1"), price, None),
        ("stated twice: once, in the outermost", twice, price, None),
    ]
    for message, query, paid, limit in refused:
        with pytest.raises(InvalidArgument, match=message):
            sql.ask(query, tables=tables, budget=paid, limit=limit)
    with pytest.raises(BudgetMissing):
        sql.ask(named, tables=tables, budget=None)
    assert book.spent.epsilon == spent


def test_levels_of_sql_have_null_where_groups_are_taken_together(tables: Any, book: Any) -> None:
    query = "select ward, sex, count(*) as n from stays group by ward, grouping sets ((sex), ())"
    answer = sql.ask(query, tables=tables, budget=book.budget(epsilon=900), limit=Limit(rows=9))
    assert answer.frame.filter(pl.col("sex").is_null())["ward"].to_list() == ["Cardiologie", "Urgences", "OTHER"]
    n = {(ward, sex): value for ward, sex, value in answer.frame.rows()}
    assert n["Urgences", None] == pytest.approx(n["Urgences", "F"] + n["Urgences", "M"], abs=0.5)


def test_a_query_of_any_length_is_answered_or_refused(tables: Any, book: Any) -> None:
    """Also where it is nested more deeply than a parser or an engine can follow."""
    brackets = f"select {'(' * 2000}count(*){')' * 2000} from stays"
    conditions = f"select count(*) from stays where {' and '.join(['days > 1'] * 20_000)}"
    for query in (brackets, conditions):
        with pytest.raises(InvalidArgument, match="nested too deeply"):
            sql.translate(query, tables, limit=Limit(rows=3))
    first = "select ward, count(*) as n from stays group by ward limit 99999999999999999999"
    assert sql.ask(first, tables=tables, budget=book.budget(epsilon=1), limit=Limit(rows=3)).frame.height == 3
