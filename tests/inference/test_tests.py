"""Tests: without noise those of the textbooks; never more often wrong than they say; plans that come true."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from inference.noisy_tables import laplace, table
from laws import binomial_window
from scipy import stats

import bruit
from benchmarks.inference.designs import NULLS, size, tables
from bruit import inference
from bruit.errors import InvalidArgument
from bruit.inference.anytime import TILTS, _log_moments
from bruit.local import KRR


def test_without_noise_independence_is_the_chi_square_test() -> None:
    counts = np.array([[42.0, 30.0, 28.0], [30.0, 40.0, 30.0], [28.0, 30.0, 42.0]])
    oracle = stats.chi2_contingency(counts)
    found = inference.independence(table(counts))
    assert found.statistic == pytest.approx(oracle.statistic, rel=0.02)
    assert found.p_value == pytest.approx(oracle.pvalue, abs=0.04)


def test_without_noise_two_proportions_are_the_z_test() -> None:
    counts = np.array([[60.0, 90.0], [45.0, 105.0]])
    oracle = stats.chi2_contingency(counts, correction=False)
    found = inference.two_proportions(table(counts), answer="0")
    assert found.statistic == pytest.approx(oracle.statistic, rel=1e-6)
    assert found.p_value == pytest.approx(oracle.pvalue, abs=0.03)


def test_without_noise_ranks_are_those_of_kruskal_and_wallis() -> None:
    counts = np.array([[20.0, 40.0, 30.0], [30.0, 40.0, 20.0]])
    values = [np.repeat(np.arange(3), row.astype(int)) for row in counts]
    oracle = stats.kruskal(*values)
    assert inference.mann_whitney(table(counts)).statistic == pytest.approx(oracle.statistic, rel=0.02)
    assert inference.anova(table(counts), ranks=True).statistic == pytest.approx(oracle.statistic, rel=0.02)


def test_without_noise_means_are_compared_as_in_the_analysis_of_variance() -> None:
    counts = np.array([[30.0, 40.0, 30.0], [25.0, 40.0, 35.0], [38.0, 37.0, 25.0]])
    oracle = stats.f_oneway(*[np.repeat(np.arange(3), row.astype(int)) for row in counts])
    assert inference.anova(table(counts)).p_value == pytest.approx(oracle.pvalue, abs=0.04)


@pytest.mark.parametrize("name", sorted(NULLS))
def test_tests_hold_their_size(name: str) -> None:
    times = 250
    most = binomial_window(times, 0.05, 2e-6)[1]
    assert round(times * size(name, 500, 0.3, times)) <= most


@pytest.mark.stress
@pytest.mark.parametrize("name", sorted(NULLS))
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_tests_hold_their_size_over_ten_thousand_nulls(name: str, epsilon: float) -> None:
    assert round(10_000 * size(name, 1000, epsilon, 10_000)) <= binomial_window(10_000, 0.05, 1e-3)[1]


def test_the_same_table_gives_the_same_p_value() -> None:
    counts = table(np.array([[30.0, 20.0], [22.0, 28.0]]), "0.5")
    assert inference.independence(counts) == inference.independence(counts)


@pytest.mark.parametrize(
    "test", [inference.independence, inference.anova, inference.mann_whitney, inference.slope_test]
)
def test_noise_alone_shows_nothing(test: object) -> None:
    empty = next(iter(tables(np.full((2, 3), 1 / 6), 5, 0.05, 1, 3)))
    assert test(empty).p_value > 0.01


# ---------------------------------------------------------------- plans
def test_so_many_people_have_the_power_that_was_planned() -> None:
    shares = np.array([[0.15, 0.35], [0.21, 0.29]])
    people = inference.people_for(
        inference.two_proportions, shares, power=0.8, epsilon=0.5, neighbours=bruit.ADD_OR_REMOVE_ONE
    )
    seen = [inference.two_proportions(one, answer="0").p_value <= 0.05 for one in tables(shares, people, 0.5, 400, 1)]
    low, high = binomial_window(400, 0.79, 1e-9)
    assert low <= sum(seen) <= high


def test_less_epsilon_and_a_survey_need_more_people() -> None:
    shares = [[0.15, 0.35], [0.21, 0.29]]

    def planned(**noise: object) -> int:
        return inference.people_for(inference.independence, shares, **noise)

    curator = [planned(epsilon=e, neighbours=bruit.REPLACE_ONE) for e in (3, 1, "0.1")]
    assert curator == sorted(curator)
    assert planned(protocol=KRR(["yes", "no"], epsilon=1)) > curator[1]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"epsilon": 1},
        {"epsilon": 1, "neighbours": bruit.LOCAL},
        {"protocol": KRR(["a", "b", "c"], epsilon=1)},
        {"epsilon": 1, "neighbours": bruit.REPLACE_ONE, "power": 0.01},
        {"epsilon": 1, "neighbours": bruit.REPLACE_ONE, "values": {0: [1]}},
    ],
)
def test_a_plan_says_how_numbers_are_noised(asked: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        inference.people_for(inference.independence, [[0.2, 0.3], [0.3, 0.2]], **asked)


def test_a_plan_of_something_else_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="plans"):
        inference.people_for(inference.mean, [[0.2, 0.3], [0.3, 0.2]], epsilon=1, neighbours=bruit.REPLACE_ONE)


# ---------------------------------------------------------------- e-values
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_noise_multiplies_a_bet_by_its_exponential_moment(epsilon: str) -> None:
    law, reach = laplace(epsilon), 20_000
    steps, chances = np.arange(-reach, reach + 1), laplace(epsilon).noise.law(reach)
    for tilt in np.array([-0.85, -0.2, 0.5, 0.89]) * float(epsilon):
        summed = float(chances[chances > 0] @ np.exp(tilt * steps[chances > 0]))
        assert _log_moments(law, np.array([[tilt]]))[0] == pytest.approx(np.log(summed), abs=1e-9)


def test_an_e_value_is_the_mean_of_likelihood_ratios_over_moments() -> None:
    null, law = np.array([0.3, 0.7]), laplace("1")
    counts = np.array([55.0, 95.0])
    bets = []
    for raised in (0, 1):
        for tilt in (*TILTS, *(-each for each in TILTS)):
            odds = null * np.where(np.arange(2) == raised, np.exp(tilt), 1.0)
            logs = np.log(odds / odds.sum() / null)
            payable = np.abs(logs).max() < 0.9
            bets.append(np.exp(logs @ counts - _log_moments(law, logs[None])[0]) if payable else 1.0)
    found = inference.e_values([table(counts, "1")], null={"0": 0.3, "1": 0.7})
    assert found[0] == pytest.approx(np.mean(bets))


def test_evidence_that_is_looked_at_every_day_is_rarely_wrong() -> None:
    runs, wrong, shares = 300, 0, np.array([0.3, 0.7])
    for run in range(runs):
        days = list(tables(shares, 150, 0.5, 8, run))
        wrong += bool((inference.e_values(days, null={"0": 0.3, "1": 0.7}) >= 20).any())
    assert wrong <= binomial_window(runs, 0.05, 2e-9)[1]


def test_evidence_grows_where_the_shares_are_others() -> None:
    days = list(tables(np.array([0.4, 0.6]), 400, 0.5, 6, 1))
    found = inference.e_values(days, null={"0": 0.3, "1": 0.7})
    assert found[-1] > 1e3 > found[0]


def test_an_e_value_of_answers_is_their_likelihood_ratio() -> None:
    protocol = KRR(["no", "yes"], epsilon=1)
    found = inference.e_values([protocol.tally_of([80, 120], 200)], null={"no": 0.5, "yes": 0.5})
    mixed = [
        protocol.support.mix(np.exp(np.array([0, tilt])) / np.exp([0, tilt]).sum())
        for tilt in (*TILTS, *(-each for each in TILTS))
    ]
    assert found[0] == pytest.approx(np.mean([np.exp(np.log(2 * m) @ [80, 120]) for m in mixed]))


@pytest.mark.parametrize("null", [{"0": 1.0}, {"0": 0.0, "1": 1.0}, {"0": 0.5, "1": 0.6}])
def test_a_null_states_every_share(null: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument, match="null"):
        inference.e_values([table(np.array([3.0, 4.0]))], null=null)


def test_evidence_needs_a_day() -> None:
    with pytest.raises(InvalidArgument, match="one day"):
        inference.e_values([], null={"0": 0.5, "1": 0.5})


def public_mean(people: int, share: float, seed: int) -> Any:
    """A mean of zeros and ones of a public size, at an epsilon that adds next to no noise."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({"x": (rng.random(people) < share).astype(int)})
    x = bruit.tables.read(frame, person=bruit.EACH_ROW)["x"].within(0, 1, grid=1, missing=0)
    book = bruit.Ledger("rows", epsilon=10, neighbours=bruit.REPLACE_ONE, person=bruit.EACH_ROW)
    return bruit.central.mean(x, size=people, budget=book.budget(epsilon=10), rng=rng)


@pytest.mark.parametrize(("few", "many", "share"), [(20, 10_000, 0.05), (20, 20, 0.1)])
def test_nobody_among_few_people_is_no_certainty(few: int, many: int, share: float) -> None:
    """None of twenty has a variance of zero at its own share; the test must not take it for known. Here 5 % of 120."""
    pairs = ((public_mean(few, share, 2 * seed), public_mean(many, share, 2 * seed + 1)) for seed in range(120))
    wrong = sum(inference.two_proportions(*pair).p_value <= 0.05 for pair in pairs)
    assert wrong <= stats.binom.isf(1e-3, 120, 0.05)
