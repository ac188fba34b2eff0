"""The exact samplers on numbers of any size, one draw at a time in plain Python.

They read the same words in the same order as the compiled kernels, so either can finish what the other began.
"""

from collections.abc import Callable, Iterator

LARGEST = 2**63 - 1
Words = Iterator[int]
Exponential = Callable[[Words, int, int], int]


def below(words: Words, bound: int) -> int:
    """Uniform on 0 .. bound-1: by Lemire's multiplication where one word suffices, else by rejecting masked numbers."""
    if bound < 2**64:
        while True:
            high, low = divmod(next(words) * bound, 2**64)
            if low >= bound or low >= (2**64 - bound) % bound:
                return high
    bits = bound.bit_length()
    while True:
        number = 0
        for _ in range(-(-bits // 64)):  # high word first
            number = number << 64 | next(words)
        number &= (1 << bits) - 1
        if number < bound:
            return number


def exp_coin(words: Words, numerator: int, denominator: int) -> bool:
    """Draws Bernoulli(exp(-numerator / denominator)) [Canonne, Kamath and Steinke 2020, Algorithm 1]."""
    while numerator > denominator:
        if not exp_coin(words, 1, 1):
            return False
        numerator -= denominator
    k = 1
    while (k == 1 or below(words, k) == 0) and (numerator == denominator or below(words, denominator) < numerator):
        k += 1
    return k % 2 == 1


def one_sided(words: Words, over: int, under: int) -> int:
    """Draws k >= 0 of mass proportional to exp(-k under / over) [Canonne, Kamath and Steinke 2020, Algorithm 2]."""
    low = below(words, over)
    while not exp_coin(words, low, over):
        low = below(words, over)
    high = 0
    while exp_coin(words, 1, 1):
        high += 1
    return min((low + over * high) // under, LARGEST)


def two_sided(words: Words, over: int, under: int) -> int:
    """Draws an integer k with mass proportional to exp(-|k| under / over)."""
    while True:
        value = one_sided(words, over, under)
        negative = next(words) >> 63
        if value or not negative:
            return -value if negative else value


def gaussian(words: Words, scale: int, multiplier: int, shift: int, denominator: int) -> int:
    """One discrete Gaussian draw, by rejection from discrete Laplace draws k of integer scale.

    k is kept with probability exp(-(multiplier |k| - shift)^2 / denominator).
    """
    while True:
        value = two_sided(words, scale, 1)
        if exp_coin(words, (multiplier * abs(value) - shift) ** 2, denominator):
            return value
