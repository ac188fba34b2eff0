import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit import central
from bruit.errors import InvalidArgument
from bruit.tables import within

RELATIONS = st.sampled_from([bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE])
PUBLIC = {"domain": within(0, 100, grid=1), "size": 10, "probabilities": bruit.DECILES}


@pytest.mark.parametrize("statistic", ["count", "histogram", "sum", "mean", "variance", "quantiles"])
@given(error=st.integers(5, 5000), neighbours=RELATIONS)
def test_epsilon_for_an_error_gives_that_error_and_little_less_does_not(statistic, error, neighbours):
    epsilon = central.epsilon_for(statistic, error=error, neighbours=neighbours, **PUBLIC)
    assert central.expected_error(statistic, epsilon=epsilon, neighbours=neighbours, **PUBLIC) <= error
    less = epsilon * 99 / 100
    assert central.expected_error(statistic, epsilon=less, neighbours=neighbours, **PUBLIC) >= error * 0.95


def test_what_is_expected_is_what_the_release_says(ledger, neighbours, table):
    budget, x = ledger.budget(epsilon="0.3"), table["x"].within(0, 10, grid="0.5")
    public = {"epsilon": "0.3", "neighbours": neighbours, "domain": x.numbers}
    releases = {
        "count": central.count(table, budget=budget),
        "sum": central.sum(x, budget=budget),
        "histogram": central.histogram(x, budget=budget),
    }
    for statistic, release in releases.items():
        assert central.expected_error(statistic, **public) == release.noise


def test_a_mean_of_public_size_is_planned_before_it_is_asked(ledger, neighbours):
    column = bruit.tables.read(pl.DataFrame({"x": np.full(1000, 50.0)}), person=bruit.EACH_ROW)["x"].within(
        0, 100, grid=1
    )
    release = central.mean(column, budget=ledger.budget(epsilon=1), size=1000)
    planned = central.expected_error("mean", epsilon=1, neighbours=neighbours, domain=column.numbers, size=1000)
    assert planned == pytest.approx(release.noise)


@pytest.mark.parametrize("statistic", [central.mean, central.variance])
@pytest.mark.parametrize("size", [None, 100_000])
def test_the_plan_of_a_moment_bounds_what_its_release_says(ledger, neighbours, statistic, size):
    """Half-way between the middle and the end of the bounds, a release is at most four times as sharp as its plan."""
    values = pl.DataFrame({"x": [50.0, 100.0] * 50_000})
    column = bruit.tables.read(values, person=bruit.EACH_ROW)["x"].within(0, 100, grid=1)
    release = statistic(column, budget=ledger.budget(epsilon=1), size=size, rng=np.random.default_rng(1))
    public = {"epsilon": 1, "neighbours": neighbours, "domain": column.numbers, "size": 100_000}
    planned = central.expected_error(statistic.__name__, public_size=size is not None, **public)
    assert release.noise <= planned * 1.01
    assert planned <= 4 * release.noise * 1.01


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"statistic": "maximum"}, "choose among"),
        ({"statistic": "sum"}, "domain"),
        ({"statistic": "mean", "domain": within(0, 1, grid=1)}, "size"),
        ({"statistic": "quantiles"}, "probabilities"),
        ({"statistic": "count", "epsilon": 0}, "epsilon"),
        ({"statistic": "count", "confidence": 2.0}, "confidence"),
    ],
)
def test_a_plan_says_what_it_still_needs(wrong, words):
    with pytest.raises(InvalidArgument, match=words):
        central.expected_error(**{"epsilon": 1, "neighbours": bruit.REPLACE_ONE, **wrong})


def test_an_error_that_no_epsilon_reaches_is_refused():
    with pytest.raises(InvalidArgument, match="above zero"):
        central.epsilon_for("count", error=0, neighbours=bruit.REPLACE_ONE)
