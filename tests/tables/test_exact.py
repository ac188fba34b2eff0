from collections import Counter, defaultdict

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit import tables
from bruit.privacy import EACH_ROW

KEY = tables.Key(123_456_789, 987_654_321, 55_555)
ENGINES = ["polars", "lazy", "pandas", "arrow", "duckdb", "parquet"]


@pytest.fixture(scope="module")
def people():
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


def open_with(engine, people, folder, person):
    if engine == "duckdb":
        return tables.read(duckdb.from_arrow(people.to_arrow()), person=person)
    if engine == "parquet":
        people.write_parquet(folder / "people.parquet")
        return tables.read(folder / "people.parquet", person=person)
    as_engine = {"polars": people, "lazy": people.lazy(), "pandas": people.to_pandas(), "arrow": people.to_arrow()}
    return tables.read(as_engine[engine], person=person)


@pytest.mark.parametrize("person", ["id", "name", EACH_ROW])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_integers(engine, person, people, tmp_path):
    ours, reference = (open_with(name, people, tmp_path, person) for name in (engine, "polars"))
    if person != EACH_ROW:
        ours, reference = (table.limit(rows=2, groups=2) for table in (ours, reference))
    assert exact_parts(ours) == exact_parts(reference)


def exact_parts(table):
    value, city = table["value"].within(0, 10, grid="0.5"), table["city"].among(["Paris", "Lyon"])
    return (
        tables.exact.count(table),
        tables.exact.count(value),
        tables.exact.total(value, around=3),
        tables.exact.total(value, around=3, power=2),
        [part.tolist() for part in tables.exact.tally(value, key=KEY)],
        tables.exact.histogram([city], key=KEY).tolist(),
        tables.exact.histogram([city, value], key=KEY).tolist(),
    )


@pytest.mark.parametrize("person", ["id", "name"])
def test_rule_6_bounding_keeps_each_person_within_both_bounds(person, people):
    table = tables.read(people, person=person).limit(rows=2, groups=1)
    cities = people.with_columns(pl.col("city").replace_strict(["Paris", "Lyon"], [0, 1], default=2))
    rows = Counter(cities.select(person, "city").iter_rows())
    by_person = defaultdict(dict)
    for (who, city), count in rows.items():
        by_person[who][city] = min(count, 2)
    counted = tables.exact.histogram([table["city"].among(["Paris", "Lyon"])], key=KEY)
    assert counted.sum() <= sum(max(groups.values()) for groups in by_person.values())
    assert counted.sum() >= sum(min(groups.values()) for groups in by_person.values())
    assert tables.exact.count(table) == sum(min(n, 2) for n in Counter(people[person].to_list()).values())


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=25),
    st.lists(st.integers(0, 3), max_size=8),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_rule_6_one_person_moves_no_more_than_the_bounds(others, own, rows, groups):
    def counts(pairs):
        frame = pl.DataFrame(pairs, schema={"id": pl.Int64, "cell": pl.Int64}, orient="row")
        table = tables.read(frame, person="id").limit(rows=rows, groups=groups)
        column = table["cell"].within(0, 3, grid=1)
        spread = np.zeros(4, np.int64)
        cells, counted = tables.exact.tally(column, key=KEY)
        spread[cells] = counted
        return tables.exact.histogram([column], key=KEY), spread, tables.exact.total(column), tables.exact.count(table)

    without, added = counts(others), counts([*others, *((99, cell) for cell in own)])
    moved = added[0] - without[0]
    assert (moved >= 0).all()
    assert moved.max(initial=0) <= rows
    assert (moved > 0).sum() <= groups
    assert (added[1] - without[1]).min() >= 0
    assert (added[1] - without[1]).sum() <= rows
    assert 0 <= added[2] - without[2] <= 3 * rows
    assert 0 <= added[3] - without[3] <= rows


def test_a_row_that_names_no_person_is_dropped():
    frame = pl.DataFrame({"id": [1, None, 2, None], "x": [1.0, 2.0, 3.0, 4.0]})
    table = tables.read(frame, person="id").limit(rows=5)
    assert tables.exact.count(table) == 2
    assert tables.exact.total(table["x"].within(0, 10, grid=1)) == 4


def test_an_empty_table_counts_nothing():
    table = tables.read(pl.DataFrame({"x": pl.Series([], dtype=pl.Float64)}), person=EACH_ROW)
    column = table["x"].within(0, 10, grid=1)
    assert (tables.exact.count(table), tables.exact.total(column)) == (0, 0)
    assert tables.exact.histogram([column], key=KEY).sum() == 0


@pytest.mark.parametrize("kind", [pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_people_named_by_any_integers_are_the_same_people(kind, engine, tmp_path):
    """The largest and the least of each type, too: rule 2."""
    ends = [int(pl.select(kind.max()).item()), int(pl.select(kind.min()).item())]
    frame = pl.DataFrame({"id": pl.Series([*ends, 1, 1, 7, 100] * 5, dtype=kind), "x": list(range(30))})
    for rows, groups in ((1, 1), (2, 2)):
        table = open_with(engine, frame, tmp_path, "id").limit(rows=rows, groups=groups)
        named = frame.with_columns(pl.col("id").cast(pl.Int128) % ((2**31 - 1) * 2**20))
        wide = tables.read(named.with_columns(pl.col("id").cast(pl.Int64)), person="id").limit(rows=rows, groups=groups)
        counted, expected = (
            tables.exact.histogram([each["x"].within(0, 30, grid=1)], key=KEY) for each in (table, wide)
        )
        assert counted.tolist() == expected.tolist()
        assert counted.sum() == 5 * groups


def test_a_column_may_be_counted_under_two_domains(tmp_path):
    (tmp_path / "people.csv").write_text("x\n1\n2\nnone\n")
    table = tables.read(tmp_path / "people.csv", person=EACH_ROW)
    text, number = table["x"].among(["none"]), table["x"].within(0, 2, grid=1, missing=0)
    assert tables.exact.histogram([text, number], key=KEY).tolist() == [[1, 0, 0], [0, 1, 1]]
    assert tables.exact.group_totals(text, number, key=KEY).tolist() == [0, 3]
