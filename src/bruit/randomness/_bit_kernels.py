"""Kernels that draw Bernoulli bits, 64 at a time, from a block of random words; called as those of `_kernels.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Word = np.uint64
Words = NDArray[np.uint64]
Out = NDArray[Any]

ZERO, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)
PRECISION = 52
PLANES = 4
"""Words that are compared for all lanes at once."""

PIECE = 8
"""Bits that a lane still open takes at a time; PLANES and a number of pieces make up the precision."""


@kernel
def settle(words: Words, position: int, threshold: Word, open_lanes: Word) -> tuple[Word, int]:
    """Decides the lanes whose bits still equal the threshold's: returns those whose uniform number ends up below.

    `words` (words,) uint64, read from `position` on; a lane is a bit of `open_lanes`. Returns the lanes that fell below
    and the next position, which is beyond the words where they did not suffice.
    """
    result, pool, left = ZERO, ZERO, 0
    while open_lanes != ZERO:  # invariant: every lane no longer open is decided, in `result` where below
        lane = open_lanes & (~open_lanes + ONE)
        open_lanes ^= lane
        shift = PRECISION - PLANES
        while shift > 0:  # invariant: the lane's number equals the threshold in all bits from `shift` on
            if left == 0:
                if position >= len(words):
                    return result, len(words) + 1
                pool, left, position = words[position], 64 // PIECE, position + 1
            piece, pool, left = pool & np.uint64(2**PIECE - 1), pool >> np.uint64(PIECE), left - 1
            shift -= PIECE
            wanted = (threshold >> np.uint64(shift)) & np.uint64(2**PIECE - 1)
            if piece != wanted:
                result |= lane if piece < wanted else ZERO
                break
    return result, position


@kernel
def fill_bits(words: Words, out: Out, done: int, threshold: Word) -> tuple[int, int, bool]:
    """Fills `out` with words of 64 independent Bernoulli(threshold / 2^52) bits; takes about five random words each.

    Lane by lane a uniform number is compared with the threshold from the top bit on, and is settled at the first bit
    that differs. Four words settle 15 lanes in 16 at once; an open lane takes its next bits eight at a time.

    words   (words,) uint64, uniform; read once each
    out     (size,) uint64, written from `done` on; bit i of a word is the draw of lane i
    """
    position = 0
    for i in range(done, len(out)):
        at, result, open_lanes = position, ZERO, ALL
        if at + PLANES > len(words):
            return i, position, True
        for plane in range(PLANES):
            # Invariant: open lanes equal the threshold in the first `plane` bits; `result` holds those below.
            word = words[at + plane]
            if (threshold >> np.uint64(PRECISION - 1 - plane)) & ONE:
                result |= open_lanes & ~word
                open_lanes &= word
            else:
                open_lanes &= ~word
        below, at = settle(words, at + PLANES, threshold, open_lanes)
        if at > len(words):
            return i, position, True
        out[i], position = result | below, at
    return len(out), position, True
