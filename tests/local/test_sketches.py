"""Count-mean sketches: the law within a family of hashes, and its mean over families."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law

from bruit.errors import InvalidArgument
from bruit.local import CountMeanSketch, HadamardSketch, protocol_from_json
from bruit.local.sketches import Sketch

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
    tally = protocol.tally(protocol.randomise(np.full(PEOPLE, 2), np.random.default_rng(1)))
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
    release = protocol.estimate(protocol.tally(protocol.randomise(values, rng)))
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
