"""Strong words and exact samplers beside NumPy's floating noise and OpenDP's exact noise."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from benchmarks.case import Case, Peer, Prepare, Work

DRAWS = 1_000_000
PEER_DRAWS = 20_000
WORDS = 1 << 20
BITS = 1 << 17


def rate(draw: Callable[[], object], draws: int) -> Work:
    """Draws a second: the sides are timed on sizes of their own, since the slowest takes seconds where we take one."""

    def work() -> float:
        began = perf_counter()
        draw()
        return draws / (perf_counter() - began)

    return work


def ours(name: str, parameter: float) -> Prepare:
    def prepare() -> Work:
        from bruit import randomness

        sampler = getattr(randomness, name)
        return rate(lambda: sampler(parameter, DRAWS), DRAWS)

    return prepare


def floating_laplace() -> Work:
    import numpy as np

    rng = np.random.default_rng()
    return rate(lambda: rng.laplace(size=DRAWS), DRAWS)


def opendp_laplace() -> Work:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    noise = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=10.0)
    zeros = [0] * PEER_DRAWS
    return rate(lambda: noise(zeros), PEER_DRAWS)


def opendp_gaussian() -> Work:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    noise = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=10.0)
    zeros = [0] * PEER_DRAWS
    return rate(lambda: noise(zeros), PEER_DRAWS)


def strong_words() -> Work:
    from bruit.randomness import generator, words

    rng = generator()
    return lambda: words(rng, WORDS)


def pcg_words() -> Work:
    import numpy as np

    rng = np.random.default_rng()
    return lambda: rng.integers(0, 2**64, size=WORDS, dtype=np.uint64)


def bits() -> Work:
    from bruit.randomness import bernoulli_bits

    return lambda: bernoulli_bits(1234567890123456, BITS)


def numpy_bits() -> Work:
    import numpy as np

    rng, chance = np.random.default_rng(), 1234567890123456 / 2**52
    return lambda: np.packbits(rng.random(BITS * 64) < chance)


def fresh() -> Work:
    from bruit.randomness import generator

    return lambda: [generator() for _ in range(1000)]


def numpy_fresh() -> Work:
    import numpy as np

    return lambda: [np.random.default_rng() for _ in range(1000)]


def noise(name: str, sampler: str, parameter: float, *, within: float, opendp: Prepare) -> Case:
    """At most `within` times the cost of a floating draw, beside an exact peer."""
    floating = Peer("NumPy floating Laplace", floating_laplace, times=1 / within, here=True)
    return Case(name, "draws/s", "higher", ours(sampler, parameter), (floating, Peer("OpenDP", opendp)), returned=True)


CASES = [
    Case("words", "words/s", "higher", strong_words, (Peer("PCG64", pcg_words, times=1 / 1.2, here=True),), WORDS),
    Case("Bernoulli bits", "bits/s", "higher", bits, (Peer("NumPy", numpy_bits, here=True),), BITS * 64, goal=1.4e9),
    noise("discrete Laplace, scale 10", "discrete_laplace", 10, within=8, opendp=opendp_laplace),
    noise("discrete Laplace, scale 9.99", "discrete_laplace", 9.99, within=8, opendp=opendp_laplace),
    noise("discrete Gaussian, variance 100", "discrete_gaussian", 100, within=14, opendp=opendp_gaussian),
    noise("discrete Gaussian, variance 99.9", "discrete_gaussian", 99.9, within=14, opendp=opendp_gaussian),
    Case("fresh generators", "generators/s", "higher", fresh, (Peer("default_rng", numpy_fresh, here=True),), 1000),
]
