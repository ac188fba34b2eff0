"""Exact samplers compiled with numba: they use integers only and take their random words as an argument.

A part takes the words and a position, and returns its value with the position after the last word it used; a position
past the end says that the block was too short. A `fill_` kernel writes the draws from `done` on and returns how many
stand and where the first unfinished draw began, so that it can be replayed there once the block has been extended:
beginning it with fresh words instead would favour draws that need few words. `reference.py` reads the same words in the
same order in plain Python and is the oracle of each kernel.

Layout: `words` (count,) uint64, contiguous, each word used once and in order; `out` (draws,) of the sampler's type,
contiguous, written from `done` on. In every `fill_` loop out[done:i] is final and words[:position] are used up by it,
so that (i, position) is where an unfinished draw may be replayed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit._jit import inlined, kernel

Word = np.uint64
Words = NDArray[np.uint64]
Out = NDArray[Any]

ZERO, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)
HALF, LOW_HALF = np.uint64(32), np.uint64(2**32 - 1)
LARGEST = np.int64(2**63 - 1)
START: int = np.int64(0)  # type: ignore[assignment]
"""The first position; a plain 0 would have every kernel compiled twice, for the constant and for the variable."""


@inlined
def multiply(left: Word, right: Word) -> tuple[Word, Word]:
    """The product of two words as (high word, low word)."""
    a, b = left >> HALF, left & LOW_HALF
    c, d = right >> HALF, right & LOW_HALF
    middle = a * d + ((b * d) >> HALF)
    other = b * c + (middle & LOW_HALF)
    return a * c + (middle >> HALF) + (other >> HALF), left * right


@kernel
def uniform_below(words: Words, position: int, bound: Word) -> tuple[Word, int]:
    """Uniform on 0 .. bound-1 by multiplying a word with the bound and rejecting biased words [Lemire 2019]."""
    while position < len(words):  # every word before `position` was rejected
        high, low = multiply(words[position], bound)
        position += 1
        if low >= bound or low >= (ALL - bound + ONE) % bound:
            return high, position
    return ZERO, len(words) + 1


@kernel
def exp_coin(words: Words, position: int, numerator: Word, denominator: Word) -> tuple[bool, int]:
    """Draws Bernoulli(exp(-x)), x = numerator / denominator in [0, 1], from Bernoulli(x / k) draws for k = 1, 2, ...

    True where the first k whose Bernoulli(x / k) fails is odd [Canonne, Kamath and Steinke 2020, Algorithm 1];
    Bernoulli(x / k) is Bernoulli(1 / k) and Bernoulli(x), so that no product overflows.
    """
    k = ONE
    while True:  # the coins Bernoulli(x / 1) .. Bernoulli(x / (k - 1)) all came up
        if k > ONE:
            draw, position = uniform_below(words, position, k)
            if position > len(words) or draw != ZERO:
                break
        if numerator != denominator:
            draw, position = uniform_below(words, position, denominator)
            if position > len(words) or draw >= numerator:
                break
        k += ONE
    return (k & ONE) == ONE, position


@kernel
def any_exp_coin(words: Words, position: int, numerator: Word, denominator: Word) -> tuple[bool, int]:
    """Draws Bernoulli(exp(-numerator / denominator)) for any ratio >= 0."""
    while numerator > denominator:  # a coin exp(-1) came up for each denominator that was taken off
        hit, position = exp_coin(words, position, ONE, ONE)
        if position > len(words) or not hit:
            return False, position
        numerator -= denominator
    return exp_coin(words, position, numerator, denominator)


@kernel
def one_sided(
    words: Words, position: int, over: Word, under: Word, step: np.int64, rest_step: Word
) -> tuple[np.int64, int]:
    """Draws k >= 0 with mass proportional to exp(-k under / over), as floor((low + over * high) / under).

    over = step * under + rest_step, so that no product overflows.
    [Canonne, Kamath and Steinke 2020, Algorithm 2]; a value past the largest int64 becomes that one.
    """
    while True:  # rejection: `low` is kept with probability exp(-low / over)
        low, position = uniform_below(words, position, over)
        if position > len(words):
            return LARGEST, position
        keep, position = exp_coin(words, position, low, over)
        if position > len(words):
            return LARGEST, position
        if keep:
            break
    quotient = low if under == ONE else low // under
    value, rest = np.int64(quotient), low - quotient * under
    while True:  # value * under + rest = low + over * (coins that came up), rest < under, unless value was capped
        hit, position = exp_coin(words, position, ONE, ONE)
        if position > len(words) or not hit:
            return value, position
        rest += rest_step
        carry = np.int64(rest >= under)
        rest -= under if carry else ZERO
        value = LARGEST if value > LARGEST - step - carry else value + step + carry


@kernel
def two_sided(
    words: Words, position: int, over: Word, under: Word, step: np.int64, rest_step: Word
) -> tuple[np.int64, int]:
    """Draws an integer k with mass proportional to exp(-|k| under / over): a size and a sign, rejecting -0."""
    while True:  # so far only minus zero was drawn
        value, position = one_sided(words, position, over, under, step, rest_step)
        if position >= len(words):
            return value, len(words) + 1
        negative = words[position] >> np.uint64(63)
        position += 1
        if negative == ZERO:
            return value, position
        if value != 0:
            return -value, position


@kernel
def fill_uniform(words: Words, out: Out, done: int, bound: Word) -> tuple[int, int, bool]:
    """Fills `out` from `done` on with integers uniform on 0 .. bound-1."""
    position = START
    for i in range(done, len(out)):
        value, after = uniform_below(words, position, bound)
        if after > len(words):
            return i, position, True
        out[i], position = np.int64(value), after
    return len(out), position, True


@kernel
def fill_shuffled(words: Words, out: Out, done: int) -> tuple[int, int, bool]:
    """Shuffles `out` from `done` on: swaps entry i with a uniform one of 0 .. i [Fisher and Yates 1938]."""
    position = START
    for i in range(done, len(out)):
        value, after = uniform_below(words, position, np.uint64(i + 1))
        if after > len(words):
            return i, position, True
        other, position = np.int64(value), after
        out[i], out[other] = out[other], out[i]
    return len(out), position, True


@kernel
def fill_exp_coins(words: Words, out: Out, done: int, numerator: Word, denominator: Word) -> tuple[int, int, bool]:
    """Fills `out` from `done` on with Bernoulli(exp(-numerator / denominator)) draws."""
    position = START
    for i in range(done, len(out)):
        value, after = any_exp_coin(words, position, numerator, denominator)
        if after > len(words):
            return i, position, True
        out[i], position = value, after
    return len(out), position, True


@kernel
def fill_one_sided(words: Words, out: Out, done: int, over: Word, under: Word) -> tuple[int, int, bool]:
    """Fills `out` from `done` on with integers k >= 0 of mass proportional to exp(-k under / over)."""
    position, step, rest_step = START, np.int64(over // under), over % under
    for i in range(done, len(out)):
        value, after = one_sided(words, position, over, under, step, rest_step)
        if after > len(words):
            return i, position, True
        out[i], position = value, after
    return len(out), position, True


@kernel
def fill_two_sided(words: Words, out: Out, done: int, over: Word, under: Word) -> tuple[int, int, bool]:
    """Fills `out` from `done` on with integers k of mass proportional to exp(-|k| under / over)."""
    position, step, rest_step = START, np.int64(over // under), over % under
    for i in range(done, len(out)):
        value, after = two_sided(words, position, over, under, step, rest_step)
        if after > len(words):
            return i, position, True
        out[i], position = value, after
    return len(out), position, True


@kernel
def fill_gaussian(
    words: Words,
    out: Out,
    done: int,
    scale: Word,
    multiplier: np.int64,
    shift: np.int64,
    denominator: Word,
    limit: np.int64,
) -> tuple[int, int, bool]:
    """Fills `out` with discrete Gaussian draws, by rejection from discrete Laplace draws of integer scale.

    A proposal k is kept with probability exp(-(multiplier |k| - shift)^2 / denominator) [Canonne, Kamath and Steinke
    2020, Algorithm 3]; one beyond `limit`, whose square might not fit, is left to the reference: the last value
    returned is False.
    """
    position = START
    for i in range(done, len(out)):
        at, keep = position, False
        while not keep:  # words[position:at] belong to proposals of draw i that were rejected
            value, at = two_sided(words, at, scale, ONE, np.int64(scale), ZERO)
            if at > len(words):
                return i, position, True
            if abs(value) > limit:
                return i, position, False
            distance = np.uint64(abs(multiplier * abs(value) - shift))
            keep, at = any_exp_coin(words, at, distance * distance, denominator)
            if at > len(words):
                return i, position, True
        out[i], position = value, at
    return len(out), position, True


@kernel
def wide_below(words: Words, position: int, high_bound: Word, low_bound: Word, mask: Word) -> tuple[Word, Word, int]:
    """Uniform below a bound of two words (high, low): draws masked pairs of words until one lies below."""
    if high_bound == ZERO:
        value, position = uniform_below(words, position, low_bound)
        return ZERO, value, position
    while position + 1 < len(words):  # every pair before `position` was at or above the bound
        high, low = words[position] & mask, words[position + 1]
        position += 2
        if high < high_bound or (high == high_bound and low < low_bound):
            return high, low, position
    return ZERO, ZERO, len(words) + 1


@kernel
def wide_exp_coin(
    words: Words, position: int, high: Word, low: Word, high_bound: Word, low_bound: Word, mask: Word
) -> tuple[bool, int]:
    """Draws Bernoulli(exp(-numerator / denominator)) for any ratio of two-word numbers."""
    while high > high_bound or (high == high_bound and low > low_bound):  # as in any_exp_coin, on pairs with a borrow
        hit, position = exp_coin(words, position, ONE, ONE)
        if position > len(words) or not hit:
            return False, position
        high -= high_bound + (ONE if low < low_bound else ZERO)
        low -= low_bound
    k = ONE
    while True:  # as in exp_coin: the coins 1 .. k - 1 all came up
        if k > ONE:
            draw, position = uniform_below(words, position, k)
            if position > len(words) or draw != ZERO:
                break
        if high != high_bound or low != low_bound:
            above, below, position = wide_below(words, position, high_bound, low_bound, mask)
            if position > len(words) or above > high or (above == high and below >= low):
                break
        k += ONE
    return (k & ONE) == ONE, position


@kernel
def fill_wide_gaussian(
    words: Words,
    out: Out,
    done: int,
    scale: Word,
    multiplier: np.int64,
    shift: np.int64,
    high_bound: Word,
    low_bound: Word,
    mask: Word,
    limit: np.int64,
) -> tuple[int, int, bool]:
    """As `fill_gaussian`, with squares and a denominator of two words."""
    position = START
    for i in range(done, len(out)):
        at, keep = position, False
        while not keep:  # words[position:at] belong to proposals of draw i that were rejected
            value, at = two_sided(words, at, scale, ONE, np.int64(scale), ZERO)
            if at > len(words):
                return i, position, True
            if abs(value) > limit:
                return i, position, False
            distance = np.uint64(abs(multiplier * abs(value) - shift))
            high, low = multiply(distance, distance)
            keep, at = wide_exp_coin(words, at, high, low, high_bound, low_bound, mask)
            if at > len(words):
                return i, position, True
        out[i], position = value, at
    return len(out), position, True
