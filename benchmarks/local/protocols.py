"""Noised answers a second: ours beside multi-freq-ldpy and pure-ldp, on one core, with our strong source.

Every side is timed on a number of people of its own, since a peer takes seconds where ours takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from benchmarks.case import Case, Peer, Prepare, Work

PEOPLE = 200_000


def rate(make: Callable[[], object], people: int) -> Work:
    def work() -> float:
        began = perf_counter()
        make()
        return people / (perf_counter() - began)

    return work


def answers(size: int, people: int) -> Any:
    import numpy as np

    return np.random.default_rng(1).integers(0, size, people).astype(np.int32)


# ------------------------------------------------------------ ours
def perturb(name: str, size: int, people: int) -> Prepare:
    def prepare() -> Work:
        from bruit import local

        protocol, values = getattr(local, name)(size, epsilon=1), answers(size, people)
        return rate(lambda: protocol.randomise(values), people)

    return prepare


def perturb_and_count(name: str, size: int) -> Prepare:
    def prepare() -> Work:
        from bruit import local

        protocol, values = getattr(local, name)(size, epsilon=1), answers(size, PEOPLE)
        return rate(lambda: protocol.tally(protocol.randomise(values)), PEOPLE)

    return prepare


def rappor(f: float, p: float, q: float) -> Prepare:
    def prepare() -> Work:
        import numpy as np

        from bruit import local
        from bruit.local.frequencies import bits

        protocol = local.Rappor(bits=128, hashes=2, cohorts=1, f=f, p=p, q=q)
        values = [f"string {value}" for value in np.random.default_rng(1).integers(0, 100, PEOPLE)]
        filters = protocol.filters(values, np.zeros(PEOPLE, np.int32))
        return rate(lambda: bits.ones(protocol.respond(protocol.memoise(filters)), 128), PEOPLE)

    return prepare


# ------------------------------------------------------------ peers
def multi_freq_krr(size: int, people: int = 200_000) -> Prepare:
    def prepare() -> Work:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

        values = answers(size, people).tolist()
        GRR_Client(0, size, 1.0)
        return rate(lambda: [GRR_Client(value, size, 1.0) for value in values], people)

    return prepare


def copying(size: int, people: int = 1_000_000) -> Prepare:
    """What no randomised response can beat: the answers copied as they are."""

    def prepare() -> Work:
        import numpy as np

        values = answers(size, people)
        received = np.empty_like(values)
        return rate(lambda: np.copyto(received, values), people)

    return prepare


def pure_ldp_krr(size: int, people: int = 200_000) -> Prepare:
    def prepare() -> Work:
        from pure_ldp.frequency_oracles.direct_encoding import DEClient

        client, values = DEClient(1.0, size, index_mapper=lambda x: x), answers(size, people).tolist()
        return rate(lambda: [client.privatise(value) for value in values], people)

    return prepare


def multi_freq_oue(size: int = 1000, people: int = 10_000) -> Work:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    values = answers(size, people).tolist()
    UE_Client(0, size, 1.0)
    return rate(lambda: UE_Aggregator_MI([UE_Client(value, size, 1.0) for value in values], 1.0), people)


def pure_ldp_oue(size: int = 1000, people: int = 10_000) -> Work:
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    values = answers(size, people).tolist()
    client = UEClient(1.0, size, use_oue=True, index_mapper=lambda x: x)

    def collect() -> None:
        server = UEServer(1.0, size, use_oue=True, index_mapper=lambda x: x)
        for value in values:
            server.aggregate(client.privatise(value))

    return rate(collect, people)


def multi_freq_olh(size: int = 1000, people: int = 500) -> Work:
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client

    values = answers(size, people).tolist()
    return rate(lambda: LH_Aggregator_MI([LH_Client(value, size, 1.0) for value in values], size, 1.0), people)


def pure_ldp_olh(size: int = 1000, people: int = 500) -> Work:
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer

    values = answers(size, people).tolist()
    client = LHClient(1.0, size, use_olh=True, index_mapper=lambda x: x)

    def collect() -> None:
        server = LHServer(1.0, size, use_olh=True, index_mapper=lambda x: x)
        for value in values:
            server.aggregate(client.privatise(value))

    return rate(collect, people)


def pure_ldp_rappor(people: int = 10_000) -> Work:
    import numpy as np
    from pure_ldp.frequency_oracles.rappor import RAPPORClient

    client, counts = RAPPORClient(0.5, 128, []), np.zeros(128)  # Bloom hashing apart on both sides
    bits = [int(place in (3, 77)) for place in range(128)]

    def collect() -> None:
        for _ in range(people):
            counts[:] += client._perturb(bits.copy())

    return rate(collect, people)


def row(name: str, ours: Prepare, peers: tuple[Peer, ...], goal: float) -> Case:
    return Case(name, "people/s", "higher", ours, peers, returned=True, goal=goal)


CASES = [
    row(
        f"KRR k={size}, perturb",
        perturb("KRR", size, 1_000_000),
        (
            Peer("multi-freq-ldpy", multi_freq_krr(size), times=50),
            Peer("pure-ldp", pure_ldp_krr(size), times=50),
            Peer("copying them", copying(size), here=True),
        ),
        1.5e8,
    )
    for size in (7, 1000)
] + [
    row(
        "OUE k=1000, perturb and count",
        perturb_and_count("OUE", 1000),
        (Peer("multi-freq-ldpy", multi_freq_oue, times=30), Peer("pure-ldp", pure_ldp_oue, times=30)),
        1.5e6,
    ),
    row(
        "OLH k=1000, perturb and count",
        perturb_and_count("OLH", 1000),
        (Peer("multi-freq-ldpy", multi_freq_olh, times=4000), Peer("pure-ldp", pure_ldp_olh, times=4000)),
        1e7,
    ),
    row("Hadamard k=1000, perturb and count", perturb_and_count("HadamardResponse", 1000), (), 1e7),
    row(
        "RAPPOR 128 bits, both responses and count, dyadic",
        rappor(0.5, 0.5, 0.75),
        (Peer("pure-ldp (permanent response only)", pure_ldp_rappor, times=60),),
        1e7,
    ),
    row(
        "RAPPOR 128 bits, both responses and count, any f, p, q",
        rappor(0.3, 0.4, 0.7),
        (Peer("pure-ldp (permanent response only)", pure_ldp_rappor, times=60),),
        3e6,
    ),
]
