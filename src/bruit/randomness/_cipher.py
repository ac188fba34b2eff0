"""ChaCha20 over many blocks at once: sixty-four lanes side by side, additions, rotations and exclusive ors only.

Nothing here branches or looks up by secret data. [Bernstein 2008; Nir and Langley 2018]
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import inlined, kernel

LANES = 64
DOUBLE_ROUNDS = 10
WORDS_A_BLOCK = 8
WORDS_A_BATCH = LANES * WORDS_A_BLOCK
HALF = np.uint64(32)
SIGMA = tuple(np.uint32(word) for word in np.frombuffer(b"expand 32-byte k", "<u4"))

Number = np.uint32


@inlined
def rotate(value: Number, bits: int) -> Number:
    """Rotates a 32-bit number left by `bits`."""
    return Number((value << Number(bits)) | (value >> Number(32 - bits)))


@inlined
def quarter(a: Number, b: Number, c: Number, d: Number) -> tuple[Number, Number, Number, Number]:
    """The quarter round of ChaCha20 [Nir and Langley 2018, section 2.1]."""
    a = Number(a + b)
    d = rotate(Number(d ^ a), 16)
    c = Number(c + d)
    b = rotate(Number(b ^ c), 12)
    a = Number(a + b)
    d = rotate(Number(d ^ a), 8)
    c = Number(c + d)
    b = rotate(Number(b ^ c), 7)
    return a, b, c, d


@kernel
def double_round(s: NDArray[np.uint32]) -> None:
    """Quarter rounds on four columns and four diagonals in every lane; `s[j * LANES + i]` is entry j of lane i."""
    n = LANES
    for i in range(LANES):
        a0, a1, a2, a3 = s[i], s[n + i], s[2 * n + i], s[3 * n + i]
        b0, b1, b2, b3 = s[4 * n + i], s[5 * n + i], s[6 * n + i], s[7 * n + i]
        c0, c1, c2, c3 = s[8 * n + i], s[9 * n + i], s[10 * n + i], s[11 * n + i]
        d0, d1, d2, d3 = s[12 * n + i], s[13 * n + i], s[14 * n + i], s[15 * n + i]
        a0, b0, c0, d0 = quarter(a0, b0, c0, d0)
        a1, b1, c1, d1 = quarter(a1, b1, c1, d1)
        a2, b2, c2, d2 = quarter(a2, b2, c2, d2)
        a3, b3, c3, d3 = quarter(a3, b3, c3, d3)
        a0, b1, c2, d3 = quarter(a0, b1, c2, d3)
        a1, b2, c3, d0 = quarter(a1, b2, c3, d0)
        a2, b3, c0, d1 = quarter(a2, b3, c0, d1)
        a3, b0, c1, d2 = quarter(a3, b0, c1, d2)
        s[i], s[n + i], s[2 * n + i], s[3 * n + i] = a0, a1, a2, a3
        s[4 * n + i], s[5 * n + i], s[6 * n + i], s[7 * n + i] = b0, b1, b2, b3
        s[8 * n + i], s[9 * n + i], s[10 * n + i], s[11 * n + i] = c0, c1, c2, c3
        s[12 * n + i], s[13 * n + i], s[14 * n + i], s[15 * n + i] = d0, d1, d2, d3


@kernel
def fill_keystream(key: NDArray[np.uint32], out: NDArray[np.uint64]) -> None:
    """Fills `out`, whole batches of words, with the keystream of an eight-number key and a two-number nonce.

    Block b of a batch gives its word w at w * LANES + b: another order than the standard's, the same words.
    """
    start, state = np.empty(16 * LANES, np.uint32), np.empty(16 * LANES, np.uint32)
    for batch in range(len(out) // WORDS_A_BATCH):
        for lane in range(LANES):
            block = np.uint64(batch * LANES + lane)
            for j in range(4):
                start[j * LANES + lane] = SIGMA[j]
            for j in range(8):
                start[(4 + j) * LANES + lane] = key[j]
            start[12 * LANES + lane], start[13 * LANES + lane] = Number(block), Number(block >> HALF)
            start[14 * LANES + lane], start[15 * LANES + lane] = key[8], key[9]
        state[:] = start
        for _ in range(DOUBLE_ROUNDS):
            double_round(state)
        at = batch * WORDS_A_BATCH
        for word in range(WORDS_A_BLOCK):
            for lane in range(LANES):
                low = Number(state[2 * word * LANES + lane] + start[2 * word * LANES + lane])
                high = Number(state[(2 * word + 1) * LANES + lane] + start[(2 * word + 1) * LANES + lane])
                out[at + word * LANES + lane] = np.uint64(low) | (np.uint64(high) << HALF)
