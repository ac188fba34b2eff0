"""Count-mean sketches: the law within a family of hashes, and its mean over families."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law, binomial_window

from bruit.errors import InvalidArgument
from bruit.local import CountMeanSketch, HadamardSketch, Tally, protocol_from_json
from bruit.local.frequencies.sketches import Sketch

KINDS = [CountMeanSketch, HadamardSketch]
PEOPLE = 65_536


@given(st.floats(0.05, 12))
def test_the_law_proves_the_epsilon_asked_for(epsilon: float) -> None:
    for kind in KINDS:
        protocol = kind(3, epsilon=epsilon, hashes=2, width=2)
        assert protocol.epsilon * 999 / 1000 < protocol.loss <= protocol.epsilon


@pytest.mark.parametrize("kind", KINDS)
def test_within_a_family_support_follows_the_collisions(kind: type[Sketch]) -> None:
    protocol = kind(6, epsilon=1, hashes=8, width=16)
    tally = protocol.tally(protocol.randomise(np.full(PEOPLE, 2), rng=np.random.default_rng(1)))
    true, false = protocol._chances
    for category, count in enumerate(tally.counts):
        together = (protocol.places[category] == protocol.places[2]).mean()
        chance = false + (true - false) * together
        assert_law([count, PEOPLE - count], [chance, 1 - chance])


@pytest.mark.parametrize("kind", KINDS)
def test_over_families_wrong_answers_are_supported_as_stated(kind: type[Sketch]) -> None:
    protocols = [kind(64, epsilon=1, hashes=16, width=16, family=family) for family in range(64)]
    pairs = np.array([(one.places[:32] == one.places[32:]).sum() for one in protocols])
    trials = 64 * 32 * 16
    assert_law([pairs.sum(), trials - pairs.sum()], [1 / 16, 15 / 16])
    true, false = protocols[0]._chances
    assert protocols[0].support.false == pytest.approx(false + (true - false) / 16)


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_sketch_estimates_well(kind: type[Sketch]) -> None:
    protocol, rng = kind(50, epsilon=3, hashes=256, width=256), np.random.default_rng(2)
    values = np.concatenate([np.zeros(PEOPLE // 2, int), rng.integers(1, 50, PEOPLE // 2)])
    release = protocol.estimate(protocol.tally(protocol.randomise(values, rng=rng)))
    assert abs(release.value[0] - 0.5) < 8 * release.details["standard_error"][0]


@pytest.mark.parametrize("kind", KINDS)
def test_sketches_merge_and_survive_json(kind: type[Sketch]) -> None:
    protocol = kind(["a", "b", "c"], epsilon=1, hashes=4, width=8, other=True)
    assert protocol_from_json(json.dumps(protocol.to_json())) == protocol
    reports = protocol.randomise(["a", "b", "zebra"] * 50).values
    assert protocol.tally(reports[:70]) + protocol.tally(reports[70:]) == protocol.tally(reports)
    assert protocol.tally(protocol.randomise([])) == protocol.empty()


@pytest.mark.parametrize("kind", KINDS)
def test_reports_no_respondent_sends_are_refused(kind: type[Sketch]) -> None:
    protocol = kind(3, epsilon=1, hashes=4, width=8)
    good = protocol.randomise([0, 1]).values
    for bad in (good.astype(float), good + np.array(4, good.dtype), good[0]):
        with pytest.raises(InvalidArgument, match="report"):
            protocol.tally(bad)


def test_shapes_that_make_no_sketch_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="power of two"):
        HadamardSketch(3, epsilon=1, width=100)
    with pytest.raises(InvalidArgument, match="hashes"):
        CountMeanSketch(3, epsilon=1, hashes=1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_variance_of_drawn_tallies_is_the_closed_form(kind: type[Sketch]) -> None:
    """40 000 families: how often two categories meet is binomial, and given that the support of each group is too."""
    protocol, rng, draws = kind(4, epsilon=2, hashes=64, width=16), np.random.default_rng(3), 40_000
    held, (true, false) = np.array([1000, 600, 400, 0]), protocol._chances
    people, shares = held.sum(), held / held.sum()
    raw = np.empty((draws, 4))
    for category in range(4):
        meet = rng.binomial(64, 1 / 16, (draws, 4)) / 64
        meet[:, category] = 1
        counts = rng.binomial(held, false + (true - false) * meet).sum(axis=1)
        raw[:, category] = protocol.support.unmix(counts / people)
    noise, collisions = protocol.support.noise_variance(shares, people), protocol.collision_deviation(shares) ** 2
    assert raw.var(axis=0) == pytest.approx(noise + collisions, rel=0.05)
    assert (collisions > 0.1 * noise).any()  # or the test would not see them
    assert (np.abs(raw.mean(axis=0) - shares) < 6.5 * np.sqrt((noise + collisions) / draws)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("people", [200, 1_000_000])
def test_intervals_allow_for_the_collisions_of_real_families(kind: type[Sketch], people: int) -> None:
    """With a million people the noise is small and the collisions are not: 8 categories in each of 150 families."""
    rng, covered, tried = np.random.default_rng(4), 0, 0
    held = (people * np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02, 0])).astype(int)
    for family in range(150):
        protocol = kind(8, epsilon=3, hashes=32, width=16, family=family)
        true, false = protocol._chances
        meet = (protocol.places[:, None] == protocol.places[None]).mean(axis=2)
        counts = rng.binomial(held, false + (true - false) * meet).sum(axis=1)
        release = protocol.estimate(Tally(protocol, people, counts))
        assert release.interval is not None
        assert release.details["approximate"]
        covered += int(((release.interval.low <= held / people) & (held / people <= release.interval.high)).sum())
        tried += 8
    assert covered >= binomial_window(tried, 0.95, 1e-9)[0]
    assert people == 200 or release.details["collisions"].max() > 0.005


@pytest.mark.parametrize("kind", KINDS)
def test_planning_agrees_with_itself(kind: type[Sketch]) -> None:
    protocol = kind(10, epsilon=1)
    people = protocol.people_for(error=0.02)
    assert protocol.expected_error(people) <= 0.02 < protocol.expected_error(people - 1)
    assert protocol.epsilon_for(error=0.02, people=people) == pytest.approx(1, abs=2e-4)
    with pytest.raises(InvalidArgument, match="out of reach"):
        kind(10, epsilon=1, hashes=2, width=2).people_for(error=0.02)  # no number of people undoes collisions
