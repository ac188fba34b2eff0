"""Declared columns of any source: the same exact integers, and no further from them than one person may be."""

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import exact_integers as exact
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit import tables
from bruit.errors import InvalidArgument
from bruit.privacy import EACH_ROW
from bruit.tables.schema import text

ENGINES = ["polars", "lazy", "pandas", "arrow", "duckdb", "parquet"]


@pytest.fixture(scope="module")
def people() -> Any:
    rng = np.random.default_rng(3)
    value = rng.normal(5, 3, 3000)
    value[::7] = np.nan
    value[1::97] = np.inf
    return pl.DataFrame(
        {
            "id": rng.integers(-200, 400, 3000),
            "value": value,
            "city": rng.choice(["Paris", "Lyon", "elsewhere", None], 3000),
        }
    ).with_columns(name=pl.format("person {}", "id"))


def open_with(engine: Any, people: Any, folder: Any, person: Any, **how: Any) -> Any:
    if engine == "duckdb":
        return tables.read(duckdb.from_arrow(people.to_arrow()), person=person, **how)
    if engine == "parquet":
        people.write_parquet(folder / "people.parquet")
        return tables.read(folder / "people.parquet", person=person, **how)
    as_engine = {"polars": people, "lazy": people.lazy(), "pandas": people.to_pandas(), "arrow": people.to_arrow()}
    return tables.read(as_engine[engine], person=person, **how)


@pytest.mark.parametrize("person", ["id", "name", EACH_ROW])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_integers(engine: Any, person: Any, people: Any, tmp_path: Path) -> None:
    ours, reference = (open_with(name, people, tmp_path, person, named=text()) for name in (engine, "polars"))
    limits = [{}] if person == EACH_ROW else [{"rows": 2}, {"groups": 2, "each": 2}]
    for limit in limits:
        assert exact_parts(ours.limit(**limit) if limit else ours) == exact_parts(
            reference.limit(**limit) if limit else reference
        )


def exact_parts(table: Any) -> Any:
    value, city = table["value"].within(0, 10, grid="0.5"), table["city"].among(["Paris", "Lyon"])
    return (
        exact.count(table),
        exact.count(value),
        exact.total(value),
        exact.tally(value),
        exact.histogram(city).tolist(),
        exact.histogram(city, value).tolist(),
        exact.group_totals(city, value).tolist(),
        exact.found_groups(table["city"]),
    )


@pytest.mark.parametrize("person", ["id", "name"])
def test_rule_6_each_person_counts_with_as_many_rows_as_the_limit_says(person: Any, people: Any) -> None:
    table = tables.read(people, person=person)
    rows = Counter(people[person].to_list())
    assert exact.count(table.limit(rows=2)) == sum(min(number, 2) for number in rows.values())
    cities = people.with_columns(pl.col("city").replace_strict(["Paris", "Lyon"], [0, 1], default=2))
    pairs = Counter(cities.select(person, "city").iter_rows())
    by_person = {who: sorted((min(n, 2) for (other, _), n in pairs.items() if other == who)) for who in rows}
    city = table.limit(groups=1, each=2)["city"].among(["Paris", "Lyon"])
    assert sum(each[0] for each in by_person.values()) <= exact.histogram(city).sum()
    assert exact.histogram(city).sum() <= sum(each[-1] for each in by_person.values())


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=25),
    st.lists(st.integers(0, 3), max_size=8),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_rule_6_one_person_moves_no_more_than_the_limit(
    others: list[tuple[int, int]], own: list[int], rows: int, groups: int
) -> None:
    def counts(pairs: Any, **limit: Any) -> Any:
        frame = pl.DataFrame(pairs, schema={"id": pl.Int64, "cell": pl.Int64}, orient="row")
        column = tables.read(frame, person="id").limit(**limit)["cell"].within(0, 3, grid=1)
        return exact.histogram(column), exact.total(column), exact.count(column.table)

    more = [*others, *((99, cell) for cell in own)]
    (cells, total, number), (cells_more, total_more, number_more) = counts(others, rows=rows), counts(more, rows=rows)
    assert ((cells_more - cells) >= 0).all()
    assert (cells_more - cells).sum() <= rows
    assert 0 <= total_more - total <= 3 * rows
    assert 0 <= number_more - number <= rows
    moved = counts(more, groups=groups, each=rows)[0] - counts(others, groups=groups, each=rows)[0]
    assert moved.min() >= 0
    assert moved.max() <= rows
    assert (moved > 0).sum() <= groups


def test_a_row_that_names_no_person_is_dropped() -> None:
    frame = pl.DataFrame({"id": [1, None, 2, None], "x": [1.0, 2.0, 3.0, 4.0]})
    table = tables.read(frame, person="id").limit(rows=5)
    assert exact.count(table) == 2
    assert exact.total(table["x"].within(0, 10, grid=1)) == 4


def test_an_empty_table_counts_nothing() -> None:
    table = tables.read(pl.DataFrame({"x": pl.Series([], dtype=pl.Float64)}), person=EACH_ROW)
    column = table["x"].within(0, 10, grid=1)
    assert (exact.count(table), exact.total(column)) == (0, 0)
    assert exact.histogram(column).sum() == 0


@pytest.mark.parametrize("kind", [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_people_named_by_any_integers_are_the_same_people(kind: Any, engine: Any, tmp_path: Path) -> None:
    """The largest and the least of each type, too; beyond 63 bits a number names nobody, on either side of zero."""
    ends = [int(pl.select(kind.max()).item()), int(pl.select(kind.min()).item())]
    frame = pl.DataFrame({"id": pl.Series([*ends, 1, 1, 7, 100] * 5, dtype=kind), "x": list(range(30))})
    named = len({each for each in (*ends, 1, 7, 100) if abs(each) < 2**63})
    for rows in (1, 2):
        table = open_with(engine, frame, tmp_path, "id").limit(rows=rows)
        assert exact.count(table) == rows * named
        wide = frame.with_columns(pl.col("id").cast(pl.Int64, strict=False))
        reference = tables.read(wide, person="id").limit(rows=rows)
        counted, expected = (exact.histogram(each["x"].within(0, 30, grid=1)) for each in (table, reference))
        assert counted.tolist() == expected.tolist()


def test_a_column_may_be_counted_under_two_domains(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("x\n1\n2\nnone\n")
    for table in (
        tables.read(tmp_path / "people.csv", person=EACH_ROW),
        tables.read(pl.read_csv(tmp_path / "people.csv").to_pandas(), person=EACH_ROW),
        tables.read(duckdb.sql(f"select * from read_csv('{tmp_path}/people.csv', all_varchar=true)"), person=EACH_ROW),
    ):
        words, number = table["x"].among(["none"]), table["x"].within(0, 2, grid=1, missing=0)
        assert exact.histogram(words, number).tolist() == [[1, 0, 0], [0, 1, 1]]
        assert exact.group_totals(words, number).tolist() == [0, 3]


def test_people_are_counted_in_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines count rows in 32 bits; what is added up over people must not be."""
    frame = pl.DataFrame({"id": [1, 1, 2], "x": [2**31, 2**31, 2**31]})
    table = tables.read(frame, person="id").limit(rows=2)
    assert exact.total(table["x"].within(0, 2**31, grid=1)) == 3 * 2**31
    plan, _ = tables.plan_for(table, ())
    counted = exact.Reader(plan, (), (exact.Part("rows"), exact.Part("people")), table.bounds)  # type: ignore[attr-defined]
    read = monkeypatch_frames(monkeypatch, counted)
    assert {kind for name, kind in read.items() if name.startswith("part")} == {pl.Int64}


def monkeypatch_frames(monkeypatch: pytest.MonkeyPatch, reader: Any) -> Any:
    """The types of the columns that come back from the engine."""
    seen = {}
    arranged = type(reader)._arranged

    def noted(self: Any, frame: Any, *rest: Any) -> Any:
        seen.update(frame.schema)
        return arranged(self, frame, *rest)

    monkeypatch.setattr(type(reader), "_arranged", noted)
    reader.read(np.random.default_rng(1))
    return seen


def test_a_column_cannot_be_called_as_the_word_for_every_row() -> None:
    """As person= it would silently mean that each row is a person of its own."""
    frame = pl.DataFrame({EACH_ROW: [1, 1, 2], "x": [1, 2, 3]})
    with pytest.raises(InvalidArgument, match="give the column another name"):
        tables.read(frame, person=EACH_ROW)


def test_the_column_of_the_person_is_no_other_column() -> None:
    table = tables.read(pl.DataFrame({"id": [1, 2]}), person="id").limit(rows=1)
    with pytest.raises(InvalidArgument, match="says whose row it is"):
        tables.plan_for(table, [table["id"].within(0, 9, grid=1)])
