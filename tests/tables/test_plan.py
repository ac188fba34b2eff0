"""Plans: every operator maps a person's rows to rows of that person, with bounds that follow exactly."""

from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.central.questions import Question, count, total
from bruit.errors import InvalidArgument, OutOfDomain
from bruit.privacy import EACH_ROW
from bruit.tables.choice.hashing import draw_row_key
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.expressions import Expression, labelled, number_of, when
from bruit.tables.plan.kinds import Labels, Numbers
from bruit.tables.plan.lowering import Lowering
from bruit.tables.plan.operators import Plan, open_table
from bruit.tables.plan.reading import Part, Reader
from bruit.tables.plan.steps import With
from bruit.tables.relations.operations import PERSON
from bruit.tables.relations.running import run
from bruit.tables.schema import Schema, category, date, found, number, text, time, whole

ENGINES = ["polars", "duckdb"]
ROWS = pl.DataFrame(
    {
        "id": [1, 1, 1, 2, 2, 3, None],
        "ward": ["A", "B", "A", "B", "x", None, "A"],
        "age": [30, 31, None, 70, 71, 17, 40],
        "cost": [10.0, -5.0, 2.5, 99.0, 0.0, 12.5, 1.0],
        "admitted": ["2025-01-31", "2025-02-01", "2024-12-31", "2025-12-31", None, "nonsense", "2025-03-01"],
        "at": [
            "2025-03-30 01:59:59",
            "2025-03-30 03:00:00",
            None,
            "2025-12-31 23:59:59",
            "x",
            "2025-01-01 00:00:00",
            None,
        ],
        "city": ["Lyon", "Nice", "Lyon", None, "Lyon", "Nice", "Lyon"],
    }
)
COLUMNS: dict[str, Any] = {
    "id": whole(),
    "ward": category(["A", "B"]),
    "age": number(0, 120, grid=1),
    "cost": number(-10, 100, grid="0.5"),
    "admitted": date(first="2025-01-01", last="2025-12-31"),
    "at": time(first="2025-01-01", last="2025-12-31", zone="Europe/Paris", outside="drop"),
    "city": found(longest=10),
}


def opened(engine: str = "polars", frame: pl.DataFrame = ROWS, columns: Any = COLUMNS, person: str = "id") -> Plan:
    source: Any = frame if engine == "polars" else duckdb.connect().from_arrow(frame.to_arrow())
    return open_table(source, Schema(person, columns, name="stays"))


def evaluated(plan: Plan, expression: Expression) -> list[Any]:
    """The integer of every row that is somebody's, in order of person and arrival in a list of one."""
    lowering = Lowering(plan.named, lambda: draw_row_key(np.random.default_rng(1)))
    operation = lowering.lower(With(plan.step, (("value", expression.node),)), ("value",))
    (frame,) = run([operation])
    return sorted(frame["value"].to_list(), key=repr)


def numbers(plan: Plan, expression: Expression) -> list[Any]:
    kind = expression.kind
    assert isinstance(kind, Numbers)
    steps = evaluated(plan, expression)
    assert all(step is None or kind.lowest <= step <= kind.highest for step in steps)
    return sorted((None if step is None else float(kind.value(step)) for step in steps), key=repr)


def reference(values: list[Any]) -> list[Any]:
    return sorted(values, key=repr)


AGES: list[Any] = [30, 31, None, 70, 71, 17]
COSTS: list[Any] = [10.0, -5.0, 2.5, 99.0, 0.0, 12.5]
ARITHMETIC = {
    "sum": (lambda t: t["age"] + t["cost"], lambda a, c: None if a is None else a + c),
    "difference": (lambda t: t["cost"] - t["age"], lambda a, c: None if a is None else c - a),
    "scaled": (lambda t: t["cost"] * "0.1" + 3, lambda a, c: c / 10 + 3),
    "negative": (lambda t: t["cost"] * -2, lambda a, c: 0 - 2 * c),
    "zero": (lambda t: t["age"] * 0, lambda a, c: None if a is None else 0),
    "divided": (lambda t: t["age"] / 4, lambda a, c: None if a is None else a / 4),
    "product": (lambda t: t["age"] * t["cost"], lambda a, c: None if a is None else a * c),
    "floor": (lambda t: (t["cost"] / 3).floor(), lambda a, c: c // 3),
    "bins": (lambda t: t["age"].bins(10), lambda a, c: None if a is None else a // 10 * 10),
    "within": (lambda t: t["cost"].within(0, 20), lambda a, c: min(max(c, 0), 20)),
    "filled": (lambda t: t["age"].filled("0.5"), lambda a, c: 0.5 if a is None else a),
    "case": (
        lambda t: when(t["age"] >= 31, t["cost"], number_of(-1)),
        lambda a, c: c if a is not None and a >= 31 else -1,
    ),
    "one sided": (lambda t: when(t["cost"] > 5, t["age"], None), lambda a, c: a if c > 5 else None),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_is_exact_and_stays_within_its_bounds(name: str, engine: str) -> None:
    build, compute = ARITHMETIC[name]
    table = opened(engine)
    expected = [compute(age, cost) for age, cost in zip(AGES, COSTS, strict=True)]  # type: ignore[no-untyped-call]
    assert numbers(table, build(table)) == reference([None if v is None else float(v) for v in expected])  # type: ignore[no-untyped-call]


CONDITIONS = {
    "at least": (lambda t: t["age"] >= "30.5", [31, 70, 71]),
    "below": (lambda t: t["age"] < 31, [17, 30]),
    "not": (lambda t: ~(t["age"] < 31), [31, 70, 71]),
    "equal": (lambda t: t["age"].equals(70), [70]),
    "equal to none": (lambda t: t["age"].equals("0.5"), []),
    "not equal to none": (lambda t: ~t["age"].equals("0.5"), [17, 30, 31, 70, 71]),
    "between": (lambda t: t["age"].between(30, 70), [30, 31, 70]),
    "label": (lambda t: t["ward"].equals("B"), [31, 70]),
    "labels": (lambda t: t["ward"].among(["A", "OTHER"]) & (t["age"] > 0), [17, 30, 71]),
    "no label": (lambda t: ~t["ward"].among(["A", "OTHER"]), [31, 70]),
    "missing": (lambda t: t["age"].is_missing, [None]),
    "present": (lambda t: ~t["age"].is_missing, [17, 30, 31, 70, 71]),
    "day": (lambda t: t["admitted"] > "2025-01-31", [31, 70]),
    "no day": (lambda t: ~(t["admitted"] > "2025-01-31"), [30]),
    "or": (lambda t: (t["age"] > 70) | t["ward"].equals("A"), [30, 71, None]),
    "columns": (lambda t: t["cost"] > t["age"], [70]),
    "a time's day": (lambda t: t["at"].equals("2025-03-30"), [30, 31]),
    "after a time's day": (lambda t: t["at"] > "2025-03-30", [70]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CONDITIONS)
def test_a_missing_value_makes_a_comparison_and_its_opposite_false(name: str, engine: str) -> None:
    build, expected = CONDITIONS[name]
    table = opened(engine)
    assert evaluated(table.where(build(table)), table["age"]) == reference(expected)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("engine", ENGINES)
def test_parts_of_dates_and_times_are_labels(engine: str) -> None:
    table = opened(engine)
    months = table["admitted"].part("month")
    assert isinstance(months.kind, Labels)
    named = sorted(months.kind.labels[code] for code in evaluated(table, months))
    assert named == ["2025-01", "2025-02", "2025-12", "OTHER", "OTHER", "OTHER"]
    hours = table["at"].part("hour")
    assert evaluated(table, hours) == reference([1, 3, 23, 0, None, None])
    kinds = labelled([(table["age"] > 65, "old"), (table["age"] > 18, "adult")], otherwise="other")
    assert isinstance(kinds.kind, Labels)
    assert (
        sorted(kinds.kind.labels[code] for code in evaluated(table, kinds))
        == ["adult"] * 2 + ["old"] * 2 + ["other"] * 2
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_public_lookup_keeps_one_row_one_row(engine: str) -> None:
    table = opened(engine)
    looked = table.lookup({"site": {"A": "North", "B": "South", "Z": "West"}, "beds": {"A": 10}}, on="ward")
    sites = looked["site"].kind
    assert isinstance(sites, Labels)
    named = [sites.labels[code] for code in evaluated(looked, looked["site"]) if code is not None]
    assert sorted(named) == ["North"] * 2 + ["South"] * 2
    assert numbers(looked, looked["beds"]) == reference([10.0, 10.0, None, None, None, None])


def test_whole_numbers_may_be_numpys() -> None:
    two, other = np.int64(2), opened(columns={"id": whole(), "cost": COLUMNS["cost"]})
    assert repr(Limit(rows=two)) == "Limit(rows=2, groups=None, each=None)"
    assert repr(Limit(groups=two, each=two)) == "Limit(rows=None, groups=2, each=2)"
    plan = opened(columns={"id": whole(), "age": COLUMNS["age"]})
    joined, summarised = plan.join(other, most=(two, two)).step, plan.per_person(most=two, n="count").step
    assert repr((joined.most, summarised.most)) == "((2, 2), 2)"  # type: ignore[union-attr]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_looked_up_may_take_the_name_of_its_key(engine: str) -> None:
    """Rows were kept where the value that was found, and not the key, is listed."""
    looked = opened(engine).lookup({"ward": {"A": 5, "B": 9}}, on="ward", outer=False)
    assert numbers(looked, looked["ward"]) == reference([5.0, 5.0, 9.0, 9.0])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_integers_of_a_column_are_those_that_its_tally_counts(engine: str) -> None:
    plan = opened(engine)
    for rows in (1, 2, 3):
        reader = Reader(plan, (), (Part("tally", plan["age"]),), Limit(rows=rows))
        tally = reader.read(np.random.default_rng(7)).tallies[0].sort("value 0")
        counted = np.repeat(tally["value 0"].to_numpy(), tally["rows"].to_numpy())
        np.testing.assert_array_equal(np.sort(reader.integers(np.random.default_rng(7))), counted)
    assert counted.tolist() == [17, 30, 31, 70, 71]  # three rows hold everybody's; a missing age is in no count


@pytest.mark.parametrize("engine", ENGINES)
def test_summaries_per_person_are_those_of_their_rows(engine: str) -> None:
    table = opened(engine)
    summed = table.per_person(
        most=5,
        visits="count",
        total=("sum", "cost"),
        typical=("mean", "age"),
        least=("least", "cost"),
        most_paid=("greatest", "cost"),
    )
    assert numbers(summed, summed["visits"]) == reference([3.0, 2.0, 1.0])
    assert numbers(summed, summed["total"]) == reference([7.5, 99.0, 12.5])
    assert numbers(summed, summed["typical"]) == reference([31.0, 71.0, 17.0]), "30.5 and 70.5 round up to a step"
    assert numbers(summed, summed["least"]) == reference([-5.0, 0.0, 12.5])
    assert numbers(summed, summed["most_paid"]) == reference([10.0, 99.0, 12.5])
    assert summed["total"].kind == Numbers(-5 * 20, 5 * 200, Fraction(1, 2))


@pytest.mark.parametrize("engine", ENGINES)
def test_joined_tables_pair_a_persons_rows_and_nobody_elses(engine: str) -> None:
    tests = pl.DataFrame({"id": [1, 1, 2, 9], "result": [5, 6, 7, 8]})
    if engine == "polars":
        left, right = opened(), opened(frame=tests, columns={"id": whole(), "result": number(0, 9, grid=1)})
    else:
        connection = duckdb.connect()
        schema = Schema("id", {"id": whole(), "result": number(0, 9, grid=1)})
        left = open_table(connection.from_arrow(ROWS.to_arrow()), Schema("id", COLUMNS, name="stays"))
        right = open_table(connection.from_arrow(tests.to_arrow()), schema)
    inner = left.join(right, most=(9, 9))
    assert numbers(inner, inner["result"]) == reference([5.0, 6.0] * 3 + [7.0] * 2)
    assert numbers(inner, inner["cost"]) == reference([10.0, -5.0, 2.5] * 2 + [99.0, 0.0])
    outer = left.join(right, most=(9, 9), outer=True)
    assert numbers(outer, outer["result"]) == reference([5.0, 6.0] * 3 + [7.0] * 2 + [None])
    limited = left.join(right, most=(1, 1))
    assert len(numbers(limited, limited["result"])) == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_stacked_tables_add_up(engine: str) -> None:
    table = opened(engine)
    both = table.where(table["age"] > 30).stack(table.where(table["age"] <= 70))
    assert numbers(both, both["age"]) == reference([31.0, 70.0, 71.0, 30.0, 31.0, 70.0, 17.0])


people = st.lists(
    st.lists(st.tuples(st.sampled_from(["A", "B", "x", None]), st.one_of(st.none(), st.integers(-5, 130))), max_size=4),
    max_size=4,
)


@settings(max_examples=25)
@given(people, people)
def test_one_person_changes_the_rows_of_that_person_alone(others: Any, one: Any) -> None:
    """The theorem of plans, on a plan with every operator: rows of others stay, whoever comes."""

    def rows(table: pl.DataFrame) -> dict[Any, Any]:
        plan = opened(frame=table, columns={name: COLUMNS[name] for name in ("id", "ward", "age")})
        old = plan.where(plan["age"] >= 18).with_(band=plan["age"].bins(10))
        summed = plan.per_person(most=2, visits="count", eldest=("greatest", "age"))
        joined = old.join(summed, most=(2, 1)).stack(old.join(summed, most=(1, 1)))
        reader = Reader(
            joined, (joined["ward"],), (Part("sum", joined["band"]), Part("sum", joined["eldest"])), Limit(rows=2)
        )
        (kept,) = run([reader.chosen(np.random.default_rng(3))])
        return {
            who[0]: sorted(part.drop(PERSON).rows(), key=repr)
            for who, part in kept.partition_by(PERSON, as_dict=True).items()
        }

    table = [(who, ward, age) for who, each in enumerate(others) for ward, age in each]
    more = [(99, ward, age) for each in one for ward, age in each]
    kinds = {"id": pl.Int64, "ward": pl.String, "age": pl.Int64}
    without = rows(pl.DataFrame(table, schema=kinds, orient="row"))
    withal = rows(pl.DataFrame([*more, *table], schema=kinds, orient="row"))
    withal.pop(99, None)
    assert withal == without


def test_what_would_let_people_see_each_other_is_refused_by_name() -> None:
    table = opened()
    each = opened(columns={k: v for k, v in COLUMNS.items() if k != "id"}, person=EACH_ROW)
    other = opened(frame=ROWS.rename({"id": "who"}), columns={"who": whole(), "age": COLUMNS["age"]}, person="who")
    texts = opened(columns={"id": text(), "age": COLUMNS["age"]})
    refused = {
        "two private tables are joined on the person only": [
            lambda: table.join(other, most=(1, 1)),
            lambda: table.join(texts, most=(1, 1)),
        ],
        "each row is a person of its own": [
            lambda: each.stack(each),
            lambda: each.join(each, most=(1, 1)),
            lambda: each.per_person(most=1, n="count"),
        ],
        "how many rows of a person count": [lambda: table.join(table, most=(0, 1)), lambda: table.join(table, most=3)],  # type: ignore[arg-type]
        "both tables have a column": [lambda: table.join(table, most=(1, 1))],
        "needs the same declared columns": [lambda: table.stack(table.with_(x=table["age"]))],
        "says whose row it is": [lambda: table["id"], lambda: table.with_(id=table["age"])],
        "declared as found": [lambda: table["city"].equals("Lyon")],
        "is no label of ward": [lambda: table["ward"].equals("Z")],
        "have no order": [lambda: table["ward"] > "A"],
        "is no number": [lambda: table["ward"] + 1, lambda: table["admitted"] * 2],
        "can be divided by a number only": [lambda: table["age"] / table["cost"]],
        "is no date or time": [lambda: table["age"].part("month")],
        "has no part 'hour'": [lambda: table["admitted"].part("hour")],
        "one name to some engines": [lambda: table.with_(Age=table["cost"])],
        "needs a comparison": [lambda: table.where(table["age"])],  # type: ignore[arg-type]
        "say \"count\", or": [lambda: table.per_person(most=2, x=("median", "age"))],
    }  # fmt: skip
    for message, acts in refused.items():
        for act in acts:  # type: ignore[attr-defined]
            with pytest.raises(InvalidArgument, match=message):
                act()


def test_bounds_that_grow_too_wide_must_be_stated() -> None:
    wide = opened(columns={"id": whole(), "age": number(0, 2**30, grid=1)})
    square = wide["age"] * wide["age"]
    with pytest.raises(OutOfDomain, match=r"more than 2\^32 steps of 1: state its bounds"):
        wide.with_(square=square)
    assert wide.with_(square=square.within(0, 1000)).columns["square"] == Numbers(0, 1000, Fraction(1))
    with pytest.raises(OutOfDomain, match="could leave 64 bits"):
        square * wide["age"]


def test_tables_of_two_engines_are_not_joined() -> None:
    with pytest.raises(InvalidArgument, match="tables of duckdb and polars cannot be joined"):
        opened("duckdb").stack(opened("polars"))


def _alone(highest: int, **more: Any) -> Plan:
    columns = {"x": number(0, highest, grid=1), "ward": category(["A", "B"][: 1 + (highest > 1)]), **more}
    frame = pl.DataFrame({"x": [9, 9], "ward": ["A", "B"], **{name: [1, 2] for name in more}})
    return open_table(frame, Schema(EACH_ROW, columns))


def _other() -> Plan:
    return _alone(1, y=number(0, 5, grid=1))


FOREIGN = {
    "another table's bounds": lambda t: Question(t, {"s": total(_other()["x"])}),
    "a column that is not there": lambda t: Question(t, {"s": total(_other()["y"])}),
    "another table's categories": lambda t: Question(t, {"n": count()}, {"ward": _other()["ward"]}),
    "inside arithmetic": lambda t: Question(t, {"s": total(t["x"] * 2 + _other()["x"])}),
    "inside a condition": lambda t: Question(t, {"s": total(when(_other()["x"] > 0, t["x"], None))}),
    "a filter": lambda t: t.where(_other()["y"] >= 1),
    "a new column": lambda t: t.with_(z=_other()["y"] + 1),
    "before it was changed": lambda t: Question(t.with_(x=t["x"] * t["x"]), {"s": total(t["x"])}),
}


@pytest.mark.parametrize("named", FOREIGN)
def test_rule_12_a_column_has_the_bounds_of_the_table_that_is_asked(named: str) -> None:
    """A sum under another table's bounds moved by nine for a row, with noise for one; other ways failed when paid."""
    with pytest.raises(InvalidArgument, match="was taken from another table, or before it was changed; take it from"):
        FOREIGN[named](_alone(9))  # type: ignore[no-untyped-call]


def test_a_column_taken_before_a_filter_or_from_a_table_of_the_same_schema_can_be_asked() -> None:
    table = _alone(9)
    x = _alone(9, y=number(0, 5, grid=1))["x"]
    kept = table.where(table["x"] > 2).with_(twice=table["x"] * 2)
    for value in (table["x"], x):
        assert Question(kept, {"s": total(value)}).reader.read(np.random.default_rng(1)).parts[0].tolist() == [18]
