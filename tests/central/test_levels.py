"""Questions by several sets of keys: one choice of rows, each level with its own sensitivity, totals that add up."""

from itertools import combinations_with_replacement, product
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit import ADD_OR_REMOVE_ONE, REPLACE_ONE
from bruit.central.questions import (
    Limit,
    Prepared,
    Question,
    consistent_totals,
    count,
    cube,
    mean,
    people,
    quantiles,
    rollup,
    total,
)
from bruit.central.questions.totals import least_squares, whole_numbers
from bruit.errors import InvalidArgument
from bruit.tables.plan.operators import Plan, open_table
from bruit.tables.schema import Schema, category, found, number, whole

COLUMNS = {
    "id": whole(),
    "ward": category(["A", "B"], others="drop"),
    "sex": category(["F", "M"], others="drop"),
    "days": number(-1, 2, grid=1),
    "city": found(longest=9),
}


def stays(n: int = 900, *, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": rng.integers(0, n // 3, n),
            "ward": rng.choice(["A", "B"], n).tolist(),
            "sex": rng.choice(["F", "M"], n).tolist(),
            "days": rng.integers(-1, 3, n),
            "city": rng.choice(["Lyon", "Nice"], n).tolist(),
        }
    )


def asked(table: Plan, keys: tuple[str, ...], levels: Any, limit: Limit, measures: Any = None) -> Question:
    days = table["days"]
    everything = {"n": count(), "who": people(), "sum": total(days), "mean": mean(days)}
    return Question(table, measures or everything, {key: table[key] for key in keys}, limit, levels=levels)


def opened(frame: Any) -> Plan:
    return open_table(frame, Schema("id", COLUMNS, name="stays"))


def book(neighbours: Any = ADD_OR_REMOVE_ONE) -> Any:
    return bruit.Ledger("h", epsilon=9000, delta=0.1, neighbours=neighbours, person="id")


def test_levels_are_named_as_in_sql() -> None:
    assert rollup("a", "b") == (("a", "b"), ("a",), ())
    assert cube("a", "b") == (("a", "b"), ("a",), ("b",), ())


def test_every_level_is_of_the_same_chosen_rows() -> None:
    table = opened(stays())
    release = asked(table, ("ward", "sex"), cube("ward", "sex"), Limit(rows=2)).release(
        budget=book().budget(epsilon=9000), rng=np.random.default_rng(1)
    )
    cells = [tuple(cell) for cell in release.details["cells"]]
    n = dict(zip(cells, release.value[:, 0], strict=True))
    assert len(cells) == 4 + 2 + 2 + 1
    assert n[None, None] == pytest.approx(sum(n[w, s] for w in "AB" for s in "FM"), abs=0.5)
    assert n["A", None] == pytest.approx(n["A", "F"] + n["A", "M"], abs=0.5)
    assert release.value[-1, 1] == pytest.approx(stays()["id"].n_unique(), abs=0.5)
    assert release.labels[-4:] == ("all / all / n", "all / all / who", "all / all / sum", "all / all / mean")
    assert release.details["levels"][1] == {"by": ["ward"], "groups": 2}


def contributions(question: Question, rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """The exact integers of each level and measure of a table of one person."""
    frame = pl.DataFrame([(1, *row) for row in rows], schema=["id", "ward", "sex", "days", "city"], orient="row").cast(
        {"id": pl.Int64, "ward": pl.String, "sex": pl.String, "days": pl.Int64, "city": pl.String}
    )
    small = asked(opened(frame), tuple(question.keys), question.levels, question.limit or Limit(rows=1))
    found = small.reader.read_levels(np.random.default_rng(3), [level.places for level in small.levels_asked])
    read = []
    for exact in found:
        parts = iter(exact.parts)
        read.append({n: np.concatenate([next(parts) for _ in m.parts]) for n, m in small.measures.items()})
    return read


@pytest.mark.parametrize("limit", [Limit(rows=2), Limit(groups=2, each=1), Limit(groups=1, each=2)])
def test_no_small_person_moves_a_level_further_than_its_sensitivity(limit: Limit) -> None:
    """All people of up to two rows, under both relations; what a person moves is reached at every level."""
    question = asked(opened(stays(30)), ("ward", "sex"), cube("ward", "sex"), limit)
    rows = list(product("AB", "FM", (-1, 2), ["x"]))
    everyone = [[], *([row] for row in rows), *map(list, combinations_with_replacement(rows, 2))]
    read = [contributions(question, person) for person in everyone]
    for place, level in enumerate(question.levels_asked):
        for name, relation in product(question.measures, (ADD_OR_REMOVE_ONE, REPLACE_ONE)):
            vectors = np.array([each[place][name] for each in read])
            bound = question.sensitivity(name, relation, level)
            moved = np.abs(vectors[:, None] - (vectors if relation is REPLACE_ONE else vectors[:1])[None])
            assert moved.sum(2).max() == bound.l1, (level.names, name, relation)
            assert (moved**2).sum(2).max() == bound.l2_squared
            assert moved.max() == bound.linf
            assert (moved > 0).sum(2).max() <= bound.entries


def test_engines_give_the_same_levels_and_one_charge_pays_for_all() -> None:
    frame, texts, ledger = stays(), [], book()
    for source in (frame, duckdb.connect().from_arrow(frame.to_arrow())):
        table = opened(source)
        measures = {"n": count(), "who": people(), "q": quantiles(table["days"], [0.5])}
        question = asked(table, ("ward", "city"), rollup("ward", "city"), Limit(groups=2, each=2), measures)
        release = question.release(budget=ledger.budget(epsilon=30, delta=1e-2), rng=np.random.default_rng(3))
        texts.append(release.to_json())
        assert release.guarantee.epsilon == 30
        assert len(release.details["people"]) == release.details["levels"][0]["groups"]
    assert texts[0] == texts[1]
    assert len(ledger.entries) == 2


def test_levels_that_are_no_sets_of_keys_are_refused() -> None:
    table = opened(stays(30))
    for levels in ((("ward", "colour"),), (), (("ward",), ("ward",))):
        with pytest.raises(InvalidArgument, match="levels: "):
            asked(table, ("ward", "sex"), levels, Limit(rows=1))


def test_consistent_totals_add_up_and_are_no_farther_from_the_truth() -> None:
    table = opened(stays(3000))
    question = asked(
        table, ("ward", "sex"), cube("ward", "sex"), Limit(rows=2), {"n": count(), "s": total(table["days"])}
    )
    prepared, rng = Prepared.of(question, book().budget(epsilon=1)), np.random.default_rng(2)
    exact = prepared.read(rng)
    truth = np.concatenate([level.parts[0] for level in exact])
    errors = []
    for _ in range(300):
        outcome = prepared.interpret(prepared.send(exact, rng))
        frame = consistent_totals(outcome.release(None), "n")  # type: ignore[arg-type]
        n = {tuple(cell): value for *cell, value in frame.select("ward", "sex", "consistent").rows()}
        assert n[None, None] == pytest.approx(n["A", None] + n["B", None])
        assert n[None, "F"] == pytest.approx(n["A", "F"] + n["B", "F"])
        w = frame["whole"].to_list()
        assert w[8] == w[4] + w[5] == w[6] + w[7] == sum(w[:4])
        errors.append([(frame[form].to_numpy() - truth) ** 2 for form in ("noisy", "consistent")])
    noisy, fitted = np.mean(errors, axis=0)
    assert (fitted < noisy).all()
    with pytest.raises(InvalidArgument, match="no measure 'x' was released"):
        consistent_totals(outcome.release(None), "x")  # type: ignore[arg-type]


def test_what_does_not_add_up_is_not_made_to() -> None:
    table = opened(stays(300))
    price = book().budget(epsilon=9, delta=1e-3)
    release = asked(table, ("ward",), rollup("ward"), Limit(rows=2)).release(budget=price)
    with pytest.raises(InvalidArgument, match="people does not add up over groups"):
        consistent_totals(release, "who")
    for keys, levels in ((("ward",), None), (("ward", "city"), rollup("ward", "city"))):
        release = asked(table, keys, levels, Limit(rows=2), {"n": count(), "m": count()}).release(budget=price)
        with pytest.raises(InvalidArgument, match="need several levels, one of them by all keys"):
            consistent_totals(release, "n")


@given(st.integers(0, 2**32), st.sampled_from([(2, 3), (4,), (2, 2, 3)]))
def test_least_squares_are_those_of_the_normal_equations(seed: int, shape: tuple[int, ...]) -> None:
    rng, keys = np.random.default_rng(seed), range(len(shape))
    sets = [tuple(keys), *(axes for axes in cube(*map(str, keys)) if 0 < len(axes) < len(shape)), ()]
    levels = [tuple(int(axis) for axis in axes) for axes in sets]
    cells = np.eye(int(np.prod(shape))).reshape(*shape, -1)
    matrices = [cells.sum(axis=tuple(set(keys) - set(axes))).reshape(-1, int(np.prod(shape))) for axes in levels]
    noisy = [
        (axes, rng.normal(size=len(a)), float(rng.uniform(0.1, 3))) for axes, a in zip(levels, matrices, strict=True)
    ]
    scaled = np.concatenate([a * w**0.5 for a, (_, _, w) in zip(matrices, noisy, strict=True)])
    right = np.concatenate([y * w**0.5 for _, y, w in noisy])
    assert least_squares(list(shape), noisy).reshape(-1) == pytest.approx(np.linalg.lstsq(scaled, right)[0], abs=1e-9)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=9))
def test_whole_numbers_are_not_negative_and_keep_the_total(cells: list[float]) -> None:
    found = whole_numbers(np.array(cells))
    assert (found >= 0).all()
    assert (found == np.round(found)).all()
    assert found.sum() == max(round(sum(cells)), 0)
