"""Words found in rounds: each person answers once, each round asks about what the last one left."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bruit.errors import InvalidArgument
from bruit.local import PrefixRounds, Tally
from bruit.local.heavy_hitters.prefix_rounds import END, NONE_OF_THESE

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def asked(search: PrefixRounds, answers: Sequence[str], seed: int) -> list[Tally]:
    """The tallies of all rounds, each of the people who drew it."""
    rng = np.random.default_rng(seed)
    mine, tallies = search.drawn_rounds(len(answers), rng=rng), list[Tally]()
    for number in range(1, search.rounds + 1):
        protocol = search.protocol(tallies)
        assert protocol.epsilon == search.epsilon
        here = [answer for answer, drawn in zip(answers, mine, strict=True) if drawn == number]
        tallies.append(protocol.tally(search.randomise(here, tallies, rng=rng)))
    assert sum(tally.people for tally in tallies) == len(answers)
    return tallies


def test_a_thousand_people_and_eight_rounds_find_the_common_words() -> None:
    search = PrefixRounds(LETTERS, 9, rounds=8, epsilon=4)
    tallies = asked(search, ["pizza"] * 350 + ["Ratatouille"] * 300 + ["sushi"] * 250 + ["x", "yy"] * 50, 1)
    found = search.find(tallies)
    assert set(found.labels) == {"pizza", "ratatouil", "sushi"}
    assert found.interval is not None
    for label, low, high in zip(found.labels, found.interval.low, found.interval.high, strict=True):
        truth = {"pizza": 0.35, "ratatouil": 0.3, "sushi": 0.25}[label]
        assert low <= truth <= high
    assert found.guarantee.epsilon == 4
    assert set(search.find(tallies[:1]).labels) == {"pi", "ra", "su"}


def test_the_least_share_that_is_promised_is_found_nine_times_out_of_ten() -> None:
    search = PrefixRounds(LETTERS, 4, rounds=3, epsilon=4)
    share, words = search.detection_limit(1000), ["abcd", "ab", "mnop", "xyz"]
    answers = [word for word in words for _ in range(round(1000 * share))]
    answers += ["qqqq"[: place % 4 + 1] for place in range(1000 - len(answers))]
    hits = [len({*words} & {*search.find(asked(search, answers, seed)).labels}) for seed in range(40)]
    assert sum(hits) >= stats.binom.ppf(1e-6, 160, 0.9)
    assert 0 < search.detection_limit(10_000) < share < search.detection_limit(100) <= 1
    assert search.detection_limit(3) == 1


def test_words_that_nobody_has_are_listed_once_in_twenty_searches_at_most() -> None:
    search, rng = PrefixRounds("abcdef", 4, rounds=3, epsilon=2), np.random.default_rng(3)
    wrong = 0
    for seed in range(60):
        answers = ["".join(rng.choice(list("abcdef"), 3)) + "a" for _ in range(300)]
        wrong += sum(label not in answers for label in search.find(asked(search, answers, seed)).labels)
    assert wrong <= stats.poisson.isf(1e-6, 0.05 * 60)


def test_the_first_round_asks_for_every_prefix_and_later_ones_extend_the_best() -> None:
    search = PrefixRounds("ab", 4, rounds=3, epsilon=3)
    first = search.protocol()
    assert first.categories.labels == ("aa", "ab", "ba", "bb", f"a{END}", f"b{END}", NONE_OF_THESE)
    assert search.prefixes(["A", "abba", "aab", "", "ccc"], first, 1) == [
        "a·",
        "ab",
        "aa",
        NONE_OF_THESE,
        NONE_OF_THESE,
    ]
    tally = first.tally_of([40, 0, 0, 0, 0, 40, 3], 83)
    assert search.protocol([tally]).categories.labels == ("aaa", "aab", "aa·", "b·", NONE_OF_THESE)
    silent = first.tally_of([0] * 7, 0)
    assert search.protocol([silent]).categories.labels == ("aaa", "aab", "aa·", NONE_OF_THESE)


def test_a_round_has_no_more_prefixes_than_a_report_may_have_bits() -> None:
    search = PrefixRounds(LETTERS, 9, rounds=8, epsilon=4)
    first = search.protocol()
    crowded = first.tally_of([100] * len(first.categories), 100)
    assert len(search.protocol([crowded]).categories) <= 1024


def test_words_are_spelled_in_letters_of_the_alphabet() -> None:
    plain, accents = PrefixRounds("aceht", 4, rounds=3, epsilon=1), PrefixRounds("aceéht", 4, rounds=3, epsilon=1)
    assert [plain.spell(word) for word in ("Thé", "the\u0301", "c a-c h e t", "日")] == ["the", "the", "cach", ""]
    assert [accents.spell(word) for word in ("THÉ", "the\u0301", "thè")] == ["thé", "thé", "the"]


def test_three_in_ten_answer_in_the_last_round() -> None:
    drawn = PrefixRounds("ab", 8, rounds=8, epsilon=1).drawn_rounds(100_000, rng=np.random.default_rng(1))
    for number in range(1, 9):
        chance = 0.3 if number == 8 else 0.1
        assert stats.binom.cdf(np.count_nonzero(drawn == number), 100_000, chance) == pytest.approx(0.5, abs=0.5 - 1e-9)


@pytest.mark.parametrize(
    "given",
    [
        {"alphabet": "a"},
        {"alphabet": "aa"},
        {"alphabet": "ABC"},
        {"alphabet": "a b"},
        {"alphabet": "ab·"},
        {"length": 1},
        {"rounds": 1},
        {"rounds": 5},
        {"length": 20},
        {"epsilon": 0},
    ],
)
def test_bad_settings_are_refused(given: dict[str, Any]) -> None:
    settings: dict[str, Any] = {"alphabet": "abcdef", "length": 4, "rounds": 3, "epsilon": 1} | given
    with pytest.raises(InvalidArgument):
        PrefixRounds(settings["alphabet"], settings["length"], rounds=settings["rounds"], epsilon=settings["epsilon"])


def test_tallies_of_another_round_are_refused() -> None:
    search = PrefixRounds("ab", 4, rounds=3, epsilon=3)
    tally = search.protocol().empty()
    with pytest.raises(InvalidArgument, match="tally 2 is not of round 2"):
        search.protocol([tally, tally])
    with pytest.raises(InvalidArgument, match="all 3 rounds are over"):
        search.protocol([tally] * 3)
    with pytest.raises(InvalidArgument, match="at least one round"):
        search.find([])
