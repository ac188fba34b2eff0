"""Radix sort of integers, several times faster than a comparison sort."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

DIGIT = 11
VALUES = 1 << DIGIT


@kernel
def add_times(values: NDArray[np.int64], others: NDArray[np.int64], factor: int) -> None:
    """Adds factor * others to values in place, without a temporary array."""
    for i in range(len(values)):
        values[i] += factor * others[i]


@kernel
def sort_digits(values: NDArray[np.int64], spare: NDArray[np.int64], bits: int) -> bool:
    """Radix-sorts integers 0 .. 2^bits - 1; returns whether the result is in `spare`."""
    passes = (bits + DIGIT - 1) // DIGIT
    counts = np.zeros((passes, VALUES), np.int64)
    for i in range(len(values)):
        value = values[i]
        for digit in range(passes):
            counts[digit, (value >> (digit * DIGIT)) & (VALUES - 1)] += 1
    source, target = values, spare
    for digit in range(passes):
        place = 0
        for value in range(VALUES):
            count = counts[digit, value]
            counts[digit, value] = place
            place += count
        for i in range(len(values)):
            value = source[i]
            at = (value >> (digit * DIGIT)) & (VALUES - 1)
            target[counts[digit, at]] = value
            counts[digit, at] += 1
        source, target = target, source
    return passes % 2 == 1
