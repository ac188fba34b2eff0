"""Audits of local protocols: one respondent's report on one answer or on another."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import local
from bruit.apps.audits.case import EPSILON, Case
from bruit.core.neighbours import LOCAL
from bruit.local.heavy_hitters.prefix_search import fingerprints

ANSWERS = ("a", "b", "c", "d", "e")
REPORTS = 4
"""How often the same value is reported to RAPPOR."""

View = Callable[[NDArray[Any]], NDArray[Any]]


def cases() -> Iterator[Case]:
    """Each local protocol, between its first two answers."""
    yield protocol_case(local.Warner(epsilon=EPSILON))
    for kind in (local.KRR, local.SUE, local.OUE, local.HadamardResponse, local.SubsetSelection):
        yield protocol_case(kind(ANSWERS, epsilon=EPSILON))
    for hashing in (local.OLH, local.BLH):
        protocol = hashing(ANSWERS, epsilon=EPSILON)
        yield protocol_case(protocol, view=partial(_agreements, buckets=protocol.buckets))
    for twice in (local.LongitudinalKRR, local.LongitudinalOUE):
        yield protocol_case(twice(ANSWERS, epsilon=EPSILON, forever=2 * EPSILON))
    loloha = local.LOLOHA(ANSWERS, epsilon=EPSILON, forever=2 * EPSILON)
    yield protocol_case(loloha, view=partial(_agreements, buckets=loloha.buckets))
    for sketch in (local.CountMeanSketch, local.HadamardSketch):
        yield protocol_case(sketch(ANSWERS, epsilon=EPSILON, hashes=2, width=4))
    yield protocol_case(local.DBitFlip(ANSWERS, epsilon=EPSILON, chosen=3))
    ends = local.OneBitMean(0, 10, grid=5, epsilon=EPSILON)
    yield Case("local.OneBitMean", LOCAL, (0, 10), lambda end, n, rng: ends.randomise(np.full(n, end), rng=rng).values)
    for mixed in (False, True):
        yield window_case(local.PiecewiseMean(0, 10, grid=5, epsilon=EPSILON, mixed=mixed))
    for how in ("split", "sample", "fake"):
        yield attributes_case(local.Attributes({"one": ANSWERS, "two": 3}, epsilon=EPSILON, how=how))
    yield protocol_case(local.BasicRappor(ANSWERS, f=0.5, p=0.25, q=0.75))
    yield word_case(local.PrefixSearch(2, epsilon=EPSILON))
    yield from rounds_cases(local.PrefixRounds("abc", 3, rounds=2, epsilon=EPSILON))
    yield from rappor_cases(local.Rappor(bits=32, hashes=2, cohorts=1, f=0.5, p=0.25, q=0.75))


def protocol_case(protocol: local.FrequencyProtocol, *, view: View = np.asarray, claimed: float | None = None) -> Case:
    """The case of a frequency protocol on its first two answers; `view` keeps the bits that tell these apart."""

    def reports(answer: str, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        return view(protocol.randomise(np.full(samples, answer), rng=rng).values)

    first, second = protocol.categories.labels[:2]
    promised = float(protocol.epsilon) if claimed is None else claimed
    return Case(f"local.{type(protocol).__name__}", LOCAL, (first, second), reports, claimed=promised)


def word_case(protocol: local.PrefixSearch) -> Case:
    """The case of a search for words on two words: whether a report agrees with either of their fingerprints."""
    pair = ("no", "so")
    listed = fingerprints(np.array([list(word.encode()) for word in pair], np.uint8)).astype(np.uint64)

    def reports(word: str, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        _, factor, shift, bucket = protocol.randomise([word] * samples, rng=rng).values.astype(np.uint64).T
        hashed = [((factor * one + shift) % 2**32 // 2**16 * protocol.buckets) // 2**16 for one in listed]
        return np.stack([place == bucket for place in hashed], axis=1)

    return Case("local.PrefixSearch", LOCAL, pair, reports, claimed=float(protocol.epsilon))


def rounds_cases(search: local.PrefixRounds) -> Iterator[Case]:
    """Audit cases of a prefix search: the reports of two different words in its first round, and in its second."""
    first = search.protocol()
    tallies = [first.tally(first.randomise(["ab", "ca"] * 4, rng=np.random.default_rng(1)))]

    def reports(word: str, samples: int, rng: np.random.Generator, *, over: int) -> NDArray[Any]:
        return search.randomise([word] * samples, tallies[:over], rng=rng).values

    for over in (0, 1):
        asked = partial(reports, over=over)
        yield Case("local.PrefixRounds", LOCAL, ("abc", "cab"), asked, variant=f"round {over + 1}")


def window_case(protocol: local.PiecewiseMean) -> Case:
    """The case of a mean protocol on the two ends of its range."""
    ends = (float(protocol.ends.low), float(protocol.ends.high))
    return Case(
        "local.PiecewiseMean", LOCAL, ends, lambda end, n, rng: protocol.randomise(np.full(n, end), rng=rng).values
    )


def attributes_case(protocol: local.Attributes) -> Case:
    """The case of a multi-attribute report on two people who differ in every answer; -1 marks an unasked question."""

    def reports(place: int, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        table = {name: np.full(samples, one.categories.listed[place]) for name, one in protocol.protocols}
        made = protocol.randomise(table, rng=rng)
        if protocol.how != "sample":
            return np.column_stack([made[name].values.reshape(samples, -1) for name, _ in protocol.protocols])
        asked = [made[name].values.reshape(len(made[name]), -1).astype(np.int64) for name, _ in protocol.protocols]
        rows = [np.column_stack([np.full(len(one), order), one[:, 0]]) for order, one in enumerate(asked)]
        return rng.permutation(np.concatenate(rows))

    return Case("local.Attributes", LOCAL, (0, 1), reports)


def rappor_cases(protocol: local.Rappor) -> Iterator[Case]:
    """Cases of RAPPOR: one report each, and several reports from the same permanent randomised response."""
    cohort = np.zeros(1, np.int32)
    pair = _far_apart(protocol)
    kept = np.bitwise_or.reduce(protocol.filters(pair, np.repeat(cohort, 2)), axis=0)

    def once(value: str, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        return _bits(protocol.randomise([value] * samples, rng=rng, cohorts=np.repeat(cohort, samples)).values, kept)

    def often(value: str, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        memory = protocol.memoise(np.repeat(protocol.filters([value], cohort), samples, axis=0), rng=rng)
        reports = [_bits(protocol.respond(memory, rng=rng), kept) for _ in range(REPORTS)]
        return np.asarray(np.sum(reports, axis=0))

    law = protocol.law
    yield Case("local.Rappor", LOCAL, pair, once, claimed=float(law.once), full=200_000)
    yield Case("local.Rappor", LOCAL, pair, often, claimed=float(law.after(REPORTS)), full=200_000)


def _far_apart(protocol: local.Rappor) -> tuple[str, str]:
    """Two texts whose filters have no bit in common, so that they differ as much as two can."""
    texts = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    filters = protocol.filters(texts, np.zeros(len(texts), np.int32))
    wanted = 2 * protocol.hashes
    return next(
        (texts[one], texts[other])
        for one, other in combinations(range(len(texts)), 2)
        if sum(int(word).bit_count() for word in filters[one] | filters[other]) == wanted
    )


def _bits(reports: NDArray[np.uint64], kept: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The bits of each report where `kept` has a one: the others say nothing about the two values."""
    unpacked, mask = (
        np.unpackbits(np.ascontiguousarray(words, "<u8").view(np.uint8), axis=-1, bitorder="little")
        for words in (reports, kept)
    )
    return unpacked[:, mask.astype(bool)]


def _agreements(reports: NDArray[np.uint32], *, buckets: int) -> NDArray[np.bool_]:
    """Whether each of the first two answers hashes into the bucket reported, by the documented hash."""
    factor, shift, bucket = reports.astype(np.uint64).T
    hashed = [((factor * answer + shift) % 2**32 // 2**16 * buckets) // 2**16 for answer in (0, 1)]
    return np.stack([place == bucket for place in hashed], axis=1)
