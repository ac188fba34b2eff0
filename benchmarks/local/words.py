"""Frequent words that nobody listed: F1 of the 32 most frequent and seconds, at a million people and epsilon 4.

Words are 8 random bytes, their shares a Zipf law over 10 000 of them. pure-ldp reports words one by one in Python: its
prefix extending is timed on a tenth of the people.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.case import Case, Peer, Work

PEOPLE, WORDS, TOP, LENGTH = 1_000_000, 10_000, 32, 8


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


def f1(exponent: float) -> Work:
    """F1 over five populations: the mean of twice the hits over the words listed and the words wanted."""
    import numpy as np

    from bruit.local.heavy_hitters.prefix_search import spell_back

    def once(seed: int) -> float:
        words, owner = population(exponent, PEOPLE, seed)
        wanted = {spell_back(words[at]) for at in np.argsort(-np.bincount(owner, minlength=WORDS))[:TOP]}
        protocol, reports = found(exponent, seed)
        listed = protocol.find(reports, most=TOP).labels
        return 2 * len(wanted & set(listed)) / (TOP + len(listed))

    return lambda: float(np.mean([once(seed) for seed in range(5)]))


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
            f"F1 of 32 words, Zipf {exponent}", "F1", "higher", partial(f1, exponent), returned=True, calls=1, rounds=1
        )
        for exponent in (1.1, 1.5)
    ),
]
