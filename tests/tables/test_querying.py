from collections.abc import Iterator
from pathlib import Path
from typing import Any

import exact_integers as exact
import polars as pl
import pytest
from sqlalchemy import Column, Float, Integer, MetaData, String, Table, create_engine, select, text

from bruit import tables
from bruit.errors import InvalidArgument
from bruit.privacy import EACH_ROW
from bruit.tables.schema import text as texts
from bruit.tables.sources import queries

ROWS = 1000
PEOPLE = Table(
    "people", MetaData(), Column("id", Integer), Column("x", Float), Column("city", String), Column("name", String)
)


@pytest.fixture
def frame() -> pl.DataFrame:
    place = pl.int_range(ROWS, eager=True)
    return pl.DataFrame(
        {
            "id": place % 170,
            "x": (place * 0.37 % 12).set(place % 13 == 0, None),
            "city": pl.Series(["Paris", "Lyon", "elsewhere", None] * 250),
        }
    ).with_columns(name=pl.format("person {}", "id"))


@pytest.fixture
def engine(frame: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(queries, "BATCH", 128)
    engine = create_engine(f"sqlite:///{tmp_path}/people.db")
    PEOPLE.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(PEOPLE.insert(), frame.to_dicts())
    yield engine
    engine.dispose()


def exact_parts(table: Any) -> tuple[Any, ...]:
    table = table if table.person == EACH_ROW else table.limit(groups=2, each=2)
    x, city = table["x"].within(0, 10, grid="0.5", missing=1), table["city"].among(["Paris", "Lyon"])
    return (
        exact.count(table),
        exact.total(x),
        exact.histogram(city, x).tolist(),
        exact.group_totals(city, x).tolist(),
        exact.found_groups(table["city"]),
    )


@pytest.mark.parametrize("person", ["name", EACH_ROW])
@pytest.mark.parametrize(
    "query",
    [
        select(PEOPLE),
        text("select * from people where id >= :least").bindparams(least=0),
        "select name, city, id, x from people;",
    ],
    ids=["select", "text", "string"],
)
def test_a_query_gives_the_integers_of_the_same_frame(
    query: Any, person: str, engine: Any, frame: pl.DataFrame
) -> None:
    read = tables.read(query, person=person, connection=engine)
    assert exact_parts(read) == exact_parts(tables.read(frame, person=person))


def test_people_named_by_numbers_in_a_selection_are_those_of_their_digits(engine: Any, frame: pl.DataFrame) -> None:
    read = tables.read(select(PEOPLE), person="id", connection=engine)
    assert exact_parts(read) == exact_parts(tables.read(frame, person="id", named=texts()))


def test_rule_2_a_value_of_another_type_is_missing(engine: Any) -> None:
    """SQLite lets a column of numbers hold anything, and writes an infinite number as no number."""
    with engine.begin() as connection:
        connection.exec_driver_sql("delete from people")
        connection.exec_driver_sql("insert into people (id, x) values (1, 5), (2, 'five'), (3, x'00ff'), (4, 9e999)")
    x = tables.read(select(PEOPLE), person=EACH_ROW, connection=engine)["x"]
    assert exact.total(x.within(0, 10, grid=1)) == 5
    assert exact.total(x.within(0, 10, grid=1, missing=2)) == 5 + 2 + 2 + 2


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("select * from nowhere", "does not answer"),
        (42, "not a query"),
    ],
)
def test_a_query_that_cannot_be_asked_is_refused_when_the_table_is_opened(query: Any, words: str, engine: Any) -> None:
    with pytest.raises(InvalidArgument, match=words):
        tables.read(query, person=EACH_ROW, connection=engine)


def test_a_query_needs_an_engine() -> None:
    with pytest.raises(InvalidArgument, match="create_engine"):
        tables.read("select 1", person=EACH_ROW, connection="sqlite:///people.db")


def test_a_database_that_one_thread_sees_is_refused_when_it_is_opened() -> None:
    engine = create_engine("sqlite:///:memory:")
    with engine.begin() as connection:
        connection.exec_driver_sql("create table people as select 1 as id")
    with pytest.raises(InvalidArgument, match="does not answer"):
        tables.read("select id from people", person=EACH_ROW, connection=engine)


def test_opening_a_query_reads_no_row(engine: Any) -> None:
    """A function of the database that fails on a record fails only when a release was paid."""
    failing = "select abs(case when id = 3 then -9223372036854775808 else id end) as x from people"
    table = tables.read(failing, person=EACH_ROW, connection=engine)
    assert list(table.columns) == ["x"]
