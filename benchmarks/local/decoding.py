"""Seconds to decode a million RAPPOR reports (k=128, h=2, m=16, f=0.5): ours beside pure-ldp.

The peer takes over a minute at 1000 candidates, so it is timed at 100, where ours is timed again beside it.
"""

from __future__ import annotations

from benchmarks.case import Case, Peer, Prepare, Work

REPORTS, STRINGS = 1_000_000, 100


def decode(candidates: int) -> Prepare:
    def prepare() -> Work:
        import numpy as np

        from bruit import local

        protocol = local.Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
        texts = [f"string {place}" for place in range(candidates)]
        weights = np.exp(-np.arange(STRINGS) / 20)
        shares = weights / weights.sum()
        tally = local.rappor.drawn_tally(protocol, texts[:STRINGS], shares, REPORTS, rng=np.random.default_rng(1))
        return lambda: local.decode(tally, texts)

    return prepare


def pure_ldp_decode(candidates: int = 100) -> Work:
    import numpy as np
    from pure_ldp.frequency_oracles.rappor import RAPPORServer

    rng = np.random.default_rng(1)
    server = RAPPORServer(0.5, 128, 2, candidates, num_of_cohorts=16, index_mapper=lambda x: x)
    weights = np.exp(-np.arange(candidates) / 20)
    people = rng.multinomial(REPORTS // 16, weights / weights.sum(), 16)
    for cohort, funcs in enumerate(server.hash_family):
        setting = np.zeros(128, np.int64)
        for text in range(candidates):
            setting[list({hash_of(str(text)) for hash_of in funcs})] += people[cohort, text]
        left = REPORTS // 16 - setting
        server.bloom_filters[cohort] = (rng.binomial(setting, 0.75) + rng.binomial(left, 0.25)).astype(float)
        server.cohort_count[cohort] = REPORTS // 16
    return lambda: server._update_estimates()


CASES = [
    Case("RAPPOR decode, 1000 candidates", "s", "lower", decode(1000), goal=0.05),
    Case("RAPPOR decode, 10000 candidates", "s", "lower", decode(10_000), goal=0.3),
    Case(
        "RAPPOR decode, 100 candidates",
        "s",
        "lower",
        decode(100),
        (Peer("pure-ldp (no intervals, no tests; permanent response only)", pure_ldp_decode),),
        calls=2,
        rounds=2,
    ),
]
