"""The public checker of sensitivities finds what every measure states, and catches planted faults."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from bruit import EACH_ROW
from bruit.audit.small_tables import sensitivity
from bruit.central.questions import Limit, Question, asking, count, distinct, mean, non_missing, people, total, variance
from bruit.errors import InvalidArgument
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category, found, number, text, whole

COLUMNS: dict[str, Any] = {
    "id": whole(),
    "ward": category(["A", "B"]),
    "x": number(-1, 2, grid=1),
    "city": found(longest=4),
}
LIMITS = [Limit(rows=1), Limit(rows=2), Limit(groups=1, each=2), Limit(groups=2, each=1), None]


def asked(limit: Limit | None, *, keys: tuple[str, ...] = ("ward",), person: Any = None) -> Question:
    columns: Any = COLUMNS if person is None else COLUMNS | {"id": person}
    schema = Schema(EACH_ROW if limit is None else "id", columns)
    table = open_table(pl.DataFrame({name: [] for name in columns}), schema)
    x = table["x"]
    measures = {
        "n": count(),
        "k": non_missing(x),
        "d": distinct(x),
        "w": people(),
        "s": total(x),
        "m": mean(x),
        "v": variance(x),
    }
    return Question(table, measures, {key: table[key] for key in keys}, limit)


@pytest.mark.parametrize("limit", LIMITS)
def test_rule_12_every_measure_holds_and_is_attained(limit: Limit | None) -> None:
    walked = sensitivity(asked(limit), most_rows=1 if limit is None else 2, most_people=100)
    assert len(walked) == 14
    assert all(each.holds for each in walked)
    largest = {each.measure: each for each in walked if each.neighbours.value == "replace one"}
    assert all(largest[name].reached[0] == largest[name].stated[0] for name in ("n", "w", "s", "m"))


def test_found_groups_and_people_of_texts_hold() -> None:
    walked = sensitivity(asked(Limit(rows=2), keys=("city",), person=text()), most_people=60)
    assert all(each.holds for each in walked)


def test_plans_with_filters_and_summaries_hold() -> None:
    table = open_table(pl.DataFrame({name: [] for name in COLUMNS}), Schema("id", COLUMNS))
    old = table.where(table["x"] >= 0).with_(double=table["x"] * 2)
    summed = table.per_person(most=2, total=("sum", "x"))
    for plan, value in ((old, old["double"]), (summed, summed["total"])):
        walked = sensitivity(Question(plan, {"s": total(value)}, {}, Limit(rows=1)), most_people=60)
        assert all(each.holds for each in walked)


def test_rule_12_a_limit_that_is_not_kept_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: rows are chosen by a limit of two and priced by a limit of one."""
    honest = asked(Limit(rows=2))
    assert all(each.holds for each in sensitivity(honest, most_people=60))
    true = asking.sensitivity  # type: ignore[attr-defined]
    monkeypatch.setattr(asking, "sensitivity", lambda row, limit, **more: true(row, Limit(rows=1), **more))
    broken = [each for each in sensitivity(honest, most_people=60) if not each.holds]
    assert {each.measure for each in broken} >= {"n", "s", "m", "v"}


def test_a_question_of_several_tables_is_refused() -> None:
    question = asked(Limit(rows=1))
    both = replace(question, plan=question.plan.stack(question.plan))
    with pytest.raises(InvalidArgument, match="walks a question of one table"):
        sensitivity(both)
