"""Answers carry intervals that cover the true table, and marginals that agree."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from synthetic_people import COLUMNS, people

import bruit
from bruit.errors import InvalidArgument
from bruit.synthetic import SyntheticTable, synthesise
from bruit.synthetic.accuracy.estimates import Measurements
from bruit.synthetic.gibbs import Measured
from bruit.tables import read, within

EDGES = {"age": [15, 30, 45, 60, 75], "income": [200, 400, 600, 800]}


@pytest.fixture(scope="module")
def made() -> SyntheticTable:
    book = bruit.Ledger("b", epsilon=1, delta="1e-5", neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
    return synthesise(
        read(people(4000), person=bruit.EACH_ROW),
        COLUMNS,
        budget=book.budget(epsilon=1, delta="1e-5"),
        edges=EDGES,
        rng=np.random.default_rng(3),
    ).value


def test_an_interval_contains_its_value_and_says_what_it_covers(made: SyntheticTable) -> None:
    for where in (
        {"age": (15, 44)},
        {"age": (0, 14), "licence": "yes"},
        {"income": None, "region": ["north", "OTHER"]},
    ):
        answer = made.count(where)
        assert answer.interval.low <= answer.value <= answer.interval.high
        assert answer.interval.covers is bruit.privacy.Covers.TABLE
        assert answer.guarantee == made.guarantee


def test_a_range_inside_a_cell_reaches_from_none_to_all_of_it(made: SyntheticTable) -> None:
    part, whole = made.count({"age": (16, 20)}), made.count({"age": (15, 29)})
    assert part.interval.low == 0
    assert part.interval.high == pytest.approx(whole.interval.high)
    assert part.value == pytest.approx(whole.value / 3)


def test_marginals_agree_in_what_they_share(made: SyntheticTable) -> None:
    found = made.workload([("age", "region"), ("region",), ("region", "licence", "age")])
    north = found["region",].value
    assert found["age", "region"].value.sum(0) == pytest.approx(north)
    assert found["region", "licence", "age"].value.sum((1, 2)) == pytest.approx(north)
    assert len(found["age", "region"].labels) == found["age", "region"].interval.low.size == 18


def test_means_and_quantiles_cover_those_of_the_table(made: SyntheticTable) -> None:
    truth = people(4000)
    mean, median = made.mean("age"), made.quantile("age", 0.5)
    assert mean.interval.low <= truth["age"].mean() <= mean.interval.high
    assert median.interval.low <= truth["age"].median() <= median.interval.high
    south = made.mean("age", {"region": "south"})
    assert south.interval.low <= truth.filter(pl.col("region") == "south")["age"].mean() <= south.interval.high


def test_a_mean_is_of_the_rows_that_meet_conditions_on_its_own_column_too(made: SyntheticTable) -> None:
    truth = people(4000)["age"]
    older = made.mean("age", {"age": (45, 99)})
    assert 45 <= older.interval.low <= truth.filter(truth >= 45).mean() <= older.interval.high <= 99
    assert older.interval.low <= older.value <= older.interval.high
    assert older.value > made.mean("age").value + 10


def test_nothing_is_known_of_the_mean_of_no_row(made: SyntheticTable) -> None:
    nobody = replace(made, fit=replace(made.fit, rows=made.rows[:0])).mean("age", {"age": (15, 44)})
    assert (nobody.value, nobody.interval.low, nobody.interval.high) == (29.5, 15, 44)


def test_a_quantile_of_few_values_among_many_missing_ones_is_as_unsure_as_their_number() -> None:
    """Noise of the number of values, which only the missing ones hide, moves a quantile by many cells."""
    truth = np.sort(np.random.default_rng(4).integers(0, 100, 30))
    table = pl.DataFrame({"score": [*truth, *([None] * 3970)]}, schema={"score": pl.Int64})
    columns, held = {"score": within(0, 99, grid=1, missing=None)}, 0
    for seed in range(20):
        book = bruit.Ledger("b", epsilon=0.1, delta="1e-5", neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
        price, rng = book.budget(epsilon=0.1, delta="1e-5"), np.random.default_rng(seed)
        made = synthesise(read(table, person=bruit.EACH_ROW), columns, budget=price, mode="tree", rng=rng).value
        for probability in (0.1, 0.5, 0.9):
            found = made.quantile("score", probability).interval
            held += bool(found.low <= np.quantile(truth, probability, method="inverted_cdf") <= found.high)
    assert held >= 55  # of 60


def test_refusals_name_what_is_allowed(made: SyntheticTable) -> None:
    every = {"age": (0, 9), "licence": "yes", "region": "north", "income": (0, 10)}
    for ask, words in (
        (lambda: made.count(every), "at most 3"),
        (lambda: made.count({"town": "x"}), "no column 'town'"),
        (lambda: made.count({"region": "east"}), "no category 'east'"),
        (lambda: made.count({"age": "old"}), "a pair"),
        (lambda: made.count({"age": (45, 30)}), "low 45 is above high 30"),
        (lambda: made.count({"age": 30}), "a pair"),  # type: ignore[dict-item]
        (lambda: made.count({"region": 7}), "no category '7'"),  # type: ignore[dict-item]
        (lambda: made.count({"age": None}), "no missing values"),
        (lambda: made.mean("region"), "holds categories"),
        (lambda: made.mean("age", {"income": (0, 300)}), "cuts a cell"),
        (lambda: made.mean("income", {"income": None}), "no value of income"),
        (lambda: made.count("age"), "conditions by column"),
        (lambda: made.quantile("age", 1.0), "between 0 and 1"),
        (lambda: made.marginal("age", "age"), "different columns"),
        (lambda: made.count({}, confidence=95), "between 0 and 1"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            ask()


def test_the_noise_of_a_measured_count_is_known_exactly() -> None:
    """Least squares over overlapping marginals is unbiased, with the variance that it states."""
    rng, exact = np.random.default_rng(0), rng_counts()
    values, stated = [], set()
    for _ in range(3000):
        measured = tuple(
            Measured(clique, counts + np.rint(rng.normal(0, 9, counts.size)).astype(np.int64), 81.0)
            for clique, counts in exact.items()
        )
        found = Measurements(measured, (3, 4), None).linear({0: np.array([1.0, 1, 0])})
        assert found is not None
        values.append(found.value)
        stated.add(round(found.variance, 6))
    truth, variance = exact[(0,)][:2].sum(), stated.pop()
    assert not stated
    assert abs(np.mean(values) - truth) < 5 * (variance / 3000) ** 0.5
    low, high = stats.chi2.ppf([1e-7, 1 - 1e-7], 2999) / 2999  # type: ignore[misc]
    assert low < np.var(values, ddof=1) / variance < high


def rng_counts() -> dict[tuple[int, ...], np.ndarray]:
    counts = np.random.default_rng(5).integers(50, 200, (3, 4))
    return {(0,): counts.sum(1), (1,): counts.sum(0), (0, 1): counts.ravel()}


def test_intervals_of_measured_counts_cover_as_often_as_they_say() -> None:
    """Over fresh noise, one- and two-way counts that were measured are covered at 95 %, exactly but for rounding."""
    rng, exact, covered = np.random.default_rng(1), rng_counts(), 0
    for _ in range(4000):
        measured = tuple(
            Measured(clique, counts + np.rint(rng.normal(0, 9, counts.size)).astype(np.int64), 81.0)
            for clique, counts in exact.items()
        )
        found = Measurements(measured, (3, 4), None).linear({0: np.array([0.0, 1, 0]), 1: np.array([1.0, 1, 0, 0])})
        assert found is not None
        truth = exact[0, 1].reshape(3, 4)[1, :2].sum()
        covered += abs(found.value - truth) <= 1.96 * found.variance**0.5
    assert stats.binom.ppf(1e-7, 4000, 0.95) <= covered <= stats.binom.isf(1e-7, 4000, 0.95)
