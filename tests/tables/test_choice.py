"""The choice of rows: fair, a function of one person's rows, and the same on every engine and in every order."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from scipy import stats

from bruit.errors import InvalidArgument, StorageError
from bruit.privacy import EACH_ROW
from bruit.tables.choice.hashing import draw_row_key
from bruit.tables.choice.limits import Limit
from bruit.tables.expressions.to_polars import MODULUS, text_number
from bruit.tables.plan.operators import Plan, open_table
from bruit.tables.plan.reading import Part, Reader
from bruit.tables.relations.operations import PERSON
from bruit.tables.relations.running import run
from bruit.tables.schema import Schema, found, long, number, text, whole

ENGINES = ["polars", "duckdb"]
ALARM = 1e-9


def opened(frame: pl.DataFrame, columns: Any, engine: str, *, threads: int = 2) -> Plan:
    source: Any = frame
    if engine == "duckdb":
        connection = duckdb.connect()
        connection.execute(f"set threads={threads}")
        source = connection.from_arrow(frame.to_arrow())
    return open_table(source, Schema("id", columns))


def kept_rows(table: Plan, limit: Limit, *, keys: tuple[str, ...] = (), seed: int = 1) -> list[tuple[Any, ...]]:
    values = [name for name in table.columns if name not in keys]
    parts = tuple(Part("distinct", table[name]) for name in values)
    reader = Reader(table, tuple(table[key] for key in keys), parts, limit)
    (frame,) = run([reader.chosen(np.random.default_rng(seed))])
    names = [*(f"key {i}" for i in range(len(keys))), *(f"value {i}" for i in range(len(values)))]
    return sorted(frame.select(PERSON, *names).rows(), key=repr)


NUMBERS: dict[str, Any] = {"id": whole(), "x": number(0, 9, grid=1)}


def test_each_row_of_a_person_is_equally_likely_and_people_choose_apart() -> None:
    """10 000 people hold 0 ... 9 once; with rows=1 each value is chosen a tenth of the time, by independent draws."""
    frame = pl.DataFrame({"id": np.repeat(np.arange(10_000), 10), "x": np.tile(np.arange(10), 10_000)})
    for seed in range(3):
        counts = Counter(x for _, x in kept_rows(opened(frame, NUMBERS, "polars"), Limit(rows=1), seed=seed))
        assert stats.chisquare([counts[x] for x in range(10)]).pvalue > ALARM
    one = dict(kept_rows(opened(frame, NUMBERS, "polars"), Limit(rows=1)))
    pairs = Counter((one[i], one[i + 1]) for i in range(0, 10_000, 2))
    assert stats.chisquare([pairs[x, y] for x in range(10) for y in range(10)]).pvalue > ALARM


def test_equal_rows_weigh_as_many_as_they_are() -> None:
    frame = pl.DataFrame({"id": np.repeat(np.arange(5000), 10), "x": np.tile([1] * 9 + [2], 5000)})
    counts = Counter(x for _, x in kept_rows(opened(frame, NUMBERS, "polars"), Limit(rows=1)))
    assert stats.binomtest(counts[2], 5000, 0.1).pvalue > ALARM


def test_every_subset_of_rows_is_equally_likely() -> None:
    frame = pl.DataFrame({"id": np.repeat(np.arange(20_000), 5), "x": np.tile(np.arange(5), 20_000)})
    rows: dict[int, list[int]] = {}
    for who, x in kept_rows(opened(frame, NUMBERS, "polars"), Limit(rows=2)):
        rows.setdefault(who, []).append(x)
    pairs = Counter(tuple(sorted(each)) for each in rows.values())
    assert len(pairs) == 10
    assert stats.chisquare(list(pairs.values())).pvalue > ALARM


def test_groups_are_chosen_evenly_and_none_too_many() -> None:
    frame = pl.DataFrame({"id": np.repeat(np.arange(5000), 12), "x": np.tile(np.arange(6), 10_000)})
    groups: dict[int, Counter[int]] = {}
    for who, x in kept_rows(opened(frame, NUMBERS, "polars"), Limit(groups=2, each=1), keys=("x",)):
        groups.setdefault(who, Counter())[x] += 1
    assert {len(each) for each in groups.values()} == {2}
    assert {count for each in groups.values() for count in each.values()} == {1}
    counts = Counter(x for each in groups.values() for x in each)
    assert stats.chisquare([counts[x] for x in range(6)]).pvalue > ALARM


def cities(n: int, *, seed: int = 0) -> pl.DataFrame:
    """People with rows that differ in a found text alone."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.repeat(np.arange(n), 3),
            "city": rng.choice(["Lyon", "Nice", "Åre", None], 3 * n).tolist(),
            "x": np.zeros(3 * n, int),
        }
    )


CITIES = {"id": whole(), "city": found(longest=20), "x": number(0, 9, grid=1)}


@pytest.mark.parametrize("limit", [Limit(rows=1), Limit(rows=2), Limit(groups=1, each=1)])
def test_order_threads_and_other_people_change_no_ones_rows(limit: Limit) -> None:
    """A1: rows equal in every declared integer are told apart by their found texts, never by their arrival."""
    frame, keys = cities(3000), () if limit.rows else ("city",)
    first = kept_rows(opened(frame, CITIES, "polars"), limit, keys=keys)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=4)
    assert kept_rows(opened(shuffled, CITIES, "polars"), limit, keys=keys) == first
    more = pl.concat([pl.DataFrame({"id": [10**6] * 5000, "city": ["X"] * 5000, "x": [1] * 5000}), shuffled])
    for threads in (1, 8):
        assert kept_rows(opened(shuffled, CITIES, "duckdb", threads=threads), limit, keys=keys) == first
        with_one_more = kept_rows(opened(more, CITIES, "duckdb", threads=threads), limit, keys=keys)
        assert [row for row in with_one_more if row[0] != 10**6] == first


@pytest.mark.parametrize("engine", ENGINES)
def test_people_of_one_number_take_no_rows_from_each_other(engine: str) -> None:
    """A2: 5 and 5 + p have one number for every key; texts of one number are searched for."""
    own = pl.DataFrame({"id": [5, 5, 5], "x": [0, 1, 2]})
    beside = pl.DataFrame({"id": [5 + MODULUS] * 60, "x": [3] * 60})
    alone = kept_rows(opened(own, NUMBERS, engine), Limit(rows=3))
    both = kept_rows(opened(pl.concat([own, beside]), NUMBERS, engine), Limit(rows=3))
    assert [row for row in both if row[0] == 5] == alone
    assert len(both) == 6


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_of_one_number_stay_two_people(engine: str) -> None:
    """Two texts whose numbers collide under the drawn key, found by birthday, beside each other."""
    salt = draw_row_key(np.random.default_rng(1)).salt
    seen: dict[int, str] = {}
    pair = None
    for i in range(400_000):
        number_of_it = text_number(f"p{i}", salt)
        if number_of_it in seen:
            pair = seen[number_of_it], f"p{i}"
            break
        seen[number_of_it] = f"p{i}"
    assert pair is not None
    columns = {"id": text(), "x": number(0, 9, grid=1)}
    own = pl.DataFrame({"id": [pair[0]] * 4, "x": [0, 1, 2, 3]})
    both = pl.concat([own, pl.DataFrame({"id": [pair[1]] * 4, "x": [0, 1, 2, 3]})])
    alone = kept_rows(opened(own, columns, engine), Limit(rows=2))
    together = kept_rows(opened(both, columns, engine), Limit(rows=2))
    assert [row for row in together if row[0] == pair[0]] == alone
    assert [row[1] for row in together if row[0] == pair[1]] == [row[1] for row in alone], "equal rows, equal choice"
    assert rows_of_people(opened(both, columns, engine), Limit(rows=2), (), placed=True) == [
        [row[1:] for row in together if row[0] == name] for name in pair
    ]


@pytest.mark.parametrize(
    "setting", ["create table t (id varchar collate nocase, x int)", "set default_collation='nocase'"]
)
def test_no_collation_joins_two_people(setting: str) -> None:
    """A2: a column, or a session, that takes 'a' for 'A' would let one person take another's places."""
    connection = duckdb.connect()
    connection.execute(setting)
    connection.execute("create table if not exists t (id varchar, x int)")
    connection.execute("insert into t values ('a', 1), ('A', 2), ('a ', 3), ('é', 4), ('É', 5)")
    table = open_table(connection.table("t"), Schema("id", {"id": text(), "x": number(0, 9, grid=1)}))
    assert [row[0] for row in kept_rows(table, Limit(rows=1))] == ["A", "a", "É", "é"]
    keyed = open_table(connection.table("t"), Schema(EACH_ROW, {"id": found(longest=3), "x": number(0, 9, grid=1)}))
    exact = Reader(keyed, (keyed["id"],), (Part("rows"),), None).read(np.random.default_rng(1))
    assert exact.found == ((0, ("A",)), (0, ("a",)), (0, ("É",)), (0, ("é",)))


def rows_of_people(table: Plan, limit: Limit, keys: tuple[str, ...], *, placed: bool) -> list[list[tuple[Any, ...]]]:
    """The chosen rows of each person, without their names."""
    parts = tuple(Part("distinct", table[name]) for name in table.columns if name not in keys)
    reader = Reader(table, tuple(table[key] for key in keys), parts, limit)
    (frame,) = run([reader.chosen(np.random.default_rng(1), placed=placed)])
    people: dict[Any, list[tuple[Any, ...]]] = {}
    for row in frame.select(PERSON, pl.exclude(PERSON)).rows():
        people.setdefault(row[0], []).append(row[1:])
    return sorted(sorted(rows, key=repr) for rows in people.values())


@pytest.mark.parametrize("engine", [*ENGINES, "nocase"])
@pytest.mark.parametrize("limit", [Limit(rows=1), Limit(rows=3), Limit(groups=2, each=2)])
def test_people_who_are_placed_choose_the_rows_that_they_choose_by_name(engine: str, limit: Limit) -> None:
    """A2: the number that a question puts in a person's place belongs to one text alone, as it is read."""
    names = [
        "a",
        "A",
        " a",
        "a ",
        "\ta\u00a0",
        "é",
        "É",
        "e\u0301",
        "e",
        "",
        " ",
        "NA",
        None,
        "0",
        "00",
        "0 ",
        "p'q",
        "ß",
        "ss",
    ]
    rng = np.random.default_rng(7)
    ids = [names[place] for place in rng.integers(0, len(names), 400)] + [f"p{i}" for i in range(300) for _ in range(4)]
    frame = pl.DataFrame({"id": ids, "x": rng.integers(0, 10, len(ids)), "y": rng.integers(0, 5, len(ids))})
    columns: dict[str, Any] = {"id": text(), "x": number(0, 9, grid=1), "y": number(0, 4, grid=1)}
    if engine == "nocase":
        connection = duckdb.connect()
        connection.execute("create table t (id varchar collate nocase, x int, y int)")
        connection.register("frame", frame.to_arrow())
        connection.execute("insert into t select * from frame")
        table = open_table(connection.table("t"), Schema("id", columns))
    else:
        table = opened(frame, columns, engine)
    table, keys = table.where(table["x"] > 0), () if limit.rows else ("y",)
    placed, named = (rows_of_people(table, limit, keys, placed=each) for each in (True, False))
    assert (
        placed
        == named
        == rows_of_people(opened(frame, columns, "polars").where(table["x"] > 0), limit, keys, placed=False)
    )
    assert len(placed) == 300 + len({name.strip() for name in names if name and name.strip()})


@pytest.mark.parametrize("engine", ENGINES)
def test_no_persons_number_overflows(engine: str) -> None:
    """B3: the largest names, of either sign, are brought to residues before they are multiplied."""
    ids = [2**63 - 1, -(2**63) + 1, 2**53 - 1, -1, 0, 2**62, -(2**62)]
    frame = pl.DataFrame({"id": np.repeat(np.array(ids, dtype=np.int64), 3), "x": np.tile([1, 2, 3], len(ids))})
    columns = {"id": long(), "x": number(0, 9, grid=1)}
    rows = kept_rows(opened(frame, columns, engine), Limit(rows=2))
    assert Counter(row[0] for row in rows) == dict.fromkeys(ids, 2)
    assert rows == kept_rows(opened(frame, columns, "polars"), Limit(rows=2))


@pytest.mark.parametrize("engine", ENGINES)
def test_of_equal_rows_of_a_person_a_bounded_number_is_told_apart(engine: str) -> None:
    """B4: a person with many more equal rows than 2^16 does not explode."""
    frame = pl.DataFrame({"id": [1] * 300_000 + [2], "x": [7] * 300_000 + [3]})
    rows = kept_rows(opened(frame, NUMBERS, engine), Limit(rows=2**16))
    assert Counter(rows) == {(1, 7): 2**16, (2, 3): 1}


def test_engines_choose_the_same_rows_of_wide_tables() -> None:
    """Rows whose number passes 2^31 are ordered without packing, and alike."""
    rng = np.random.default_rng(5)
    columns = {
        "id": text(),
        "a": number(0, 10**6, grid=1),
        "b": number(-(10**6), 10**6, grid=1),
        "x": number(0, 9, grid=1),
    }
    frame = pl.DataFrame(
        {
            "id": [f"é{i}" for i in rng.integers(0, 300, 2000)],
            "a": rng.integers(0, 10**6, 2000),
            "b": pl.Series(rng.integers(-(10**6), 10**6, 2000)).set(pl.int_range(2000, eager=True) % 7 == 0, None),
            "x": rng.integers(0, 10, 2000),
        }
    )
    for limit, keys in ((Limit(rows=3), ()), (Limit(groups=2, each=1), ("x",)), (Limit(groups=2, each=2), ("a", "x"))):
        ours = kept_rows(opened(frame, columns, "polars"), limit, keys=keys)
        assert ours == kept_rows(opened(frame, columns, "duckdb"), limit, keys=keys)


@pytest.mark.parametrize("person", ["id", "name"])
@pytest.mark.parametrize("limit", [Limit(rows=2), Limit(groups=2, each=1)])
def test_a_table_read_in_passes_gives_the_same_integers(limit: Limit, person: str, tmp_path: Path) -> None:
    """Slices of the people by their numbers: sums add up, tallies too, and different values are counted over all."""
    rng, n = np.random.default_rng(5), 900
    columns = {"id": whole(), "name": text(), "x": number(0, 9, grid=1), "city": found(longest=9)}
    frame = pl.DataFrame(
        {
            "id": rng.integers(-100, 100, n),
            "name": [f"é{i}" for i in rng.integers(0, 200, n)],
            "x": rng.integers(0, 12, n),
            "city": rng.choice(["Lyon", "Nice", None], n).tolist(),
        }
    )
    path = tmp_path / "rows.csv"
    frame.write_csv(path)
    read = []
    for memory in (None, 2**30, 2**20):
        table = open_table(path, Schema(person, columns), memory=memory)
        leaf = table.leaves[0]
        if memory == 2**20:
            leaf = replace(leaf, source=replace(leaf.source, passes=5))
        table = replace(table, step=leaf, leaves=(leaf,))
        x = table["x"]
        parts = tuple(Part(what, x) for what in ("rows", "sum", "above", "distinct", "tally"))
        for keys in ((), (x,), (table["city"],)):
            exact = Reader(table, keys, (Part("people"), Part("rows"), *parts), limit).read(np.random.default_rng(1))
            tallies = {place: tally.sort(tally.columns).rows() for place, tally in exact.tallies.items() if place == 6}
            read.append(([part.tolist() for part in exact.parts[:6]], exact.found, tallies))
    assert read[:3] == read[3:6] == read[6:]


def test_memory_is_stated_for_files_and_in_whole_bytes(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,x\n" + "1,2\n" * 10**6)
    assert open_table(path, Schema("id", NUMBERS), memory=2**20).leaves[0].source.passes == 31
    for source, memory in ((path, 7), (path, True), (pl.DataFrame({"id": [1], "x": [1]}), 2**30)):
        with pytest.raises(InvalidArgument, match="memory="):
            open_table(source, Schema("id", NUMBERS), memory=memory)


def test_what_is_no_limit_is_refused() -> None:
    for stated in ({}, {"rows": 1, "groups": 2}, {"groups": 2}, {"each": 1}, {"rows": 1, "groups": 1, "each": 1}):
        with pytest.raises(InvalidArgument, match="two different limits"):
            Limit(**stated)
    for stated in ({"rows": 0}, {"rows": True}, {"rows": 2.0}, {"groups": 1, "each": 2**17}):  # type: ignore[assignment]
        with pytest.raises(InvalidArgument, match="must be a whole number from 1 to 65536"):
            Limit(**stated)


def test_rows_that_no_number_tells_apart_are_refused_before_anything_is_read() -> None:
    columns = {"id": whole(), **{name: number(0, 2**31, grid=1) for name in "abc"}}
    frame = pl.DataFrame({name: [1] for name in columns})
    with pytest.raises(InvalidArgument, match=r"2\^63 different rows or more"):
        kept_rows(opened(frame, columns, "polars"), Limit(rows=1))


def test_an_engine_that_fails_shows_nothing_of_a_record() -> None:
    """A panic, which is no Exception, becomes the same error; an interruption passes."""

    def rows(error: BaseException) -> pl.LazyFrame:
        def fail(_: pl.DataFrame) -> pl.DataFrame:
            raise error

        return pl.LazyFrame({"id": [1], "x": [7]}).map_batches(fail, schema={"id": pl.Int64, "x": pl.Int64})

    for error in (ValueError("record 7"), pl.exceptions.PanicException("record 7"), SystemExit("record 7")):
        table = open_table(rows(error), Schema("id", NUMBERS))
        with pytest.raises(StorageError, match="message may show records and is withheld") as caught:
            kept_rows(table, Limit(rows=1))
        assert "record 7" not in str(caught.value)
        assert caught.value.__cause__ is None
    with pytest.raises(KeyboardInterrupt):
        kept_rows(open_table(rows(KeyboardInterrupt()), Schema("id", NUMBERS)), Limit(rows=1))
