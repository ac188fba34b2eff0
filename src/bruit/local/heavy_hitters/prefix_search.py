"""Prefix extending: each respondent reports one prefix of a word, and frequent prefixes are extended byte by byte."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from os import cpu_count
from typing import Any, Final

import numpy as np
import scipy
from numpy.typing import NDArray

from bruit.channels import ONE, Support, SymmetricChannel, checked_epsilon, symmetric
from bruit.core.arguments import confidence as checked_confidence
from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption, Guarantee
from bruit.core.intervals import Covers, Interval
from bruit.core.losses import Pure
from bruit.core.neighbours import LOCAL
from bruit.core.numbers import Exact
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local.forecasts import two_sided
from bruit.local.frequencies import _hash_kernels
from bruit.local.frequencies.hashing import checked_hashed
from bruit.local.heavy_hitters import _kernels
from bruit.local.loss_proof import prove
from bruit.randomness import generator, is_strong, words

FINGERPRINT_BITS: Final = 27
"""Two fingerprints of so many bits have independent hashes into 2^6 buckets or fewer; see `OLH`."""

FIRST: Final = 2
"""Bytes of the shortest prefix: all 65 536 of them are tried."""

LAST_SHARE: Final = 0.3
"""The share of respondents who report the whole word: their counts order what is found."""

CLIP: Final = 4.0
"""A prefix that stands out by more deviations than these counts as certain, so that its weak siblings gain little."""

LEAST_SCORE: Final = 1.5
"""Deviations by which the prefixes of a word must stand out on average for the word to be tried."""

FALSE_WORDS: Final = 0.05
"""How many words that nobody has are listed on average, at most."""

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class WordReports:
    """Reports of words, (n, 4) uint32: which prefix was reported, the hash's two numbers, and the noised bucket."""

    protocol: PrefixSearch
    values: NDArray[np.uint32]
    seeded: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def __add__(self, other: WordReports) -> WordReports:
        if self.protocol != other.protocol:
            raise InvalidArgument("reports can be put together only where they followed the same protocol")
        return WordReports(self.protocol, np.concatenate([self.values, other.values]), self.seeded or other.seeded)


@dataclass(frozen=True, init=False)
class PrefixSearch:
    """Finds frequent words of at most `length` bytes that nobody listed.                     [Wang, Li & Jha 2021]

    Each respondent draws which prefix of the word to report (of 2, 3, … `length` bytes), hashes it with public and then
    with random numbers into g buckets, and sends the bucket through a symmetric channel: one report, one epsilon. The
    collector starts from all prefixes of two bytes, keeps the `beam` that stand out most over all lengths so far,
    extends each by every byte, and lists the words that were reported most.
    """

    length: int
    epsilon: Fraction

    def __init__(self, length: int, *, epsilon: Exact) -> None:
        object.__setattr__(self, "length", whole(length, "length", least=FIRST, most=64))
        object.__setattr__(self, "epsilon", checked_epsilon(epsilon))
        prove(self.channel.epsilon, self.epsilon, gap=self.channel.keep - self.channel.other)

    @cached_property
    def buckets(self) -> int:
        """The number of buckets: the power of two nearest to e^epsilon + 1, at most 64."""
        return 1 << min(max(1, round(float(np.log2(np.exp(min(float(self.epsilon), 5.0)) + 1)))), 6)

    @cached_property
    def channel(self) -> SymmetricChannel:
        """The symmetric channel over the buckets."""
        return symmetric(self.buckets, epsilon=self.epsilon)

    @cached_property
    def support(self) -> Support:
        """Probabilities that the true prefix, and a given other one, hash into the reported bucket."""
        return Support(self.channel.keep / ONE, float(self.channel.support.mix(1 / self.buckets)))

    @property
    def stages(self) -> range:
        """The lengths of the prefixes that are reported."""
        return range(FIRST, self.length + 1)

    def privacy(self) -> Pure:
        """The privacy loss of a respondent, ready to be composed."""
        return Pure(self.channel.epsilon, neighbours=LOCAL)

    def guarantee(self, *, seeded: bool = False) -> Guarantee:
        """The privacy guarantee of one respondent, which needs no trust in the collector."""
        assumed = (Assumption.SEEDED,) if seeded else ()
        return Guarantee(self.epsilon, Fraction(0), LOCAL, "one respondent", "law", assumed)

    def randomise(self, values: Iterable[str | bytes], *, rng: np.random.Generator | None = None) -> WordReports:
        """One report for each word; this is the step that runs on the respondent's own device."""
        spelled, source = self._spelled(values), generator(rng)
        reports = np.empty((len(spelled), 4), np.uint32)
        reports[:, 0] = self._drawn_stages(len(spelled), source)
        for stage in self.stages:
            mine = np.flatnonzero(reports[:, 0] == stage)
            hashed = np.empty((len(mine), 3), np.uint32)
            places = fingerprints(spelled[mine, :stage]).astype(np.int32)
            drawn = words(source, 2 * len(mine)).reshape(-1, 2)
            _hash_kernels.hash_and_send(places, self.buckets, self.channel.keep, self.channel.other, drawn, hashed)
            reports[mine, 1:] = hashed
        return WordReports(self, reports, seeded=not is_strong(rng))

    def find(self, reports: WordReports, *, most: int, confidence: float = 0.95, beam: int = 256) -> Release[Any]:
        """The `most` frequent words found, with their shares, most frequent first.

        The count of a word that nobody has is binomial, since two words have independent hashes.

        Prefixes and whole words are reported by different respondents. A word is listed where its count is beyond what
        all words that were tried would reach by chance: on average at most .05 words are listed that nobody has. Words
        near the end of a list that `most` cuts off stand there partly by luck, and their shares lean upwards.
        """
        values, confidence = self._checked(reports), checked_confidence(confidence)
        most, beam = whole(most, "most", least=1, most=10_000), whole(beam, "beam", least=1, most=100_000)
        prefixes = np.stack(np.divmod(np.arange(1 << 16), 256), axis=1).astype(np.uint8)
        total, counts, people = np.zeros(len(prefixes)), np.zeros(0, np.int64), 0
        for stage in self.stages:
            mine = values[values[:, 0] == stage]
            counts, people = self._support(mine[:, 1:], prefixes), len(mine)
            if stage == self.length:
                break
            deviations = self._deviations(counts, people)
            total = total + np.minimum(deviations, CLIP)
            kept = np.lexsort((-deviations, -total))[:beam]
            prefixes, total = extend(prefixes[kept]), np.repeat(total[kept], 256)
        credible = total >= LEAST_SCORE * (len(self.stages) - 1)
        order = np.argsort(-np.where(credible, counts, -1), kind="stable")[:most]
        tried = max(int(np.count_nonzero(credible)), 1)
        beyond = scipy.stats.binom.isf(FALSE_WORDS / tried, people, float(self.support.false)) if people else 0
        order = order[credible[order] & (counts[order] > beyond)]
        return self._released(prefixes[order], counts[order], people, confidence, reports)

    def _released(
        self, found: Bytes, counts: NDArray[np.int64], people: int, confidence: float, reports: WordReports
    ) -> Release[Any]:
        true, other = self.support.true, self.support.false
        shares = (counts / max(people, 1) - other) / (true - other)
        spread = np.sqrt(np.clip(counts / max(people, 1), other, 1) / max(people, 1)) / (true - other)
        half = two_sided(confidence) * spread
        low, high = (np.clip(shares + side * half, 0, 1) for side in (-1, 1))
        return Release(
            value=shares,
            guarantee=self.guarantee(seeded=reports.seeded),
            method="local.PrefixSearch",
            labels=tuple(spell_back(row) for row in found),
            interval=Interval(low, high, confidence, Covers.POPULATION),
            noise=half,
            details={"answers": len(reports), "whole words": people},
        )

    def _support(self, hashed: NDArray[np.uint32], prefixes: Bytes) -> NDArray[np.int64]:
        """How many reports each prefix agrees with; reports are shared among the processor's cores."""
        listed = fingerprints(prefixes)
        low = (hashed[:, 2].astype(np.int64) << 16) // self.buckets
        width = ((hashed[:, 2].astype(np.int64) + 1) << 16) // self.buckets - low
        parts = np.zeros((3, -(-len(hashed) // 4) * 4), np.uint32)  # a report of width 0 agrees with nothing
        parts[0, : len(hashed)] = hashed[:, 0]
        parts[1, : len(hashed)] = (hashed[:, 1].astype(np.int64) - (low << 16)) & 0xFFFFFFFF
        parts[2, : len(hashed)] = width << 16
        shares = np.array_split(np.arange(parts.shape[1] // 4), cpu_count() or 1)

        def count(share: NDArray[np.int64]) -> NDArray[np.int32]:
            counts = np.zeros(len(listed), np.int32)
            if len(share):
                piece = parts[:, 4 * share[0] : 4 * share[-1] + 4]
                a, b, width = map(np.ascontiguousarray, piece)
                _kernels.count_listed(a, b, width, listed, counts)
            return counts

        with ThreadPoolExecutor(len(shares)) as pool:
            return np.asarray(np.sum(list(pool.map(count, shares)), axis=0, dtype=np.int64))

    def _deviations(self, counts: NDArray[np.int64], people: int) -> NDArray[np.float64]:
        """By how many deviations counts are above those of a prefix that nobody has."""
        other = float(self.support.false)
        above = counts.astype(np.float64) - people * other
        return above / sqrt(max(people * other * (1 - other), 1))

    def _drawn_stages(self, size: int, source: np.random.Generator) -> NDArray[np.uint32]:
        """Which prefix each respondent reports: the whole word with chance `LAST_SHARE`, the others evenly."""
        last = source.random(size) < (LAST_SHARE if len(self.stages) > 1 else 1)
        others = source.integers(FIRST, max(self.length, FIRST + 1), size=size)
        return np.where(last, self.length, others).astype(np.uint32)

    def _spelled(self, values: Iterable[str | bytes]) -> Bytes:
        """Words as rows of `length` bytes (UTF-8), cut where they are longer and padded with zeros."""
        if isinstance(values, str | bytes):
            raise InvalidArgument("give a list of words, one for each respondent")
        texts = [value.encode(errors="replace") if isinstance(value, str) else value for value in values]
        if not all(isinstance(text, bytes) for text in texts):
            raise InvalidArgument("words are texts or bytes")
        joined = b"".join(text[: self.length].ljust(self.length, b"\0") for text in texts)
        return np.frombuffer(joined, np.uint8).reshape(-1, self.length)

    def _checked(self, reports: WordReports) -> NDArray[np.uint32]:
        if reports.protocol != self:
            raise InvalidArgument("these reports are of another protocol; search with the protocol they carry")
        values = np.asarray(reports.values)
        if values.ndim != 2 or values.shape[1] != 4 or values.dtype != np.uint32:
            raise InvalidArgument("reports of words are four uint32 each: length of the prefix, a, b and a bucket")
        if len(values) and (values[:, 0].min() < FIRST or values[:, 0].max() > self.length):
            raise InvalidArgument(f"a report is of a prefix of {FIRST} to {self.length} bytes")
        checked_hashed(np.ascontiguousarray(values[:, 1:]), self.buckets)
        return values


def extend(prefixes: Bytes) -> Bytes:
    """Every prefix followed by each of the 256 bytes."""
    longer = np.repeat(prefixes, 256, axis=0)
    return np.column_stack([longer, np.tile(np.arange(256, dtype=np.uint8), len(prefixes))])


def fingerprints(prefixes: Bytes) -> NDArray[np.uint32]:
    """Public fingerprints of `FINGERPRINT_BITS` bits, which depend on all bytes and on how many there are.

    The bytes go through FNV-1a [Fowler, Noll & Vo 1991], the result through the finaliser of SplitMix64
    [Steele et al. 2014].
    """
    state = np.full(len(prefixes), (0xCBF29CE484222325 + prefixes.shape[1]) % 2**64, np.uint64)
    for column in prefixes.T:
        state = (state ^ column) * np.uint64(0x100000001B3)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return ((state ^ (state >> np.uint64(31))) >> np.uint64(64 - FINGERPRINT_BITS)).astype(np.uint32)


def spell_back(row: Bytes) -> str:
    """The text of a padded row; bytes that are no UTF-8 are shown as escapes, and a backslash as two."""
    return row.tobytes().rstrip(b"\0").replace(b"\\", b"\\\\").decode("utf-8", errors="backslashreplace")
