"""Feeds samplers with random words; a word that a draw has inspected is never discarded half-used."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.randomness.reference import Words
from bruit.randomness.source import generator, words

LARGEST_BLOCK = 1 << 15
SMALLEST_BLOCK = 16

Fill = Callable[..., tuple[int, int, bool]]
Draw = Callable[[Words], int]


class Stream:
    """The random words of a generator, read block by block."""

    def __init__(self, rng: np.random.Generator | None) -> None:
        self.rng = generator(rng)
        self.left: NDArray[np.uint64] = np.empty(0, np.uint64)

    def extend(self, wanted: int) -> NDArray[np.uint64]:
        """The unused words of the last block followed by about `wanted` fresh ones."""
        fresh = words(self.rng, min(max(wanted, SMALLEST_BLOCK), LARGEST_BLOCK))
        self.left = np.concatenate([self.left, fresh]) if len(self.left) else fresh
        return self.left

    def __iter__(self) -> Iterator[int]:
        """Word by word; a word is used up when the next one is asked for."""
        while True:
            block = self.left if len(self.left) else self.extend(SMALLEST_BLOCK)
            for used, word in enumerate(block.tolist(), start=1):
                self.left = block[used:]
                yield word


def fill(
    rng: np.random.Generator | None,
    out: NDArray[Any],
    kernel: Fill,
    *parameters: Any,
    each: int,
    slow: Draw | None = None,
) -> NDArray[Any]:
    """Fills `out` by a kernel that takes about `each` words per draw; `slow` makes the draws the kernel cannot."""
    stream, done = Stream(rng), 0
    while done < len(out):
        block = stream.extend((len(out) - done) * each)
        done, used, fits = kernel(block, out, done, *parameters)
        stream.left = block[used:]
        if not fits and slow is not None:
            out[done] = slow(iter(stream))
            done += 1
    return out


def fill_slowly(rng: np.random.Generator | None, out: NDArray[Any], draw: Draw) -> NDArray[Any]:
    """Fills `out` one draw at a time in Python, for integers of any size."""
    source = iter(Stream(rng))
    for i in range(len(out)):
        out[i] = draw(source)
    return out
