"""Prefix extending in rounds: each round asks other respondents which of the prefixes left begins their word."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, sqrt
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from bruit.channels import Support, checked_epsilon, symmetric
from bruit.core.arguments import whole
from bruit.core.intervals import Interval
from bruit.core.numbers import Exact
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local.forecasts import checked_people
from bruit.local.frequencies.krr import KRR
from bruit.local.frequencies.unary import OUE
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.heavy_hitters.prefix_search import FALSE_WORDS, LAST_SHARE, LEAST_SCORE
from bruit.local.tally import Reports, Tally
from bruit.randomness import generator

END: Final = "·"
"""Stands after a word that is shorter than the prefixes of its round."""

NONE_OF_THESE: Final = "…"
"""The answer of whoever has another prefix than those that a round asks about."""

MOST_PREFIXES: Final = 1024
"""Prefixes of one round: every device reads their list, and a report has at most so many bits."""

FOUND_OFTEN: Final = 0.9
"""How often a word of the least share is found."""

_PRECISION: Final = 1e-3
"""How exactly the least share is stated."""


@dataclass(frozen=True, init=False)
class PrefixRounds:
    """Finds frequent words that nobody listed by asking a class in rounds.                  [Wang, Li & Jha 2021]

    The first round asks for the first `length - rounds + 1` letters of a word, every later one for a letter more and
    only of prefixes that have stood out, the last one for whole words; each round is an ordinary protocol over its
    prefixes. A respondent answers in one round, drawn beforehand, at the whole epsilon: answers in all of eight rounds
    at an eighth of epsilon = 4 each would have 26 times the variance. `PrefixSearch` needs no rounds and more people.
    """

    alphabet: str
    length: int
    rounds: int
    epsilon: Fraction

    def __init__(self, alphabet: str, length: int, *, rounds: int, epsilon: Exact) -> None:
        object.__setattr__(self, "alphabet", _checked_alphabet(alphabet))
        object.__setattr__(self, "length", whole(length, "length", least=2, most=64))
        object.__setattr__(self, "rounds", whole(rounds, "rounds", least=2, most=self.length))
        object.__setattr__(self, "epsilon", checked_epsilon(epsilon))
        first = self.letters(1)
        if sum(len(self.alphabet) ** letters for letters in range(1, first + 1)) >= MOST_PREFIXES:
            raise InvalidArgument(
                f"the first of {rounds} rounds would ask for {first} of {length} letters at once, which are more than "
                f"{MOST_PREFIXES} prefixes: take more rounds, shorter words or a smaller alphabet"
            )

    # ------------------------------------------------------------ on the respondent's side
    def letters(self, number: int) -> int:
        """How many letters of a word a round asks for."""
        return self.length - self.rounds + number

    def drawn_rounds(self, people: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """The round in which each of so many people answers: the last with chance .3, each other equally often."""
        source = generator(rng)
        others = source.integers(1, self.rounds, size=people)
        return np.where(source.random(people) < LAST_SHARE, self.rounds, others)

    def spell(self, word: str) -> str:
        """A word in letters of the alphabet: in lower case, without accents that it lacks, cut to the length."""
        signs = unicodedata.normalize("NFC", word).lower()
        letters = (sign if sign in self.alphabet else unicodedata.normalize("NFD", sign)[0] for sign in signs)
        return "".join(letter for letter in letters if letter in self.alphabet)[: self.length]

    def prefixes(self, words: Iterable[str], protocol: FrequencyProtocol, number: int) -> list[str]:
        """The answer of each word to the protocol of a round."""
        asked, letters = set(protocol.categories.labels), self.letters(number)
        begun = (word[:letters] if len(word) >= letters else word + END for word in map(self.spell, words))
        return [prefix if prefix in asked else NONE_OF_THESE for prefix in begun]

    def randomise(
        self, words: Iterable[str], tallies: Sequence[Tally] = (), *, rng: np.random.Generator | None = None
    ) -> Reports:
        """One report for each word in the round after those tallied; this runs on the respondent's own device."""
        protocol = self.protocol(tallies)
        return protocol.randomise(self.prefixes(words, protocol, len(tallies) + 1), rng=rng)

    # ------------------------------------------------------------ on the collector's side
    def protocol(self, tallies: Sequence[Tally] = ()) -> FrequencyProtocol:
        """The protocol of the round after those tallied, over the prefixes that the latest of them left."""
        if len(tallies) >= self.rounds:
            raise InvalidArgument(f"all {self.rounds} rounds are over: `find` says what they found")
        asked = self._extended(self._checked(tallies[-1], len(tallies))) if tallies else self._first()
        return _least_variance((*asked, NONE_OF_THESE), self.epsilon)

    def find(self, tallies: Sequence[Tally], *, confidence: float = 0.95) -> Release[NDArray[np.float64]]:
        """The prefixes, after the last round the words, that stand out in the latest round, most frequent first.

        Each round asks other people. A prefix is listed where its count is beyond what all those asked about would
        reach by chance: on average at most .05 of a round are listed that nobody has. Shares lean upwards where a word
        only just stands out.
        """
        if not tallies:
            raise InvalidArgument("give the tally of at least one round")
        tally, counts = self._checked(tallies[-1], len(tallies)), tallies[-1].counts[:-1]  # all but none of these
        beyond = scipy.stats.binom.isf(FALSE_WORDS / len(counts), tally.people, float(tally.protocol.support.false))
        order = np.argsort(-counts, kind="stable")
        return self._released(tallies, order[counts[order] > beyond], confidence)

    def detection_limit(self, people: int) -> float:
        """The least share of a word that is found nine times out of ten among so many people; 1 where none is.

        All its prefixes must be among those kept, and its count in the last round beyond chance, beside as many other
        words of its share as there can be.
        """
        people, low, high = checked_people(people), 0.0, 1.0
        while high - low > _PRECISION:
            middle = (low + high) / 2
            low, high = (low, middle) if self._chance(people, middle) >= FOUND_OFTEN else (middle, high)
        return high

    # ------------------------------------------------------------ inside
    @property
    def _kept(self) -> int:
        """How many prefixes are kept after a round, at most: so many that all their extensions can be asked about."""
        return (MOST_PREFIXES - 1) // (len(self.alphabet) + 1)

    def _first(self) -> list[str]:
        """All prefixes of the first round, and all words that are shorter."""
        shorter = range(1, self.letters(1))
        ended = ["".join(word) + END for size in shorter for word in product(self.alphabet, repeat=size)]
        return [*map("".join, product(self.alphabet, repeat=self.letters(1))), *ended]

    def _extended(self, tally: Tally) -> list[str]:
        """The prefixes that stood out most in a round, by a letter longer; at least those of the best one."""
        labels, false = tally.protocol.categories.labels, float(tally.protocol.support.false)
        order = np.argsort(-tally.counts[:-1], kind="stable")[: self._kept]
        enough = [place for place in order if tally.counts[place] >= _least_count(tally.people, false)] or order[:1]
        best, signs = [labels[place] for place in enough], self.alphabet + END
        return [longer for one in best for longer in ([one] if one.endswith(END) else [one + sign for sign in signs])]

    def _checked(self, tally: Tally, number: int) -> Tally:
        *asked, none = tally.protocol.categories.labels
        sizes = {len(label) for label in asked if not label.endswith(END)}
        if none != NONE_OF_THESE or not sizes <= {self.letters(number)} or number > self.rounds:
            raise InvalidArgument(f"tally {number} is not of round {number}: give those of all rounds, in order")
        return tally

    def _released(
        self, tallies: Sequence[Tally], chosen: NDArray[np.int64], confidence: float
    ) -> Release[NDArray[np.float64]]:
        tally = tallies[-1]
        every = tally.protocol.estimate(tally, confidence)
        assert every.interval is not None
        low, high = (np.asarray(end)[chosen] for end in (every.interval.low, every.interval.high))
        labels = [tally.protocol.categories.labels[place] for place in chosen]
        return Release(
            value=every.value[chosen],
            guarantee=every.guarantee,
            method="local.PrefixRounds",
            labels=tuple(label.removesuffix(END) if len(tallies) == self.rounds else label for label in labels),
            interval=Interval(low, high, confidence, every.interval.covers),
            noise=(high - low) / 2,
            details={"answers": sum(one.people for one in tallies), "in this round": tally.people},
        )

    def _chance(self, people: int, share: float) -> float:
        """How often a word of this share is found, beside 1 / share - 1 others and in the mean number of prefixes."""
        each, last = int(people * (1 - LAST_SHARE) / (self.rounds - 1)), int(people * LAST_SHARE)
        asked, room, chance = float(len(self._first())), max(self._kept - 1 / share, 1), 1.0
        for _ in range(1, self.rounds):
            true, false = self._chances(share, asked)
            cut = max(_least_count(each, false) - 1, scipy.stats.binom.isf(min(room / asked, 1), each, false))
            chance *= float(scipy.stats.binom.sf(cut, each, true))
            asked = (1 / share + asked * float(scipy.stats.binom.sf(cut, each, false))) * (len(self.alphabet) + 1)
        true, false = self._chances(share, asked)
        return chance * float(scipy.stats.binom.sf(scipy.stats.binom.isf(FALSE_WORDS / asked, last, false), last, true))

    def _chances(self, share: float, asked: float) -> tuple[float, float]:
        """How often a report supports a word of this share, and one that nobody has, among so many."""
        supports = (symmetric(min(max(int(asked), 2), MOST_PREFIXES), epsilon=self.epsilon).support, self._bits)
        support = min(supports, key=lambda one: float(one.variance(0, 1)))
        return float(support.mix(share)), float(support.false)

    @cached_property
    def _bits(self) -> Support:
        """The chances of a bit of a report where a bit stands for each prefix."""
        return OUE(2, epsilon=self.epsilon).support


def _least_count(people: int, false: float) -> int:
    """The count from which a prefix is kept: `LEAST_SCORE` deviations above that of one that nobody has."""
    return ceil(people * false + LEAST_SCORE * sqrt(max(people * false * (1 - false), 1)))


def _least_variance(asked: Sequence[str], epsilon: Fraction) -> FrequencyProtocol:
    """The protocol that a browser follows with the least variance of rare answers."""
    made: tuple[FrequencyProtocol, ...] = (KRR(asked, epsilon=epsilon), OUE(asked, epsilon=epsilon))
    return min(made, key=lambda one: float(one.support.variance(0, 1)))


def _checked_alphabet(alphabet: str) -> str:
    if not isinstance(alphabet, str) or not 2 <= len(alphabet) <= 100 or len(set(alphabet)) != len(alphabet):
        raise InvalidArgument("an alphabet is a text of 2 to 100 letters, each of them once")
    if alphabet != unicodedata.normalize("NFC", alphabet).lower() or set(alphabet) & {END, NONE_OF_THESE, " "}:
        raise InvalidArgument(f"an alphabet is of small letters, with neither {END} nor {NONE_OF_THESE} nor a space")
    return alphabet
