"""Words that nobody listed: found where they are frequent, counted without bias, at the price of one report."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from bruit.core import LOCAL
from bruit.errors import InvalidArgument
from bruit.local import PrefixSearch, WordReports
from bruit.local.heavy_hitters.prefix_search import extend, fingerprints, spell_back

WORDS = ["thé", "café", "eau", "vin rouge", "bière"]
SHARES = [0.3, 0.25, 0.2, 0.15, 0.1]


def survey(people: int, protocol: PrefixSearch, seed: int) -> WordReports:
    rng = np.random.default_rng(seed)
    return protocol.randomise(rng.choice(WORDS, size=people, p=SHARES), rng=rng)


def test_frequent_words_are_found_without_a_list() -> None:
    protocol = PrefixSearch(10, epsilon=4)
    found = protocol.find(survey(40_000, protocol, 1), most=5)
    assert found.labels == tuple(WORDS)
    assert found.value == pytest.approx(SHARES, abs=0.02)
    assert (found.interval.low <= found.value).all()
    assert (found.value <= found.interval.high).all()
    assert found.guarantee.epsilon == 4
    assert found.guarantee.neighbours is LOCAL


def test_nothing_is_listed_where_nobody_agrees() -> None:
    protocol, rng = PrefixSearch(4, epsilon=1), np.random.default_rng(2)
    noise = [rng.bytes(4) for _ in range(3000)]
    assert protocol.find(protocol.randomise(noise, rng=rng), most=5).labels == ()
    assert protocol.find(WordReports(protocol, np.zeros((0, 4), np.uint32)), most=5).labels == ()


@pytest.mark.parametrize(("length", "people", "runs"), [(2, 50, 60), (2, 300, 60), (5, 300, 6)])
def test_few_people_do_not_list_words_that_nobody_has(length: int, people: int, runs: int) -> None:
    """A count near one is far from normal: .05 false words on average, here fewer than 1e-6 would allow."""
    protocol, wrong = PrefixSearch(length, epsilon=4), 0
    for seed in range(runs):
        found = protocol.find(protocol.randomise(["hello"] * people, rng=np.random.default_rng(seed)), most=10_000)
        assert found.labels[0] == "hello"[:length]
        wrong += len(found.labels) - 1
    assert wrong <= stats.poisson.isf(1e-6, 0.05 * runs)


def test_words_that_differ_have_labels_that_differ() -> None:
    protocol = PrefixSearch(4, epsilon=6)
    reports = protocol.randomise([b"\\xc3"] * 1000 + [b"\xc3"] * 1000, rng=np.random.default_rng(1))
    assert set(protocol.find(reports, most=3).labels) == {"\\\\xc3", "\\xc3"}


def test_shares_are_unbiased_and_their_intervals_hold() -> None:
    protocol = PrefixSearch(2, epsilon=2)
    found = [protocol.find(survey_of("no", 500, protocol, seed), most=1) for seed in range(60)]
    assert {release.labels for release in found} == {("no",)}
    values = np.array([release.value[0] for release in found])
    assert abs(values.mean() - 0.6) < 4 * values.std() / np.sqrt(len(values))
    held = sum(bool(release.interval.low[0] <= 0.6 <= release.interval.high[0]) for release in found)
    assert held >= stats.binom.ppf(1e-6, 60, 0.95)


def survey_of(word: str, people: int, protocol: PrefixSearch, seed: int) -> WordReports:
    rng = np.random.default_rng(seed)
    others = [f"{place:02x}"[:2] for place in range(256)]
    return protocol.randomise(np.where(rng.random(people) < 0.6, word, rng.choice(others, people)), rng=rng)


def test_a_report_agrees_with_its_word_as_often_as_the_channel_keeps_a_bucket() -> None:
    protocol, people = PrefixSearch(2, epsilon=1), 40_000
    values = protocol.randomise(["no"] * people, rng=np.random.default_rng(3)).values
    counts = protocol._support(values[:, 1:], np.frombuffer(b"noso", np.uint8).reshape(2, 2))
    for count, chance in zip(counts, (protocol.support.true, protocol.support.false), strict=True):
        assert abs(count - people * chance) < 6 * np.sqrt(people * chance * (1 - chance))


def test_support_is_that_of_the_documented_hash() -> None:
    protocol, rng = PrefixSearch(3, epsilon=3), np.random.default_rng(4)
    prefixes = rng.integers(0, 256, (50, 3)).astype(np.uint8)
    reports = protocol.randomise([row.tobytes() for row in prefixes], rng=rng).values[:, 1:].astype(np.uint64)
    listed = fingerprints(prefixes).astype(np.uint64)
    hashed = ((reports[:, :1] * listed + reports[:, 1:2]) % 2**32 // 2**16 * protocol.buckets) // 2**16
    wanted = (hashed == reports[:, 2:]).sum(axis=0)
    assert protocol._support(reports.astype(np.uint32), prefixes).tolist() == wanted.tolist()


def test_fingerprints_differ_with_every_byte_and_with_the_length() -> None:
    prefixes = extend(np.array([[1], [2]], np.uint8))
    assert len(set(fingerprints(prefixes).tolist())) == 512
    assert fingerprints(np.zeros((1, 2), np.uint8)) != fingerprints(np.zeros((1, 3), np.uint8))
    assert fingerprints(prefixes).max() < 2**27


@pytest.mark.parametrize(("word", "back"), [("née", "née"), ("a" * 20, "a" * 8), ("", "")])
def test_words_are_cut_and_padded(word: str, back: str) -> None:
    assert spell_back(PrefixSearch(8, epsilon=1)._spelled([word])[0]) == back


@pytest.mark.parametrize("given", [{"length": 1}, {"length": 65}, {"epsilon": 0}, {"length": "8"}])
def test_bad_settings_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        PrefixSearch(given.pop("length", 8), epsilon=given.pop("epsilon", 1))


def test_reports_of_another_protocol_are_refused() -> None:
    protocol = PrefixSearch(3, epsilon=1)
    with pytest.raises(InvalidArgument, match="another protocol"):
        protocol.find(WordReports(PrefixSearch(3, epsilon=2), np.zeros((0, 4), np.uint32)), most=1)
    with pytest.raises(InvalidArgument, match="prefix of 2 to 3 bytes"):
        protocol.find(WordReports(protocol, np.full((1, 4), 1, np.uint32)), most=1)
    with pytest.raises(InvalidArgument, match="four uint32"):
        protocol.find(WordReports(protocol, np.zeros(4, np.uint32)), most=1)
    with pytest.raises(InvalidArgument, match="a list of words"):
        protocol.randomise("abc")
    with pytest.raises(InvalidArgument, match="words are texts"):
        protocol.randomise([3])  # type: ignore[list-item]
