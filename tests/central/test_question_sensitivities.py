"""All small tables: how far one person moves the exact integers, against the one function that says how far."""

from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from bruit.central.questions.sensitivities import RowRange, Sensitivity, sensitivity
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.operators import open_table
from bruit.tables.plan.reading import Part, Reader
from bruit.tables.relations.operations import PERSON
from bruit.tables.relations.running import run
from bruit.tables.schema import Schema, number, whole

ENGINES = ["polars", "duckdb"]
BOUNDS = [(0, 2), (-1, 1), (1, 2), (-2, 1)]
LIMITS = [Limit(rows=rows) for rows in (1, 2, 3)] + [
    Limit(groups=g, each=r) for g, r in ((1, 1), (1, 2), (2, 1), (3, 1), (2, 2))
]
STATISTICS = ["count", "people", "sum", "mean", "variance"]


def most_rows(groups: int) -> int:
    return 3 if groups <= 3 else 2


@cache
def people(groups: int, low: int, high: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    cells = list(product(range(groups), range(low, high + 1)))
    return tuple(p for n in range(most_rows(groups) + 1) for p in combinations_with_replacement(cells, n))


def chosen(groups: int, low: int, high: int, limit: Limit, engine: str, key: int) -> list[list[tuple[int, int]]]:
    """The rows that count of every small person; all of them stand in one table, each under a name of its own."""
    everyone = people(groups, low, high)
    rows = [(who, g, x) for who, each in enumerate(everyone) for g, x in each]
    frame = pl.DataFrame(rows, schema={"id": pl.Int64, "group": pl.Int64, "x": pl.Int64}, orient="row").sample(
        fraction=1, shuffle=True, seed=key
    )
    columns: Any = {"id": whole(), "group": number(0, max(groups - 1, 1), grid=1), "x": number(low, high, grid=1)}
    source: Any = frame if engine == "polars" else duckdb.connect().from_arrow(frame.to_arrow())
    table = open_table(source, Schema("id", columns))
    reader = Reader(table, (table["group"],), (Part("sum", table["x"]),), limit)
    (kept,) = run([reader.chosen(np.random.default_rng(key))])
    found: list[list[tuple[int, int]]] = [[] for _ in everyone]
    for who, group, x in kept.select(PERSON, "key 0", "value 0").rows():
        found[who].append((group, x))
    return found


def contribution(rows: list[tuple[int, int]], groups: int, statistic: str, low: int, high: int) -> tuple[int, ...]:
    """What one person's chosen rows add to the entries: the definition, by hand."""
    width = {"mean": 2, "variance": 3}.get(statistic, 1)
    entries = np.zeros((groups, width), int)
    for g, x in rows:
        a, b = x - low, high - x
        entries[g] += {
            "count": (1,),
            "people": (1,),
            "sum": (x,),
            "mean": (a, b),
            "variance": (b * b, 2 * a * b, a * a),
        }[statistic]
    return tuple((np.minimum(entries, 1) if statistic == "people" else entries).ravel().tolist())


def row_range(statistic: str, low: int, high: int) -> RowRange:
    width = high - low
    return {
        "count": RowRange(0, 1),
        "people": RowRange(0, 1, once=True),
        "sum": RowRange(min(low, 0), max(high, 0)),
        "mean": RowRange(0, width, ends=2),
        "variance": RowRange(0, width**2, ends=3),
    }[statistic]


def greatest(contributions: set[tuple[int, ...]], *, replace: bool) -> tuple[int, int, int, int]:
    vectors = np.array(sorted(contributions))
    best = (0, 0, 0, 0)
    for vector in vectors if replace else vectors[:1] * 0:
        moved = np.abs(vectors - vector)
        found = moved.sum(1).max(), (moved**2).sum(1).max(), moved.max(), (moved > 0).sum(1).max()
        best = tuple(int(max(pair)) for pair in zip(best, found, strict=True))  # type: ignore[assignment]
    return best


def covered(move: tuple[int, ...], bound: Sensitivity) -> bool:
    """Whether a change lies below one of the listed spreads, entry by entry."""
    if bound.spreads is None:
        return True
    sizes = sorted((abs(each) for each in move if each), reverse=True)
    listed = [[by for by, times in spread for _ in range(times)] for spread in bound.spreads]
    return any(
        len(sizes) <= len(each) and all(s <= m for s, m in zip(sizes, sorted(each, reverse=True), strict=False))
        for each in listed
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("groups", [1, 2, 3, 4])
def test_rule_12_no_small_table_moves_further_than_its_sensitivity_and_some_table_moves_so_far(
    groups: int, engine: str
) -> None:
    checked = 0
    fitting = [
        limit for limit in LIMITS if (limit.rows or (limit.groups or 0) * (limit.each or 0)) <= most_rows(groups)
    ]
    for (low, high), limit in product(BOUNDS if engine == "polars" else BOUNDS[1:2], fitting):
        rows = chosen(groups, low, high, limit, engine, key=checked)
        for statistic in STATISTICS:
            moved = {contribution(each, groups, statistic, low, high) for each in rows}
            for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE):
                bound = sensitivity(row_range(statistic, low, high), limit, groups=groups, neighbours=relation)
                stated = (bound.l1, bound.l2_squared, bound.linf)
                found = greatest(moved, replace=relation is REPLACE_ONE)
                assert found[:3] == stated, (groups, low, high, limit, statistic, relation)
                assert found[3] <= bound.entries
                checked += 1
            add = sensitivity(row_range(statistic, low, high), limit, groups=groups, neighbours=ADD_OR_REMOVE_ONE)
            assert all(covered(each, add) for each in moved)
    assert checked == 10 * len(fitting) * (len(BOUNDS) if engine == "polars" else 1)


def test_exchanges_lie_below_the_listed_spreads() -> None:
    for groups, limit in product((1, 2, 3), LIMITS[:5]):
        rows = chosen(groups, 0, 1, limit, "polars", key=7)
        for statistic in ("count", "people", "sum"):
            bound = sensitivity(row_range(statistic, 0, 1), limit, groups=groups, neighbours=REPLACE_ONE)
            assert bound.spreads is not None
            moved = {contribution(each, groups, statistic, 0, 1) for each in rows}
            for one, other in product(moved, repeat=2):
                assert covered(tuple(a - b for a, b in zip(one, other, strict=True)), bound)


def test_coarser_levels_and_found_groups_are_never_too_small() -> None:
    for (groups, fold), limit in product(((3, lambda g: g // 2), (3, lambda g: 0)), LIMITS[:7]):
        coarse = len({fold(g) for g in range(groups)})
        rows = [[(fold(g), x) for g, x in each] for each in chosen(groups, -1, 1, limit, "polars", key=3)]
        for statistic, relation in product(STATISTICS, (ADD_OR_REMOVE_ONE, REPLACE_ONE)):
            moved = {contribution(each, coarse, statistic, -1, 1) for each in rows}
            bound = sensitivity(row_range(statistic, -1, 1), limit, groups=coarse, neighbours=relation, coarser=True)
            unknown = sensitivity(row_range(statistic, -1, 1), limit, groups=None, neighbours=relation, coarser=True)
            found = greatest(moved, replace=relation is REPLACE_ONE)
            assert all(
                f <= s for f, s in zip(found, (bound.l1, bound.l2_squared, bound.linf, bound.entries), strict=True)
            )
            assert (bound.l1, bound.l2_squared) <= (unknown.l1, unknown.l2_squared)


def test_each_row_is_the_smallest_person() -> None:
    for statistic, l1 in (("count", (1, 2)), ("mean", (2, 4)), ("sum", (1, 2))):
        for relation, wanted in zip((ADD_OR_REMOVE_ONE, REPLACE_ONE), l1, strict=True):
            bound = sensitivity(row_range(statistic, -1, 1), None, groups=5, neighbours=relation)
            assert bound.l1 == wanted
