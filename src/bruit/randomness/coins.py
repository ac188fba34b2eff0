"""Coins whose chance is exact: a share of 2^52, or exp(-x) for a rational x."""

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import Number, fraction, whole
from bruit.randomness import reference
from bruit.randomness._bit_kernels import PRECISION, fill_bits
from bruit.randomness._kernels import fill_exp_coins
from bruit.randomness.source import generator
from bruit.randomness.stream import fill, fill_slowly

ONE = 1 << PRECISION
"""The numerator of a coin that always shows one."""


def bernoulli_bits(numerator: int, words: int, *, rng: np.random.Generator | None = None) -> NDArray[np.uint64]:
    """`words` words of 64 independent bits, each one with probability numerator / 2^52 exactly."""
    numerator, out = (
        whole(numerator, "numerator", least=0, most=ONE),
        np.zeros(whole(words, "words", least=0), np.uint64),
    )
    rng = generator(rng)
    if numerator in (0, ONE):
        return ~out if numerator else out
    return fill(rng, out, fill_bits, np.uint64(numerator), each=5)


def bernoulli(numerator: int, size: int, *, rng: np.random.Generator | None = None) -> NDArray[np.bool_]:
    """`size` independent booleans, each true with probability numerator / 2^52 exactly."""
    size = whole(size, "size", least=0)
    packed = bernoulli_bits(numerator, -(-size // 64), rng=rng).astype("<u8", copy=False)
    return np.unpackbits(packed.view(np.uint8), count=size, bitorder="little").view(np.bool_)


def bernoulli_exp(exponent: Number, size: int, *, rng: np.random.Generator | None = None) -> NDArray[np.bool_]:
    """`size` independent booleans, each true with probability exp(-exponent) exactly, for a rational exponent >= 0.

    [Canonne, Kamath and Steinke 2020, Algorithm 1]
    """
    ratio, out = fraction(exponent, "exponent"), np.empty(whole(size, "size", least=0), np.bool_)
    top, bottom = ratio.numerator, ratio.denominator
    if max(top, bottom) < 2**63:
        return fill(rng, out, fill_exp_coins, np.uint64(top), np.uint64(bottom), each=3)
    return fill_slowly(rng, out, lambda words: reference.exp_coin(words, top, bottom))
