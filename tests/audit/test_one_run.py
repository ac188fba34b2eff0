"""One-run auditors: exact error rates on randomised response, null data, and Gaussian scores of known strength."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from laws import ALARM, binomial_window
from numpy.typing import NDArray
from scipy import optimize, special, stats

from bruit.audit import (
    GAUSSIAN,
    ApproximateTradeOff,
    GaussianTradeOff,
    audit_gaussian,
    audit_one_run,
    audit_one_run_curve,
    one_run,
)
from bruit.audit.bounds import mu_at_least
from bruit.audit.one_run import _overfull, _strongest, _tails
from bruit.errors import InvalidArgument
from bruit.privacy import ADD_OR_REMOVE_ONE, Gaussian, epsilon

CURVES = [GAUSSIAN, ApproximateTradeOff(0.0), ApproximateTradeOff(0.01)]


def gaussian_scores(mu: float, canaries: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """The scores of a mechanism that is exactly mu-GDP, and the coins."""
    included = rng.random(canaries) < 0.5
    return rng.normal(mu * included), included


# ---- exact error rates: guesses that are right by independent coins


@given(canaries=some.integers(20, 60), truth=some.floats(0, 3), alarm=some.floats(1e-4, 0.3))
def test_randomised_response_is_bounded_above_its_epsilon_with_at_most_the_alarm(
    canaries: int, truth: float, alarm: float
) -> None:
    rights = np.arange(canaries + 1)
    chances = stats.binom.pmf(rights, canaries, special.expit(truth))
    refuted = [
        bool(_tails(np.array([truth]), canaries, right, delta=0.0, canaries=canaries)[0] <= alarm) for right in rights
    ]
    assert chances[refuted].sum() <= alarm * (1 + 1e-9)


@given(guesses=some.integers(1, 300), share=some.floats(0, 1), strength=some.floats(0, 4))
def test_the_tail_is_the_formula_summed_over_every_count(guesses: int, share: float, strength: float) -> None:
    right, canaries, delta = max(1, int(share * guesses)), guesses + 7, 1e-4
    law = stats.binom(guesses, special.expit(strength))
    steepest = max(law.pmf(np.arange(right - i, right)).sum() / i for i in range(1, right + 1))
    expected = min(law.sf(right - 1) + 2 * canaries * delta * steepest, 1)
    found = _tails(np.array([strength]), guesses, right, delta=delta, canaries=canaries)[0]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("delta", [0.01, 0.1])
@pytest.mark.parametrize("truth", [0.0, 1.0])
def test_publishing_everything_with_chance_delta_is_explained_by_delta(delta: float, truth: float) -> None:
    """Randomised response that, with chance delta, tells all: the tail of the theorem lies above the exact one."""
    canaries = 30
    for right in range(canaries + 1):
        exact = delta + (1 - delta) * stats.binom.sf(right - 1, canaries, special.expit(truth))
        assert _tails(np.array([truth]), canaries, right, delta=delta, canaries=canaries)[0] >= exact - 1e-12


@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_publishing_each_canary_with_chance_delta_is_explained_by_delta(delta: float) -> None:
    canaries, truth = 30, 1.0
    chance = delta + (1 - delta) * special.expit(truth)
    for right in range(canaries + 1):
        exact = stats.binom.sf(right - 1, canaries, chance)
        assert _tails(np.array([truth]), canaries, right, delta=delta, canaries=canaries)[0] >= exact - 1e-12


@given(canaries=some.integers(2, 40), share=some.floats(0.2, 1), truth=some.floats(0, 3), alarm=some.floats(1e-4, 0.3))
def test_the_curves_of_epsilon_allow_what_randomised_response_does(
    canaries: int, share: float, truth: float, alarm: float
) -> None:
    guesses = max(1, int(share * canaries))
    rights = np.arange(guesses + 1)
    chances = stats.binom.pmf(rights, guesses, special.expit(truth))
    strength, curves = np.array([truth]), ApproximateTradeOff(0.0)
    refuted = [bool(_overfull(curves, strength, guesses, right, canaries=canaries, alarm=alarm)[0]) for right in rights]
    assert chances[refuted].sum() <= alarm * (1 + 1e-9)


@given(canaries=some.integers(2, 40), mu=some.floats(0, 3), alarm=some.floats(1e-4, 0.3))
def test_gaussian_scores_guessed_by_their_sign_are_bounded_above_mu_with_at_most_the_alarm(
    canaries: int, mu: float, alarm: float
) -> None:
    """Each score is N(±mu/2, 1) and its sign is the guess, so that right guesses are binomial."""
    rights = np.arange(canaries + 1)
    chances = stats.binom.pmf(rights, canaries, special.ndtr(mu / 2))
    strength = np.array([mu])
    refuted = [
        bool(_overfull(GAUSSIAN, strength, canaries, right, canaries=canaries, alarm=alarm)[0]) for right in rights
    ]
    assert chances[refuted].sum() <= alarm * (1 + 1e-9)


@pytest.mark.parametrize("chance", [0.001, 0.01, 0.05])
def test_a_curve_allows_a_mechanism_that_rarely_tells_all(chance: float) -> None:
    """It tells all coins with a chance and nothing else otherwise: f(x) = 1 - chance - x, so (0, chance)."""
    canaries, curves = 40, ApproximateTradeOff(chance)
    for alarm in (chance / 2, chance):
        assert not _overfull(curves, np.zeros(1), canaries, canaries, canaries=canaries, alarm=alarm)[0]
    assert _overfull(curves, np.zeros(1), canaries, canaries, canaries=canaries, alarm=1.5 * chance)[0]


def largest_tail(guesses: int, right: int, canaries: int, strength: float, delta: float) -> float:
    """The largest P[N >= right] that the inequalities for every c allow, by linear programming."""
    counts = np.arange(guesses + 1)
    rows, limits = [], []
    for c in range(1, guesses + 1):
        good = np.where(counts >= c, counts, 0) / canaries
        bad = np.where(counts >= c - 1, guesses - counts, 0) / canaries
        # 1 - f(x) = min(e^strength x + delta, 1 - e^-strength (1 - delta - x))
        rows += [good - math.exp(strength) * bad, good - math.exp(-strength) * bad]
        limits += [delta, 1 - math.exp(-strength) * (1 - delta)]
    found = optimize.linprog(
        -(counts >= right).astype(float), A_ub=rows, b_ub=limits, A_eq=np.ones((1, len(counts))), b_eq=[1]
    )
    return float(-found.fun)


@given(
    guesses=some.integers(1, 12),
    share=some.floats(0, 1),
    extra=some.integers(0, 12),
    strength=some.floats(0, 2),
    delta=some.sampled_from([0.0, 0.01, 0.2]),
)
def test_the_steps_downwards_find_what_the_inequalities_allow(
    guesses: int, share: float, extra: int, strength: float, delta: float
) -> None:
    """The least mass put in at each step gives the least in the end: a linear programme says the same."""
    right, canaries = max(1, int(share * guesses)), guesses + extra
    most = largest_tail(guesses, right, canaries, strength, delta)
    for factor in (0.98, 1.02):
        alarm = factor * most
        if alarm < 1:
            told = _overfull(
                ApproximateTradeOff(delta), np.array([strength]), guesses, right, canaries=canaries, alarm=alarm
            )
            assert bool(told[0]) == (factor > 1)


# ---- null data: scores that know nothing


@pytest.mark.parametrize("guesses", [None, 100, 200])
@pytest.mark.parametrize("auditor", [audit_one_run, audit_one_run_curve])
def test_scores_without_signal_give_a_bound_above_zero_no_more_often_than_stated(
    auditor: Callable[..., Any], guesses: int | None
) -> None:
    rng, runs, alarm = np.random.default_rng(31), 300, 0.1
    alarms = 0
    for _ in range(runs):
        scores, included = gaussian_scores(0.0, 200, rng)
        alarms += not auditor(scores, included, claimed=0.0, alarm=alarm, guesses=guesses).passes
    assert alarms <= binomial_window(runs, alarm, ALARM)[1]


@pytest.mark.parametrize("alarm", [0.001, 0.05, 0.3])
def test_the_chance_of_a_bound_above_zero_on_null_data_summed_exactly(alarm: Any) -> None:
    """Without signal right guesses are binomial (r, 1/2): the alarms are summed over their whole law."""
    guesses, canaries = 60, 100
    chances = stats.binom.pmf(np.arange(guesses + 1), guesses, 0.5)
    for curves in CURVES:
        raised = [
            bool(_overfull(curves, np.zeros(1), guesses, right, canaries=canaries, alarm=alarm)[0])
            for right in range(guesses + 1)
        ]
        assert chances[raised].sum() <= alarm
    raised = [_tails(np.zeros(1), guesses, right, delta=0.0, canaries=canaries)[0] <= alarm for right in range(61)]
    assert 0 < chances[raised].sum() <= alarm


def test_null_scores_of_any_kind_show_nothing() -> None:
    included = np.random.default_rng(32).random(10_000) < 0.5
    for scores in (np.zeros(10_000), np.arange(10_000.0), np.where(np.arange(10_000) % 2, np.inf, -np.inf)):
        for auditor in (audit_one_run, audit_one_run_curve):
            assert auditor(scores, included, claimed=0.0, alarm=1e-6).lower_bound == 0


TIES: dict[str, Any] = {
    "constant": lambda coins, rng: np.zeros(len(coins)),
    "signed zeros": lambda coins, rng: np.where(coins, 0.0, -0.0),
    "two levels": lambda coins, rng: rng.integers(0, 2, len(coins)).astype(float),
    "one level apart": lambda coins, rng: np.where(np.arange(len(coins)) == 0, 1.0, 0.0),
    "alike as floats": lambda coins, rng: 2**60 + coins.astype(np.int64),
}
"""Scores that know no coin, however the canaries are listed (a float does not tell 2^60 from 2^60 + 1)."""

LISTED = {
    "in first": lambda coins: np.argsort(~coins, kind="stable"),
    "out first": lambda coins: np.argsort(coins, kind="stable"),
    "in first and last": lambda coins: np.roll(np.argsort(~coins, kind="stable"), len(coins) // 4),
}
"""Orders in which a caller may list the canaries, each made from the coins."""


def null_alarms(auditor: Any, ties: str, listed: str, *, runs: int, alarm: float, rng: np.random.Generator) -> int:
    """How many of the runs, whose tied scores know no coin, give a bound above zero."""
    alarms = 0
    for _ in range(runs):
        coins = rng.random(64) < 0.5
        scores = TIES[ties](coins, rng)
        order = LISTED[listed](coins)
        alarms += not auditor(scores[order], coins[order], claimed=0.0, alarm=alarm, rng=rng).passes
    return alarms


@pytest.mark.parametrize("listed", LISTED)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("auditor", [audit_one_run, audit_one_run_curve])
def test_tied_scores_raise_no_more_alarms_than_stated_however_canaries_are_listed(
    auditor: Callable[..., Any], ties: str, listed: str
) -> None:
    runs, alarm = 60, 0.1
    alarms = null_alarms(auditor, ties, listed, runs=runs, alarm=alarm, rng=np.random.default_rng(42))
    assert alarms <= binomial_window(runs, alarm, ALARM)[1]


@pytest.mark.stress
@pytest.mark.parametrize("listed", LISTED)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("auditor", [audit_one_run, audit_one_run_curve])
def test_ten_thousand_nulls_with_ties_raise_no_more_alarms_than_stated(
    auditor: Any, ties: Any, listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a bound is above zero is one question, at zero; how far above is not searched ten thousand times."""
    monkeypatch.setattr(one_run, "_strongest", lambda refuted: float(refuted(np.zeros(1))[0]))
    runs, alarm = 10_000, 0.05
    alarms = null_alarms(auditor, ties, listed, runs=runs, alarm=alarm, rng=np.random.default_rng(43))
    assert alarms <= binomial_window(runs, alarm, ALARM)[1]


def test_constant_scores_listed_by_their_coins_prove_nothing() -> None:
    included = np.arange(1000) < 500
    for auditor in (audit_one_run, audit_one_run_curve):
        assert auditor(np.zeros(1000), included, claimed=0.0, alarm=1e-6).lower_bound == 0


def test_the_same_generator_breaks_ties_alike() -> None:
    scores, included = np.arange(400) % 3 * 1.0, np.arange(400) % 3 == 2
    first, again = (
        audit_one_run(scores, included, claimed=9.0, alarm=0.1, rng=np.random.default_rng(44)) for _ in range(2)
    )
    assert first == again


# ---- Gaussian scores of known strength


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_the_bound_on_mu_passes_the_truth_no_more_often_than_stated(mu: float) -> None:
    rng, runs, alarm = np.random.default_rng(33), 200, 0.1
    above = sum(
        not audit_one_run_curve(*gaussian_scores(mu, 300, rng), claimed=mu, alarm=alarm).passes for _ in range(runs)
    )
    assert above <= binomial_window(runs, alarm, ALARM)[1]


# (mu, the least bound that 100 000 canaries must reach at an alarm of 5 %)
@pytest.mark.parametrize(("mu", "least"), [(0.5, 0.33), (1.0, 0.68), (2.0, 1.35)])
def test_many_canaries_come_near_the_truth(mu: float, least: float) -> None:
    scores, included = gaussian_scores(mu, 100_000, np.random.default_rng(34))
    found = audit_one_run_curve(scores, included, claimed=mu, alarm=0.05)
    assert least <= found.lower_bound <= mu
    assert (found.measure, found.samples, found.delta) == ("mu", 100_000, 0.0)
    assert "guesses right" in found.event


def test_epsilon_of_gaussian_scores_stays_below_what_the_accountant_says() -> None:
    scores, included = gaussian_scores(1.0, 100_000, np.random.default_rng(35))
    truth = float(epsilon(Gaussian(1, neighbours=ADD_OR_REMOVE_ONE), delta="1e-5", by="pld"))
    found = audit_one_run(scores, included, claimed=truth, alarm=0.05, delta=1e-5)
    assert 2.0 <= found.lower_bound <= truth
    by_curve = audit_one_run_curve(scores, included, ApproximateTradeOff(1e-5), claimed=truth, alarm=0.05)
    assert 2.8 <= by_curve.lower_bound <= truth
    assert (by_curve.measure, by_curve.delta) == ("epsilon", 1e-5)


def test_randomised_response_with_many_canaries_shows_nearly_all_of_its_epsilon() -> None:
    rng = np.random.default_rng(36)
    included = rng.random(100_000) < 0.5
    told = included ^ (rng.random(100_000) >= special.expit(1.0))
    found = audit_one_run(told.astype(float), included, claimed=1.0, alarm=1e-9, guesses=100_000)
    assert 0.94 <= found.lower_bound <= 1.0


@pytest.mark.parametrize(("canaries", "alarm"), [(10_000, 0.05), (100_000, 0.01)])
def test_halved_noise_is_caught(canaries: int, alarm: float) -> None:
    scores, included = gaussian_scores(2.0, canaries, np.random.default_rng(37))
    assert not audit_one_run_curve(scores, included, claimed=1.0, alarm=alarm).passes


def test_one_coin_for_all_canaries_fools_nobody_twice() -> None:
    """Scores that all move together: no bound counts them as independent, unlike a count of threshold errors."""
    rng, runs, alarm = np.random.default_rng(38), 150, 0.1
    above = 0
    for _ in range(runs):
        included = rng.random(100) < 0.5
        tells = rng.random() < 0.05  # (0, 0.05): with a chance of a twentieth everything is told
        scores = included.astype(float) if tells else rng.random(100)
        above += not audit_one_run(scores, included, claimed=0.0, alarm=alarm, delta=0.05, guesses=100).passes
    assert above <= binomial_window(runs, alarm, ALARM)[1]


# ---- curves and the search


@given(
    strength=some.floats(0, 5), more=some.floats(0, 2), chance=some.floats(0.001, 0.999), rise=some.floats(0, 0.0009)
)
def test_a_curve_rises_with_the_chance_and_falls_with_the_strength(
    strength: float, more: float, chance: float, rise: float
) -> None:
    for curves in CURVES:
        here = curves.least(np.array([strength]), np.array([chance]))[0]  # type: ignore[attr-defined]
        assert 0 <= here <= chance + 1e-12
        assert curves.least(np.array([strength]), np.array([chance + rise]))[0] >= here - 1e-12  # type: ignore[attr-defined]
        assert curves.least(np.array([strength + more]), np.array([chance]))[0] <= here + 1e-12  # type: ignore[attr-defined]


@given(strength=some.floats(0, 4), chance=some.floats(0.001, 0.999))
def test_a_curve_is_symmetric(strength: float, chance: float) -> None:
    """f is its own inverse, so the least chance, read backwards from what is not in the event, gives it back."""
    for curves in CURVES:
        least = curves.least(np.array([strength]), np.array([chance]))  # type: ignore[attr-defined]
        if 1e-9 < least[0] < 1 - 1e-9:
            back = curves.least(np.array([strength]), 1 - least)[0]  # type: ignore[attr-defined]
            assert back == pytest.approx(1 - chance, abs=1e-6)


@given(guesses=some.integers(1, 60), share=some.floats(0, 1), extra=some.integers(0, 60), alarm=some.floats(1e-6, 0.5))
def test_more_right_guesses_never_lower_the_bound(guesses: int, share: float, extra: int, alarm: float) -> None:
    right = int(share * guesses)
    points = np.linspace(0, 4, 9)
    for curves in CURVES:
        fewer, more = (
            _overfull(curves, points, guesses, count, canaries=guesses + extra, alarm=alarm)
            for count in (max(right - 1, 0), right)
        )
        assert (more >= fewer).all()
        assert (np.diff(more.astype(int)) <= 0).all(), "a stronger promise is broken before a weaker one"


def test_the_search_ends_just_below_the_first_strength_that_is_not_refuted() -> None:
    for threshold in (0.0, 0.3, 5.0, 63.9):
        found = _strongest(lambda strengths, t=threshold: strengths < t)  # type: ignore[misc]
        assert threshold - 1e-4 <= found <= threshold
    assert _strongest(lambda strengths: strengths >= 0) == 64.0


# ---- independent outputs


def gaussian(centre: float, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.normal(centre, 1.0, samples)


def test_independent_gaussian_outputs_show_nearly_all_of_mu() -> None:
    found = audit_gaussian(
        gaussian, (0.0, 1.0), claimed=1.0, samples=200_000, alarm=1e-9, rng=np.random.default_rng(39)
    )
    assert 0.93 <= found.lower_bound <= 1.0
    assert found.measure == "mu"
    declared = audit_gaussian(
        gaussian,
        (0.0, 1.0),
        claimed=1.0,
        samples=200_000,
        alarm=1e-9,
        event=lambda x: x > 0.5,
        rng=np.random.default_rng(39),
    )
    assert found.lower_bound <= declared.lower_bound <= 1.0


def test_five_hundredths_of_missing_gaussian_noise_are_caught() -> None:
    wide = audit_gaussian(
        gaussian, (0.0, 1.05), claimed=1.0, samples=1_000_000, alarm=1e-9, rng=np.random.default_rng(40)
    )
    assert 1.0 < wide.lower_bound <= 1.05


def test_independent_null_outputs_give_mu_zero_but_for_the_alarm() -> None:
    rng, runs, alarm = np.random.default_rng(41), 300, 0.1
    alarms = sum(
        not audit_gaussian(gaussian, (0.0, 0.0), claimed=0.0, samples=2000, alarm=alarm, rng=rng).passes
        for _ in range(runs)
    )
    assert alarms <= binomial_window(runs, alarm, ALARM)[1]


TRIALS = 40
COUNTS = np.arange(TRIALS + 1)


@given(first=some.floats(0.01, 0.99), second=some.floats(0.01, 0.99))
def test_on_two_point_laws_the_bound_on_mu_exceeds_the_truth_with_at_most_the_alarm(
    first: float, second: float
) -> None:
    truth = max(float(special.ndtri(first) - special.ndtri(second)), 0.0)
    bounds = mu_at_least(COUNTS[:, None], COUNTS[None, :], TRIALS, alarm=0.05)
    chances = np.outer(stats.binom.pmf(COUNTS, TRIALS, first), stats.binom.pmf(COUNTS, TRIALS, second))
    assert chances[bounds > truth + 1e-12].sum() <= 0.05 + 1e-12
    assert np.isfinite(bounds).all()


# ---- the public door


@pytest.mark.parametrize(
    "wrong",
    [
        {"claimed": -1.0},
        {"claimed": math.nan},
        {"alarm": 0.0},
        {"alarm": 1.0},
        {"guesses": 0},
        {"guesses": 5},
        {"guesses": True},
        {"scores": [1.0, 2.0]},
        {"scores": []},
        {"scores": [1.0, 2.0, 3.0, math.nan]},
        {"included": [1, 0, 1, 0]},
        {"included": [True]},
    ],
)
@pytest.mark.parametrize("auditor", [audit_one_run, audit_one_run_curve])
def test_what_is_no_run_is_refused(auditor: Callable[..., Any], wrong: dict[str, Any]) -> None:
    usual = {"scores": [1.0, 2.0, 3.0, 4.0], "included": [True, False, True, False], "claimed": 1.0, "alarm": 0.1}
    with pytest.raises(InvalidArgument):
        auditor(**{**usual, **wrong})


def test_a_delta_of_one_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="delta=1"):
        audit_one_run([1.0], [True], claimed=1.0, alarm=0.1, delta=1.0)
    with pytest.raises(InvalidArgument, match="delta=1"):
        ApproximateTradeOff(1.0)
    assert GaussianTradeOff() == GAUSSIAN
