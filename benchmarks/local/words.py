"""Frequent words that nobody listed: F1 of the 32 most frequent and seconds, at a million people and epsilon 4.

Words are 8 random bytes, their shares a Zipf law over 10 000 of them. pure-ldp reports words one by one in Python: its
prefix extending is timed on a tenth of the people. For F1, the counts that a million people's reports would give it are
drawn by their law.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.case import Case, Peer, Work

PEOPLE, WORDS, TOP, LENGTH = 1_000_000, 10_000, 32, 8
POPULATIONS = 5


def population(exponent: float, people: int, seed: int) -> tuple[Any, Any]:
    """The words (10 000 × 8 bytes) and whose word is whose, most frequent first."""
    import numpy as np

    rng = np.random.default_rng(seed)
    shares = np.arange(1, WORDS + 1.0) ** -exponent
    words = rng.integers(0, 256, (WORDS, LENGTH)).astype(np.uint8)
    return words, rng.choice(WORDS, people, p=shares / shares.sum())


def found(exponent: float, seed: int) -> tuple[Any, Any]:
    import numpy as np

    from bruit.local import PrefixSearch

    words, owner = population(exponent, PEOPLE, seed)
    texts, protocol = [row.tobytes() for row in words], PrefixSearch(LENGTH, epsilon=4)
    return protocol, protocol.randomise([texts[at] for at in owner], rng=np.random.default_rng(seed))


def search() -> Work:
    protocol, reports = found(1.1, 1)
    return lambda: protocol.find(reports, most=TOP)


def f1_of(exponent: float, listed: Callable[[int], set[bytes]]) -> Work:
    """F1 over five populations: the mean of twice the hits over the words listed and the words wanted."""
    import numpy as np

    def once(seed: int) -> float:
        words, owner = population(exponent, PEOPLE, seed)
        wanted = {words[at].tobytes() for at in np.argsort(-np.bincount(owner, minlength=WORDS))[:TOP]}
        told = listed(seed)
        return 2 * len(wanted & told) / (TOP + len(told))

    def mean() -> float:
        each = [once(seed) for seed in range(POPULATIONS)]
        sys.stderr.write(f"F1 of each population: {', '.join(f'{value:.3f}' for value in each)}\n")
        return float(np.mean(each))

    return mean


def f1(exponent: float) -> Work:
    def listed(seed: int) -> set[bytes]:
        from bruit.local.heavy_hitters.prefix_search import spell_back

        words, _ = population(exponent, PEOPLE, seed)
        spelt = {spell_back(word): word.tobytes() for word in words}
        protocol, reports = found(exponent, seed)
        return {spelt.get(label, label.encode()) for label in protocol.find(reports, most=TOP).labels}

    return f1_of(exponent, listed)


def f1_of_prefix_extending(exponent: float) -> Work:
    """PEM over OLH: seven groups report 16, 24, … 64 bits; the best 32 prefixes of each length are extended by a byte.

    A candidate that n people of a group of N have is supported by Bin(n, p) + Bin(N − n, 1/g) reports, where
    p = e^ε / (e^ε + g − 1) and g = e^ε + 1.                                                 [Wang, Li & Jha 2021]
    """
    import numpy as np

    buckets = round(np.exp(4)) + 1
    keep, other = np.exp(4) / (np.exp(4) + buckets - 1), 1 / buckets

    def listed(seed: int) -> set[bytes]:
        words, owner = population(exponent, PEOPLE, seed)
        rng = np.random.default_rng(seed)
        group = rng.integers(2, LENGTH + 1, PEOPLE)
        first = np.arange(1 << 16, dtype=np.uint16)
        candidates = np.stack([first >> 8, first & 255], axis=1).astype(np.uint8)
        for length in range(2, LENGTH + 1):
            counts = np.bincount(owner[group == length], minlength=WORDS)
            having: dict[bytes, int] = {}
            for word, count in zip(words, counts.tolist(), strict=True):
                prefix = word[:length].tobytes()
                having[prefix] = having.get(prefix, 0) + count
            true = np.array([having.get(row.tobytes(), 0) for row in candidates])
            support = rng.binomial(true, keep) + rng.binomial(counts.sum() - true, other)
            best = candidates[np.argsort(-support, kind="stable")[:TOP]]
            following = np.tile(np.arange(256, dtype=np.uint8), TOP)[:, None]
            candidates = np.hstack([np.repeat(best, 256, axis=0), following])
        return {row.tobytes() for row in best}

    return f1_of(exponent, listed)


def pure_ldp_search() -> Work:
    from pure_ldp.heavy_hitters.prefix_extending import PEMClient, PEMServer

    words, owner = population(1.1, PEOPLE // 10, 1)
    bits = ["".join(f"{byte:08b}" for byte in row) for row in words]
    server = PEMServer(4, 64, 16, 8)
    client = PEMClient(4, 64, 16, 8)
    for at in owner:
        server.aggregate(client.privatise(bits[at]))
    return lambda: server.find_top_k(TOP)


CASES = [
    Case(
        "words nobody listed, a million people",
        "s",
        "lower",
        search,
        (Peer("pure-ldp's prefix extending (a tenth of the people)", pure_ldp_search),),
        goal=10.0,
        threads=None,
        calls=1,
        rounds=2,
    ),
    *(
        Case(
            f"F1 of 32 words, Zipf {exponent}",
            "F1",
            "higher",
            partial(f1, exponent),
            (
                Peer(
                    "prefix extending (PEM) over OLH, by its law", partial(f1_of_prefix_extending, exponent), here=True
                ),
            ),
            returned=True,
            calls=1,
            rounds=1,
        )
        for exponent in (1.1, 1.5)
    ),
]
