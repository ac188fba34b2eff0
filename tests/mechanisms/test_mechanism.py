"""A mechanism releases and draws the same, and its reading moves no further than its loss says."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bruit
from bruit import central
from bruit.central.questions import RowRange, sensitivity
from bruit.channels import IntegerNoise
from bruit.core.losses import DiscreteGaussian, DiscreteLaplace
from bruit.core.release import Outcome
from bruit.errors import InvalidArgument, NotPrivate, PrivacyError
from bruit.ledger import WITHOUT_PRIVACY
from bruit.mechanisms import Mechanism, send_array
from bruit.privacy import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours

BOTH = [ADD_OR_REMOVE_ONE, REPLACE_ONE]
NOISE = IntegerNoise(DiscreteLaplace(2, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE))
FRAME = pl.DataFrame({"id": [1, 1, 2, 3, 3, 3], "x": [0, 4, 9, 2, 2, 7], "g": ["a", "b", "a", "b", "b", "a"]})


def price(neighbours: Neighbours, person: str = "id", **amount: Any) -> bruit.ledger.Budget:
    book = bruit.Ledger("book", epsilon=1000, delta=0.5, neighbours=neighbours, person=person)
    return book.budget(**(amount or {"epsilon": 1}))


def table(frame: pl.DataFrame, rows: int = 2, groups: int = 2) -> bruit.tables.Table:
    return bruit.tables.read(frame, person="id").limit(groups=groups, each=rows)


def asked(read: bruit.tables.Table) -> dict[str, tuple[Any, Any]]:
    """Each public callable with its maker, on a table."""
    x, g = read["x"].within(0, 10, grid=1), read["g"].among(["a", "b"])
    scores: dict[str, Any] = {"sensitivity": 1}
    return {
        "count": (lambda **paid: central.count(x, **paid), lambda p: central.count_mechanism(x, p)),
        "histogram": (
            lambda **paid: central.histogram(g, x, **paid),
            lambda p: central.histogram_mechanism(g, x, price=p),
        ),
        "sum": (lambda **paid: central.sum(x, **paid), lambda p: central.sum_mechanism(x, p)),
        "mean": (lambda **paid: central.mean(x, **paid), lambda p: central.mean_mechanism(x, p)),
        "variance": (
            lambda **paid: central.variance(x, **paid),
            lambda p: central.variance_mechanism(x, p),
        ),
        "group sums": (
            lambda **paid: central.group_by(g, values=x, **paid),
            lambda p: central.group_sums_mechanism(g, x, p),
        ),
        "bounds": (
            lambda **paid: central.bounds(read["x"], largest=64, grid=1, **paid),
            lambda p: central.bounds_mechanism(read["x"], p, largest=64, grid=1),
        ),
        "quantiles": (
            lambda **paid: central.quantiles(x, [0.25, 0.5], **paid),
            lambda p: central.quantiles_mechanism(x, [0.25, 0.5], p),
        ),
        "rank sums": (lambda **paid: central.rank_sums(x, g, **paid), lambda p: central.rank_sums_mechanism(x, g, p)),
        "most common": (lambda **paid: central.most_common(g, **paid), lambda p: central.most_common_mechanism(g, p)),
        "exponential": (
            lambda **paid: central.exponential(read, ["p", "q"], lambda _: [1, 0], **scores, **paid),
            lambda p: central.exponential_mechanism(read, ["p", "q"], lambda _: [1, 0], p, **scores),
        ),
        "noisy max": (
            lambda **paid: central.noisy_max(read, ["p", "q"], lambda _: [1, 0], **scores, **paid),
            lambda p: central.noisy_max_mechanism(read, ["p", "q"], lambda _: [1, 0], p, **scores),
        ),
        "inverse sensitivity": (
            lambda **paid: central.inverse_sensitivity(g, lambda k: int(k.argmax()), [0, 1], reach=2, **paid),
            lambda p: central.inverse_sensitivity_mechanism(g, lambda k: int(k.argmax()), [0, 1], p, reach=2),
        ),
        "found groups": (
            lambda **paid: central.group_by(read["g"], **paid),
            lambda p: central.found_groups_mechanism(read["g"], p),
        ),
    }


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize("name", asked(table(FRAME)))
def test_the_first_of_one_draw_is_the_release(name: str, neighbours: Neighbours) -> None:
    public, maker = asked(table(FRAME))[name]
    paid = price(neighbours, epsilon=1, delta=0.1) if name == "found groups" else price(neighbours)
    for seed in range(3):
        released = public(budget=paid, rng=np.random.default_rng(seed))
        (drawn,) = maker(paid).outcomes(1, budget=WITHOUT_PRIVACY, rng=np.random.default_rng(seed))
        assert drawn.release(released.guarantee).to_json() == released.to_json()


def test_every_maker_is_tried() -> None:
    makers = [name for name in central.__all__ if name.endswith("_mechanism")]
    assert len(makers) == len(asked(table(FRAME)))


def test_draws_must_be_asked_for_by_name_and_write_no_book() -> None:
    paid = price(ADD_OR_REMOVE_ONE)
    mechanism = central.count_mechanism(table(FRAME), paid)
    with pytest.raises(PrivacyError, match=r"WITHOUT_PRIVACY"):
        mechanism.draws(3, budget=paid)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="n=0"):
        mechanism.draws(0, budget=WITHOUT_PRIVACY)
    assert mechanism.draws(3, budget=WITHOUT_PRIVACY).shape == (3,)
    assert not paid.ledger.entries


def test_one_reading_serves_all_draws_and_equal_outputs_are_interpreted_once() -> None:
    read, interpreted = [], []

    def interpret(row: np.ndarray) -> Outcome[int]:
        interpreted.append(int(row[0]))
        return Outcome(value=int(row[0]), method="test")

    def reading(_: np.random.Generator) -> np.ndarray:
        read.append(1)
        return np.array([far])

    far = 2**62 + 5
    mechanism = Mechanism("test", NOISE.loss, reading, send_array(NOISE), interpret)
    values = mechanism.draws(2000, budget=WITHOUT_PRIVACY, rng=np.random.default_rng(1))
    assert len(read) == 1
    assert len(interpreted) == len(set(interpreted)) == len(set(values))
    assert max(abs(int(value) - far) for value in values) < 100, "near the end of 64 bits sums are Python's own"


def test_rows_of_an_array_are_independent_draws() -> None:
    rows = send_array(NOISE)(np.zeros((2, 3), np.int64), 5, np.random.default_rng(2))
    np.testing.assert_array_equal(rows.reshape(-1), NOISE.draw(30, rng=np.random.default_rng(2)))


PEOPLE = st.lists(st.tuples(st.integers(1, 3), st.integers(-6, 12), st.sampled_from("abc")), max_size=8)


def frame_of(rows: list[tuple[int, int, str]]) -> pl.DataFrame:
    kinds = {"id": pl.Int64, "x": pl.Int64, "g": pl.String}
    return pl.DataFrame(rows, schema=kinds, orient="row")


@settings(max_examples=150)
@given(
    PEOPLE,
    PEOPLE,
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(BOTH),
    st.integers(-6, 0),
    st.integers(0, 12),
    st.integers(0, 2**32),
)
def test_a_reading_moves_no_further_than_its_sensitivity(
    others: list[tuple[int, int, str]],
    rows_of_one: list[tuple[int, int, str]],
    rows: int,
    groups: int,
    neighbours: Neighbours,
    low: int,
    high: int,
    seed: int,
) -> None:
    """Rules 3 and 6 without noise: person 9 is absent or another's rows, whatever the rows hold."""
    own = [(9, x, g) for _, x, g in rows_of_one]
    other = [] if neighbours is ADD_OR_REMOVE_ONE else [(9, -x, g) for _, x, g in reversed(rows_of_one)]
    tables = [table(frame_of(others + each), rows, groups) for each in (own, other)]
    moved: dict[str, list[Any]] = {}
    for each in tables:
        x, g = each["x"].within(low, high + 1, grid=1), each["g"].among(["a", "b"])
        paid = price(neighbours)
        made = {
            "count": central.count_mechanism(x, paid),
            "histogram": central.histogram_mechanism(g, price=paid),
            "sum": central.sum_mechanism(x, paid),
            "mean": central.mean_mechanism(x, paid),
            "variance": central.variance_mechanism(x, paid),
            "group sums": central.group_sums_mechanism(g, x, paid),
        }
        for name, mechanism in made.items():
            moved.setdefault(name, []).append((mechanism, np.asarray(mechanism.read(np.random.default_rng(seed)))))  # type: ignore[attr-defined]
    for name, ((mechanism, one), (_, two)) in moved.items():
        assert isinstance(mechanism.loss, DiscreteLaplace)
        assert int(np.abs(one - two).sum()) <= mechanism.loss.sensitivity, name
    (_, one), (_, two) = moved["group sums"]
    ends = RowRange(min(x.numbers.lowest, 0), max(x.numbers.highest, 0))
    stated = sensitivity(ends, bruit.tables.Limit(groups=groups, each=rows), groups=3, neighbours=neighbours)
    assert int(((one - two) ** 2).sum()) <= stated.l2_squared


@pytest.mark.parametrize("neighbours", BOTH)
def test_squares_of_sums_by_group_are_reached_and_less_is_refused(neighbours: Neighbours) -> None:
    """An exchange inside one group moves its sum from one end to the other: four times a single end in squares."""
    limit = bruit.tables.Limit(groups=2, each=1)
    moved = sensitivity(RowRange(-1, 1), limit, groups=3, neighbours=neighbours)
    assert moved.l2_squared == (2 if neighbours is ADD_OR_REMOVE_ONE else 8)
    ends = list(product((-1, 0, 1), repeat=2))
    farthest = max(
        (a - c) ** 2 + (b - d) ** 2 for (a, b), (c, d) in product(ends, [(0, 0)] if moved.l2_squared == 2 else ends)
    )
    assert farthest == moved.l2_squared
    book = bruit.Ledger("book", epsilon=100, delta=0.1, neighbours=neighbours, person="id", by="zcdp")
    read = table(FRAME, rows=1)
    g, x = read["g"].among(["a", "b"]), read["x"].within(-1, 1, grid=1)
    for squared in (moved.l2_squared, moved.l2_squared - 1):
        settled = {"squared_sensitivity": squared, "entries": moved.entries, "neighbours": neighbours}
        budget = book.budget(DiscreteGaussian(Fraction(9), **settled))
        if squared == moved.l2_squared:
            assert central.group_by(g, values=x, budget=budget).method == "DiscreteGaussian"
        else:
            with pytest.raises(NotPrivate, match="squared l2"):
                central.group_by(g, values=x, budget=budget)


def test_columns_of_one_question_have_one_limit() -> None:
    read = bruit.tables.read(FRAME, person="id")
    g, x = read["g"].among(["a", "b"]).limit(rows=50), read["x"].within(0, 10, grid=1).limit(rows=1)
    paid = price(ADD_OR_REMOVE_ONE)
    with pytest.raises(InvalidArgument, match="one limit"):
        central.group_by(g, values=x, budget=paid)
    with pytest.raises(InvalidArgument, match="one limit"):
        central.histogram(g, x, budget=paid)
    assert not paid.ledger.entries
