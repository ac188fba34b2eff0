"""Coarser tables: the lattice's optimum against all nodes, Mondrian's boxes, and what both still give away."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.anonymity import NOT_A_RELEASE, generalise, intervals, prefixes, risk, tree
from bruit.anonymity.coded import encode_column
from bruit.anonymity.generalisation.hierarchies import levels
from bruit.anonymity.generalisation.lattice import Wanted, lattice
from bruit.anonymity.generalisation.mondrian import boxes
from bruit.errors import InvalidArgument, NotPrivate

RNG = np.random.default_rng(5)
PEOPLE = polars.DataFrame(
    {
        "age": RNG.integers(20, 60, 300),
        "postcode": [f"75{number:03}" for number in RNG.integers(0, 20, 300)],
        "work": RNG.choice(["cook", "baker", "nurse", "doctor"], 300),
        "illness": RNG.choice(["flu", "angina", "asthma"], 300, p=[0.6, 0.3, 0.1]),
        "name": [f"person {number}" for number in range(300)],
    }
)
HIERARCHIES: dict[str, Any] = {
    "age": intervals(5, 10, 20),
    "postcode": prefixes(4, 3),
    "work": tree({"cook": ["food"], "baker": ["food"], "nurse": ["care"], "doctor": ["care"]}),
}
WANTED = [
    {"k": 5},
    {"k": 5, "suppress": 0.1},
    {"k": 3, "l": 2, "sensitive": "illness", "suppress": 0.05},
    {"k": 3, "t": 0.3, "sensitive": "illness", "suppress": 0.2},
]


@pytest.mark.parametrize("wanted", WANTED)
def test_the_lattice_optimum_is_the_best_of_all_nodes(wanted: Any) -> None:
    """Every node is tried again with polars alone."""
    found = generalise(PEOPLE, HIERARCHIES, **wanted)
    best = min(brute_force(wanted))
    assert found.loss == pytest.approx(best)
    assert found.proved


def brute_force(wanted: Any) -> Iterator[Any]:
    columns = [encode_column(PEOPLE[name]).ordered() for name in HIERARCHIES]
    every = [levels(column, HIERARCHIES[column.name]) for column in columns]
    for node in product(*(range(len(each)) for each in every)):
        chosen = [each[place] for each, place in zip(every, node, strict=True)]
        frame = PEOPLE.select(
            "illness",
            *(
                polars.Series(column.name, [level.names[level.codes[code]] for code in column.codes])
                for column, level in zip(columns, chosen, strict=True)
            ),
        ).with_columns(
            loss=sum(level.loss[column.codes] for column, level in zip(columns, chosen, strict=True)) / len(columns)
        )
        kept = [group["loss"].to_list() for _, group in frame.group_by(list(HIERARCHIES)) if keeps(group, wanted)]
        rows = sum(map(len, kept))
        if 1 - rows / 300 <= wanted.get("suppress", 0.0) + 1e-12:
            yield (sum(map(sum, kept)) + 300 - rows) / 300


def keeps(group: Any, wanted: Any) -> Any:
    share = {name: (PEOPLE["illness"] == name).mean() for name in PEOPLE["illness"].unique()}
    apart = sum(max((group["illness"] == name).mean() - part, 0) for name, part in share.items())
    return (
        len(group) >= wanted["k"]
        and group["illness"].n_unique() >= wanted.get("l", 1)
        and apart <= wanted.get("t", 1.0) + 1e-12
    )


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("method", ["lattice", "mondrian"])
def test_the_coarser_table_keeps_what_was_asked(method: Any, wanted: Any) -> None:
    if method == "mondrian":
        wanted = {name: value for name, value in wanted.items() if name not in ("t", "suppress")}
    found = generalise(PEOPLE, HIERARCHIES, method=method, **wanted)
    again = risk(found.frame, list(HIERARCHIES), wanted.get("sensitive", ()))
    assert again.k == found.risk.k >= wanted["k"]
    assert again.rows == 300 - found.suppressed
    if "sensitive" in wanted:
        assert again["illness"].l == found.risk["illness"].l >= wanted.get("l", 1)
        assert again["illness"].certain == found.risk["illness"].certain
    assert found.suppressed <= 300 * wanted.get("suppress", 0.0)
    assert 0 <= found.loss <= 1


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 2)), min_size=4, max_size=60),
    st.integers(1, 4),
    st.integers(1, 2),
)
def test_mondrian_boxes_hold_k_rows_and_only_their_own(rows: list[tuple[int, ...]], k: int, l: int) -> None:  # noqa: E741
    columns = [encode_column(polars.Series(str(i), [row[i] for row in rows])).ordered() for i in range(3)]
    secret = columns.pop()
    if secret.size < l:
        return
    found = boxes(columns, secret, k=k, l=l)
    for box in range(len(found.low)):
        inside = found.part == box
        assert inside.sum() >= min(k, len(rows))
        assert len(set(secret.codes[inside].tolist())) >= l
        for number, column in enumerate(columns):
            assert column.codes[inside].min() == found.low[box, number]
            assert column.codes[inside].max() == found.high[box, number]


def plain_mondrian(table: Any, secret: Any, sizes: Any, k: Any, l: Any) -> Any:  # noqa: E741
    """The same cuts with NumPy, group by group."""
    waiting, done = [np.arange(len(table))], []
    while waiting:
        rows = waiting.pop()
        spans = np.ptp(table[rows], axis=0) / np.maximum(sizes - 1, 1)
        cut = next(
            filter(None, (best_cut(table, secret, rows, i, k, l) for i in np.argsort(-spans, kind="stable"))), None
        )
        if cut is None:
            done.append(frozenset(rows.tolist()))
        else:
            waiting += cut
    return set(done)


def best_cut(table: Any, secret: Any, rows: Any, column: Any, k: Any, l: Any) -> Any:  # noqa: E741
    values = table[rows, column]
    lefts = [(abs(2 * int((values <= cut).sum()) - len(rows)), cut) for cut in np.unique(values)[:-1]]
    lefts = [(off, cut) for off, cut in lefts if k <= (values <= cut).sum() <= len(rows) - k]
    if not lefts:
        return None
    sides = [rows[values <= min(lefts)[1]], rows[values > min(lefts)[1]]]
    return sides if min(len(set(secret[side].tolist())) for side in sides) >= l else None


@pytest.mark.parametrize("spread", [6, 50, 5000])
@pytest.mark.parametrize("l", [1, 2])
def test_mondrian_cuts_where_plain_numpy_does(spread: int, l: int) -> None:  # noqa: E741
    table = np.random.default_rng(spread).integers(0, spread, (500, 3))
    columns = [encode_column(polars.Series(str(i), table[:, i])).ordered() for i in range(3)]
    secret = encode_column(polars.Series("s", np.arange(500) % 3)).ordered()
    found = boxes(columns, secret, k=7, l=l)
    codes = np.stack([column.codes.astype(int) for column in columns], axis=1)
    wanted = plain_mondrian(codes, secret.codes, found.sizes, 7, l)
    assert {frozenset(np.flatnonzero(found.part == box).tolist()) for box in range(len(found.low))} == wanted


def test_mondrian_is_the_same_with_and_without_repeated_rows_drawn_together() -> None:
    """Few distinct rows are cut by weight, many row by row; the boxes agree."""
    codes = np.random.default_rng(2).integers(0, 40, (400, 2))
    columns = [encode_column(polars.Series(str(i), codes[:, i])).ordered() for i in range(2)]
    alone = boxes(columns, None, k=5)
    many = [encode_column(polars.Series(str(i), np.tile(codes[:, i], 20))).ordered() for i in range(2)]
    together = boxes(many, None, k=100)
    assert sorted(map(tuple, alone.low.tolist())) == sorted(map(tuple, together.low.tolist()))
    assert alone.loss == pytest.approx(together.loss)


def test_mondrian_loses_less_than_the_best_lattice() -> None:
    lost: dict[str, Any] = {
        method: generalise(PEOPLE, HIERARCHIES, k=5, method=method).loss for method in ("lattice", "mondrian")
    }
    assert lost["mondrian"] < lost["lattice"]


def test_a_larger_k_does_not_help_a_homogeneous_group() -> None:
    sick = polars.DataFrame({"age": [30] * 20 + [60] * 20, "illness": ["flu"] * 20 + ["cancer"] * 20})
    found = generalise(sick, ["age"], k=20, sensitive="illness", method="mondrian")
    assert found.risk.k == 20
    assert found.risk["illness"].certain == 40
    mended = generalise(sick, ["age"], k=20, l=2, sensitive="illness", method="mondrian")
    assert mended.risk["illness"].certain == 0


def test_only_what_was_named_is_kept() -> None:
    found = generalise(PEOPLE, HIERARCHIES, k=5)
    assert found.frame.columns == ["age", "postcode", "work"]
    assert generalise(PEOPLE, HIERARCHIES, k=5, keep=["illness"]).frame.columns == [*found.frame.columns, "illness"]
    assert NOT_A_RELEASE in str(found.to_json())


def test_levels_of_each_hierarchy() -> None:
    ages = encode_column(polars.Series("age", [21, 24, 26, None])).ordered()
    by_five = levels(ages, intervals(5))[1]
    assert [by_five.names[code] for code in by_five.codes] == ["[20, 25)", "[20, 25)", "[25, 30)", "*"]
    assert by_five.loss.tolist() == pytest.approx([1 / 3, 1 / 3, 0, 0])
    posts = encode_column(polars.Series("post", ["75011", "75012"])).ordered()
    assert levels(posts, prefixes(4, 3))[1].names == ("7501*",)
    assert levels(posts, None)[-1].names == ("*",)


def test_what_cannot_be_kept_is_told() -> None:
    with pytest.raises(NotPrivate, match="fewer rows"):
        generalise(PEOPLE, HIERARCHIES, k=301)
    with pytest.raises(NotPrivate, match="suppress"):
        generalise(PEOPLE, HIERARCHIES, k=2, l=4, sensitive="illness")
    with pytest.raises(NotPrivate, match="fewer different values"):
        generalise(PEOPLE, HIERARCHIES, k=2, l=4, sensitive="illness", method="mondrian")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"k": 0}, "k ≥ 1"),
        ({"k": 2, "l": 2}, "sensitive"),
        ({"k": 2, "t": 0.0}, "t ≤ 1"),
        ({"k": 2, "method": "best"}, "mondrian"),
        ({"k": 2, "method": "mondrian", "suppress": 0.1}, "lattice"),
        ({"k": 2, "sensitive": "age"}, "cannot be one"),
    ],
)
def test_bad_wishes_are_refused(wanted: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        generalise(PEOPLE, HIERARCHIES, **wanted)


@pytest.mark.parametrize(
    "make",
    [
        lambda: intervals(),
        lambda: intervals(5, 7),
        lambda: prefixes(2, 3),
        lambda: tree({"a": ["x", "up"], "b": ["x", "down"]}),
        lambda: levels(encode_column(polars.Series("x", ["a"])), intervals(5)),
    ],
)
def test_bad_hierarchies_are_refused(make: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        make()


def test_a_lattice_too_large_to_prove_is_refused() -> None:
    columns = [encode_column(polars.Series(str(i), range(64))) for i in range(4)]
    with pytest.raises(InvalidArgument, match="mondrian"):
        lattice(columns, [levels(column, intervals(*(2**i for i in range(9)))) for column in columns], None)


def test_a_node_is_judged_by_its_rows() -> None:
    columns = [encode_column(polars.Series("x", [1, 1, 2])).ordered()]
    found = lattice(columns, [levels(columns[0], None)], None)
    assert found.judge((0,), Wanted(2)) == pytest.approx((1 / 3, 1 / 3))
    assert found.judge((1,), Wanted(2)) == pytest.approx((1.0, 0.0))
