"""One bit for a mean."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law
from scipy import stats

from bruit.channels import ONE, log_above
from bruit.errors import BadFile, InvalidArgument, OutOfDomain
from bruit.local import OneBitMean, PiecewiseMean, protocol_from_json, tally_from_json
from bruit.local.means import MeanTally

MEANS = [
    OneBitMean(0, 100, grid=1, epsilon=1),
    PiecewiseMean(0, 100, grid=1, epsilon=1),
    PiecewiseMean(0, 100, grid=1, epsilon=1, mixed=True),
]


class Loud:
    """An answer that raises when it is read, and would tell what it is."""

    def __float__(self) -> float:
        raise RuntimeError("secret-42")


AWKWARD: list[Any] = [
    "1",
    "secret-42",
    None,
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    -(10**400),
    [],
    {},
    b"x",
    3j,
    "\ud800",
]
AWKWARD += [Loud(), pandas.NA, pandas.NaT, Fraction(1, 3), True, np.float32(2), "1" * 5000, "nan"]


@given(st.floats(0.01, 12), st.integers(1, 1000))
def test_every_value_has_weights_within_epsilon(epsilon: float, steps: int) -> None:
    protocol = OneBitMean(0, steps, grid=1, epsilon=epsilon)
    ones = protocol.weights(np.arange(steps + 1))
    assert (np.diff(ones) >= 0).all()
    low, high = int(ones[0]), int(ones[-1])
    assert log_above(high, low) <= protocol.epsilon
    assert log_above(ONE - low, ONE - high) <= protocol.epsilon
    assert protocol.loss <= protocol.epsilon
    exact = protocol.channel.other + np.arange(steps + 1) / steps * (protocol.channel.keep - protocol.channel.other)
    assert ones == pytest.approx(exact, abs=4)


@pytest.mark.parametrize("value", [-5, 0, 3, 7.4, 10, 99])
def test_bits_follow_the_law_of_the_clamped_value(value: float) -> None:
    protocol, people = OneBitMean(0, 10, grid=1, epsilon=1), 262_144
    ones = int(protocol.randomise(np.full(people, value), rng=np.random.default_rng(1)).values.sum())
    kept, e = min(max(round(value), 0), 10), math.e
    chance = 1 / (e + 1) + kept / 10 * (e - 1) / (e + 1)
    assert_law([ones, people - ones], [chance, 1 - chance])


def test_the_interval_covers_a_mixed_crowd_exactly() -> None:
    """Half of 60 people at one end, the others at three quarters: the law of the ones is a convolution."""
    protocol, people = OneBitMean(0, 4, grid=1, epsilon=1), 60
    chances = protocol.weights(np.array([0, 3])) / ONE
    mass = np.convolve(*(stats.binom.pmf(np.arange(31), 30, chance) for chance in chances))
    covered = 0.0
    mean = 0.0
    for ones, weight in enumerate(mass):
        release = protocol.estimate(MeanTally(protocol, people, ones))
        assert release.interval is not None
        covered += weight * (release.interval.low <= 1.5 <= release.interval.high)
        mean += weight * release.value
    assert covered >= 0.95
    assert mean == pytest.approx(1.5)


@pytest.mark.parametrize("protocol", MEANS, ids=str)
def test_planning_agrees_with_itself_and_with_the_interval(protocol: OneBitMean | PiecewiseMean) -> None:
    people = protocol.people_for(error=2)
    assert protocol.expected_error(people) <= 2 < protocol.expected_error(people - 1)
    assert protocol.epsilon_for(error=2, people=people) == pytest.approx(1, abs=2e-4)
    even = 2 * (people // 2)
    counts = [even // 2, even // 2] + [0] * (len(protocol.tally([]).to_json()["counts"]) - 2)
    details = protocol.estimate(protocol.tally_of(counts, sum(counts))).details  # type: ignore[arg-type]
    assert (details["raw_high"] - details["raw_low"]) / 2 == pytest.approx(protocol.expected_error(even))
    for nonsense in (0, -1, float("nan")):
        with pytest.raises(InvalidArgument, match="error"):
            protocol.people_for(error=nonsense)


@pytest.mark.parametrize("protocol", MEANS, ids=str)
@pytest.mark.parametrize("read", [list, tuple, iter, lambda x: np.array(x, dtype=object), pandas.Series])
def test_rule_2_every_answer_yields_a_report(
    protocol: OneBitMean | PiecewiseMean, read: Callable[[list[object]], Any]
) -> None:
    reports = protocol.randomise(read(AWKWARD))
    assert len(reports) == len(AWKWARD)
    assert protocol.tally(reports).people == len(AWKWARD)


@pytest.mark.parametrize(
    ("answer", "step"),
    [
        *[("1", 1), (b"7", 7), (True, 1), (Fraction(5, 2), 2), (math.inf, 10)],
        *[(10**400, 10), (-(10**400), 0), (Fraction(10**400), 10)],
        *[("secret-42", 4), (None, 4), (math.nan, 4), ([3], 4), (3j, 4), ("\ud800", 4), (Loud(), 4)],
    ],
)
def test_rule_2_what_is_no_number_is_the_stated_missing_one(answer: object, step: int) -> None:
    protocol = OneBitMean(0, 10, grid=1, epsilon=1, missing=4)
    assert protocol._steps([answer]).tolist() == [step]


def test_columns_of_every_kind_are_read() -> None:
    protocol = OneBitMean(0, 10, grid=1, epsilon=1, missing=4)
    assert protocol._steps(polars.Series([1, None, 30])).tolist() == [1, 4, 10]
    assert protocol._steps(polars.Series(["1", None, "x"])).tolist() == [1, 4, 4]
    assert protocol._steps(np.ma.array([1, 9], mask=[False, True])).tolist() == [1, 4]
    assert protocol._steps(np.array(["2020-01-01"], "datetime64[D]")).tolist() == [4]
    assert protocol._steps(7).tolist() == [7]
    assert protocol._steps([]).tolist() == []
    assert OneBitMean(0, 11, grid=1, epsilon=1).missing == 5
    with pytest.raises(OutOfDomain, match="missing"):
        OneBitMean(0, 10, grid=1, epsilon=1, missing=11)


def test_tallies_merge_and_survive_json() -> None:
    protocol = OneBitMean(-1, 1, grid="0.01", epsilon=0.5)
    one, two = protocol.tally([1, 0, 1]), protocol.tally(protocol.randomise([0.5, -0.5]))
    assert (one + two).people == 5
    for kept in (protocol, PiecewiseMean(-1, 1, grid="0.01", epsilon=0.5, missing=0, mixed=True)):
        assert protocol_from_json(json.dumps(kept.to_json())) == kept
        tally = kept.tally(kept.randomise([0.5, -0.5, None], rng=np.random.default_rng(1)))
        block = json.loads(json.dumps(tally.to_json()))
        assert tally_from_json(block) == tally
        assert tally.seeded
        for change in ({"counts": [1]}, {"counts": [-1, *block["counts"][1:]]}, {"seeded": 1}, {"protocol": {}}):  # type: ignore[var-annotated]
            with pytest.raises(BadFile):
                tally_from_json({**block, **change})
        for harm in ({"law": {}}, {"settings": {**kept.settings(), "epsilon": "9"}}, {"protocol": "KRR"}):  # type: ignore[var-annotated]
            with pytest.raises(BadFile):
                protocol_from_json({**kept.to_json(), **harm})
    with pytest.raises(BadFile):
        protocol_from_json({})


@pytest.mark.parametrize(
    ("low", "high", "grid"), [(1, 1, 1), (2, 1, 1), (0, 1, 0), (0, 1, 0.3), (0, 1, -1), (0, 1, 1e-12)]
)
def test_bounds_that_are_no_range_are_refused(low: float, high: float, grid: float) -> None:
    with pytest.raises(OutOfDomain):
        OneBitMean(low, high, grid=grid, epsilon=1)


def test_bad_input_is_refused() -> None:
    protocol = OneBitMean(0, 1, grid=1, epsilon=1)
    with pytest.raises(InvalidArgument, match="empty"):
        protocol.estimate(protocol.tally([]))
    with pytest.raises(InvalidArgument, match="report"):
        protocol.tally([2])
    with pytest.raises(InvalidArgument, match="same protocol"):
        protocol.tally([1]) + OneBitMean(0, 1, grid=1, epsilon=2).tally([1])


@given(st.integers(1, 10**6), st.integers(13, 17), st.integers(1, 99), st.booleans())
def test_an_epsilon_too_small_for_the_integers_is_refused_or_kept(
    steps: int, digits: int, scale: int, mixed: bool
) -> None:
    epsilon = Fraction(scale, 10**digits)
    for make in (lambda e: OneBitMean(0, steps, grid=1, epsilon=e), lambda e: window(steps, e, mixed)):
        try:
            protocol = make(epsilon)
        except InvalidArgument as error:
            assert "too small" in str(error)  # noqa: PT017 - both outcomes are right
            continue
        assert 0 < protocol.loss <= protocol.epsilon


def window(steps: int, epsilon: Fraction, mixed: bool) -> PiecewiseMean:
    return PiecewiseMean(0, steps, grid=1, epsilon=epsilon, mixed=mixed)


def test_the_variance_of_drawn_tallies_is_the_closed_form() -> None:
    protocol, rng, held = OneBitMean(0, 20, grid=1, epsilon=2), np.random.default_rng(2), {7: 300, 20: 200}
    ones = sum(rng.binomial(size, protocol.weights(np.array([step]))[0] / ONE, 40_000) for step, size in held.items())
    means = protocol.unmixed(ones / 500)
    variance = sum(size * protocol.variance(step) for step, size in held.items()) / 500**2
    assert means.var() == pytest.approx(variance, rel=0.05)
    assert abs(means.mean() - 12.2) < 6.2 * math.sqrt(variance / 40_000)
    assert protocol.variance() >= max(map(protocol.variance, range(21)))


@pytest.mark.parametrize("epsilon", [0.1, 1, 8, 20])
@pytest.mark.parametrize("people", [1, 2, 5, 20, 200])
def test_exact_intervals_never_cover_less_than_they_say(people: int, epsilon: float) -> None:
    """Every number of people at the top, the others at the bottom or in the middle: convolutions, no draws."""
    protocol = OneBitMean(0, 2, grid=1, epsilon=epsilon)
    chances = protocol.weights(np.arange(3)) / ONE
    releases = [protocol.estimate(MeanTally(protocol, people, ones)).details for ones in range(people + 1)]
    low, high = (np.array([one[end] for one in releases]) for end in ("raw_low", "raw_high"))
    for top in range(0, people + 1, max(1, people // 20)):
        for rest in (0, 1):
            mass = np.convolve(
                stats.binom.pmf(np.arange(top + 1), top, chances[2]),
                stats.binom.pmf(np.arange(people - top + 1), people - top, chances[rest]),
            )
            mean = (2 * top + rest * (people - top)) / people
            assert mass[(low <= mean + 1e-9) & (mean - 1e-9 <= high)].sum() >= 0.95
