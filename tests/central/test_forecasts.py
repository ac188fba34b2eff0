from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import bruit
from bruit import central
from bruit.channels import IntegerNoise
from bruit.core import Neighbours
from bruit.errors import InvalidArgument
from bruit.mechanisms import Mechanism
from bruit.tables import Table, within

RELATIONS = st.sampled_from([bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE])
PUBLIC = {"domain": within(0, 100, grid=1), "expected_size": 10, "probabilities": bruit.DECILES}


@pytest.mark.parametrize("statistic", ["count", "histogram", "sum", "mean", "variance", "quantiles"])
@settings(max_examples=25)
@given(error=st.integers(5, 5000), neighbours=RELATIONS)
def test_epsilon_for_an_error_gives_that_error_and_little_less_does_not(
    statistic: Any, error: int, neighbours: Any
) -> None:
    error = min(error, {"mean": 49, "variance": 1249}.get(statistic, error))  # nothing is off by more than its bounds
    epsilon = central.epsilon_for(statistic, error=error, neighbours=neighbours, **PUBLIC)
    assert central.expected_error(statistic, epsilon=epsilon, neighbours=neighbours, **PUBLIC) <= error
    less = epsilon * 99 / 100
    assert central.expected_error(statistic, epsilon=less, neighbours=neighbours, **PUBLIC) >= error * 0.95


def test_what_is_expected_is_what_the_release_says(ledger: bruit.Ledger, neighbours: Neighbours, table: Table) -> None:
    budget, x = ledger.budget(epsilon="0.3"), table["x"].within(0, 10, grid="0.5")
    public: dict[str, Any] = {"epsilon": "0.3", "neighbours": neighbours, "domain": x.numbers}
    releases = {
        "count": central.count(table, budget=budget),
        "sum": central.sum(x, budget=budget),
        "histogram": central.histogram(x, budget=budget),
    }
    for statistic, release in releases.items():
        assert central.expected_error(statistic, **public) == release.noise  # type: ignore[attr-defined]


def test_a_mean_of_public_size_is_planned_before_it_is_asked() -> None:
    frame = pl.DataFrame({"x": np.full(1000, 50.0)})
    column = bruit.tables.read(frame, person=bruit.EACH_ROW)["x"].within(0, 100, grid=1, missing=0)
    book = bruit.Ledger("rows", epsilon=10, neighbours=bruit.REPLACE_ONE, person=bruit.EACH_ROW)
    release = central.mean(column, budget=book.budget(epsilon=1), size=1000)
    public = {"epsilon": 1, "neighbours": bruit.REPLACE_ONE, "domain": column.numbers}
    assert central.expected_error("mean", size=1000, **public) == pytest.approx(release.noise)
    assert central.expected_error("mean", expected_size=1000, **public) > release.noise
    with pytest.raises(InvalidArgument, match="REPLACE_ONE"):
        central.expected_error("mean", size=1000, **public | {"neighbours": bruit.ADD_OR_REMOVE_ONE})


@settings(max_examples=60)
@given(st.fractions(Fraction(1, 20), 30), st.integers(-30, 30), st.integers(1, 40), st.integers(1, 60))
def test_no_mean_of_public_size_says_more_than_was_forecast(epsilon: Fraction, low: int, width: int, size: int) -> None:
    frame = pl.DataFrame({"x": [low + place % (width + 1) for place in range(size)]})
    table = bruit.tables.read(frame, person=bruit.EACH_ROW)
    column = table["x"].within(low, low + width, grid=1, missing=low)
    book = bruit.Ledger("rows", epsilon=100, neighbours=bruit.REPLACE_ONE, person=bruit.EACH_ROW)
    release = central.mean(column, budget=book.budget(epsilon=epsilon), size=size)
    public: dict[str, Any] = {"neighbours": bruit.REPLACE_ONE, "domain": column.numbers}
    planned = central.expected_error("mean", epsilon=epsilon, size=size, **public)
    assert release.noise <= planned * (1 + 1e-9)


VALUES = st.lists(st.integers(-7, 30), min_size=1, max_size=60)
MAKERS = {"mean": central.mean_mechanism, "variance": central.variance_mechanism}


def half_width(mechanism: Any, ends: Any) -> Any:
    """How far each noisy end may be off, all of them within the confidence."""
    return IntegerNoise(mechanism.loss).half_width(1 - 0.05 / ends)


@st.composite
def moments_of_a_table(draw: Any) -> Any:
    """A mean or variance mechanism on a small table, its forecast and a row of ends within their half-widths."""
    low, width = draw(st.integers(-20, 20)), draw(st.integers(1, 30))
    domain = within(low, low + width, grid=1)
    values = [low + value % (width + 1) for value in draw(VALUES)]
    rows = draw(st.none() | st.integers(1, 4))
    limit, person = (None, bruit.EACH_ROW) if rows is None else (bruit.tables.Limit(rows=rows), "id")
    frame = pl.DataFrame({"id": [place // (rows or 1) for place in range(len(values))], "x": values})
    table = bruit.tables.read(frame, person=person)
    column = (table if rows is None else table.limit(rows=rows))["x"].within(low, low + width, grid=1)
    neighbours, epsilon = draw(RELATIONS), draw(st.fractions(Fraction(1, 20), 30))
    book = bruit.Ledger("rows", epsilon=100, neighbours=neighbours, person=person)
    name = draw(st.sampled_from(["mean", "variance"]))
    mechanism = MAKERS[name](column, book.budget(epsilon=epsilon))
    asked: dict[str, Any] = {"neighbours": neighbours, "domain": domain, "limit": limit}
    planned = central.expected_error(name, epsilon=epsilon, expected_size=len(values), **asked)
    ends = mechanism.read(np.random.default_rng(0)).reshape(-1)
    off = half_width(mechanism, len(ends))
    noisy = [value + draw(st.integers(-off, off)) for value in ends.tolist()]
    return mechanism, planned, np.array(noisy)


@settings(max_examples=150)
@given(moments_of_a_table())
def test_no_noise_within_its_confidence_makes_a_release_say_more_than_was_forecast(
    asked: tuple[Mechanism[Any, Any], float, NDArray[np.int64]],
) -> None:
    """The bound holds for every table and every draw, not on average: it is followed through the same arithmetic."""
    mechanism, planned, noisy = asked
    assert mechanism.interpret(noisy).noise <= planned * (1 + 1e-9)


@pytest.mark.parametrize("name", ["mean", "variance"])
@pytest.mark.parametrize("neighbours", [bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE])
def test_the_worst_table_comes_close_to_its_forecast(neighbours: Neighbours, name: str) -> None:
    """Of tables with shares of values at both ends and in the middle, one has at least nine tenths of the forecast."""
    rows, book = 2000, bruit.Ledger("rows", epsilon=100, neighbours=neighbours, person=bruit.EACH_ROW)
    domain = within(0, 100, grid=1)
    planned = central.expected_error(name, epsilon=1, neighbours=neighbours, domain=domain, expected_size=rows)
    found = 0.0
    for upper, lower in product(range(0, 101, 5), range(0, 101, 5)):
        if upper + lower <= 100:
            high, low = rows * upper // 100, rows * lower // 100
            values = [100] * high + [0] * low + [50] * (rows - high - low)
            column = bruit.tables.read(pl.DataFrame({"x": values}), person=bruit.EACH_ROW)["x"].within(0, 100, grid=1)
            mechanism = MAKERS[name](column, book.budget(epsilon=1))
            ends = mechanism.read(np.random.default_rng(0)).reshape(-1)
            off = half_width(mechanism, len(ends))
            for sides in product((-1, 0, 1), repeat=len(ends)):
                found = max(found, mechanism.interpret(ends + off * np.array(sides)).noise)  # type: ignore[assignment, type-var]
    assert 0.9 * planned <= found <= planned * (1 + 1e-9)


@given(
    st.fractions(Fraction(1, 20), 30),
    RELATIONS,
    st.integers(-30, 30),
    st.integers(1, 40),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_sums_by_group_are_forecast_as_they_are_released(
    epsilon: Fraction, neighbours: Neighbours, low: int, width: int, rows: int, groups: int
) -> None:
    frame = pl.DataFrame({"id": [1, 2], "x": [0, 1], "g": ["a", "b"]})
    limit = bruit.tables.Limit(groups=groups, each=rows)
    table = bruit.tables.read(frame, person="id").limit(groups=groups, each=rows)
    book = bruit.Ledger("people", epsilon=100, neighbours=neighbours, person="id")
    x = table["x"].within(low, low + width, grid=1)
    release = central.group_by(table["g"].among(["a", "b"]), values=x, budget=book.budget(epsilon=epsilon))
    public = {"epsilon": epsilon, "neighbours": neighbours, "domain": x.numbers, "limit": limit}
    assert central.expected_error("group_by", **public, groups=3) == release.noise
    assert central.expected_error("group_by", **public) >= release.noise


@pytest.mark.parametrize("statistic", ["count", "histogram", "sum"])
@settings(max_examples=60)
@given(
    st.fractions(Fraction(1, 20), 30), RELATIONS, st.integers(-30, 30), st.integers(1, 40), st.integers(1, 5), VALUES
)
def test_totals_of_people_with_many_rows_are_forecast_as_they_are_released(
    statistic: str, epsilon: Fraction, neighbours: Neighbours, low: int, width: int, rows: int, values: list[int]
) -> None:
    """Of any size: the noise of a total depends on public numbers alone."""
    frame = pl.DataFrame({"id": [i // 3 for i in range(len(values))], "x": values})
    table = bruit.tables.read(frame, person="id").limit(rows=rows)
    x = table["x"].within(low, low + width, grid=1)
    budget = bruit.Ledger("people", epsilon=100, neighbours=neighbours, person="id").budget(epsilon=epsilon)
    release: Any = central.count(table, budget=budget) if statistic == "count" else None
    release = release or getattr(central, statistic)(x, budget=budget)
    limit, cells = bruit.tables.Limit(rows=rows), {"groups": width + 1} if statistic == "histogram" else {}
    public: dict[str, Any] = {"epsilon": epsilon, "neighbours": neighbours, "domain": x.numbers, "limit": limit}
    assert central.expected_error(statistic, **public, **cells) == release.noise
    assert central.expected_error(statistic, **public) >= release.noise


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"statistic": "maximum"}, "choose among"),
        ({"statistic": "sum"}, "domain"),
        ({"statistic": "mean", "domain": within(0, 1, grid=1)}, "size"),
        ({"statistic": "mean", "domain": within(0, 1, grid=1), "size": 5, "expected_size": 5}, "expected_size"),
        ({"statistic": "quantiles"}, "probabilities"),
        ({"statistic": "count", "epsilon": 0}, "epsilon"),
        ({"statistic": "count", "confidence": 2.0}, "confidence"),
    ],
)
def test_a_plan_says_what_it_still_needs(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        central.expected_error(**{"epsilon": 1, "neighbours": bruit.REPLACE_ONE, **wrong})


def test_an_error_that_no_epsilon_reaches_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="above zero"):
        central.epsilon_for("count", error=0, neighbours=bruit.REPLACE_ONE)
