"""The eight-state constituent code of the LTE turbo code: parity, and max-log passes on LANES words in int16.

The state is 4·newest + 2·middle + oldest register bit. A branch counts a (what is known of the message bit) if its bit
is 0 and p if its parity is 0; metrics are kept relative to state 0. All eight states stand in scalars of one lane loop.
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Table = NDArray[np.int16]

LANES = 32
UNLIKELY = -8000
CLIP = 2000  # of what one pass tells the other: three steps of (CLIP + 127 + 127) stay far inside int16
TAIL = 3


@kernel
def parity_bits(bits: NDArray[np.uint8], parity: NDArray[np.uint8], tail: NDArray[np.uint8]) -> None:
    """Parity (words, k) of each word from state 0, and the tail bits (words, 3, 2): message bit, parity."""
    for w in range(bits.shape[0]):
        s0 = s1 = s2 = np.uint8(0)
        for t in range(bits.shape[1] + TAIL):
            back = s1 ^ s2
            bit = bits[w, t] if t < bits.shape[1] else back
            new = bit ^ back
            p = new ^ s0 ^ s2
            if t < bits.shape[1]:
                parity[w, t] = p
            else:
                tail[w, t - bits.shape[1], 0] = bit
                tail[w, t - bits.shape[1], 1] = p
            s2 = s1
            s1 = s0
            s0 = new


@kernel
def _end_metrics(tail: Table, beta: Table) -> None:
    """The metric of each last state: its one way to state 0 through the flushing bits (3 · 2, LANES)."""
    for s in range(8):
        for f in range(LANES):
            beta[s * LANES + f] = 0
        state = s
        for t in range(TAIL):
            for q in range(2):
                bit = ((state >> 1) ^ state) & 1 if q == 0 else ((state >> 2) ^ state) & 1
                if bit == 0:
                    for f in range(LANES):
                        beta[s * LANES + f] += tail[2 * t + q, f]
            state >>= 1
    for s in range(7, -1, -1):
        for f in range(LANES):
            beta[s * LANES + f] -= beta[f]


@kernel
def max_log_pass(
    systematic: Table, parity: Table, prior: Table, tail: Table, extrinsic: Table, alpha: Table, beta: Table
) -> None:
    """One max-log forward-backward pass (rows are steps); `extrinsic` is the information added by the parity."""
    steps = systematic.shape[0]
    _end_metrics(tail, beta)
    alpha[0, :] = UNLIKELY
    alpha[0, :LANES] = 0
    for t in range(steps):
        u = systematic[t]
        e = prior[t]
        v = parity[t]
        now = alpha[t]
        nxt = alpha[t + 1]
        for f in range(LANES):
            a = np.int16(u[f] + e[f])
            p = v[f]
            c = np.int16(a + p)
            a0 = now[f]
            a1 = now[1 * LANES + f]
            a2 = now[2 * LANES + f]
            a3 = now[3 * LANES + f]
            a4 = now[4 * LANES + f]
            a5 = now[5 * LANES + f]
            a6 = now[6 * LANES + f]
            a7 = now[7 * LANES + f]
            n0 = max(np.int16(a0 + c), a1)
            nxt[f] = 0
            nxt[1 * LANES + f] = max(np.int16(a3 + a), np.int16(a2 + p)) - n0
            nxt[2 * LANES + f] = max(np.int16(a4 + a), np.int16(a5 + p)) - n0
            nxt[3 * LANES + f] = max(np.int16(a7 + c), a6) - n0
            nxt[4 * LANES + f] = max(np.int16(a1 + c), a0) - n0
            nxt[5 * LANES + f] = max(np.int16(a2 + a), np.int16(a3 + p)) - n0
            nxt[6 * LANES + f] = max(np.int16(a5 + a), np.int16(a4 + p)) - n0
            nxt[7 * LANES + f] = max(np.int16(a6 + c), a7) - n0
    for t in range(steps - 1, -1, -1):
        u = systematic[t]
        e = prior[t]
        v = parity[t]
        now = alpha[t]
        out = extrinsic[t]
        for f in range(LANES):
            a = np.int16(u[f] + e[f])
            p = v[f]
            b0 = beta[f]
            b1 = beta[1 * LANES + f]
            b2 = beta[2 * LANES + f]
            b3 = beta[3 * LANES + f]
            b4 = beta[4 * LANES + f]
            b5 = beta[5 * LANES + f]
            b6 = beta[6 * LANES + f]
            b7 = beta[7 * LANES + f]
            c0 = np.int16(b0 + p)
            c1 = np.int16(b1 + p)
            c2 = np.int16(b2 + p)
            c3 = np.int16(b3 + p)
            c4 = np.int16(b4 + p)
            c5 = np.int16(b5 + p)
            c6 = np.int16(b6 + p)
            c7 = np.int16(b7 + p)
            a0 = now[f]
            a1 = now[1 * LANES + f]
            a2 = now[2 * LANES + f]
            a3 = now[3 * LANES + f]
            a4 = now[4 * LANES + f]
            a5 = now[5 * LANES + f]
            a6 = now[6 * LANES + f]
            a7 = now[7 * LANES + f]
            zero = max(
                max(max(np.int16(a0 + c0), np.int16(a1 + c4)), max(np.int16(a2 + b5), np.int16(a3 + b1))),
                max(max(np.int16(a4 + b2), np.int16(a5 + b6)), max(np.int16(a6 + c7), np.int16(a7 + c3))),
            )
            one = max(
                max(max(np.int16(a0 + b4), np.int16(a1 + b0)), max(np.int16(a2 + c1), np.int16(a3 + c5))),
                max(max(np.int16(a4 + c6), np.int16(a5 + c2)), max(np.int16(a6 + b3), np.int16(a7 + b7))),
            )
            out[f] = np.int16(zero - one)
            n0 = max(np.int16(c0 + a), b4)
            beta[f] = 0
            beta[1 * LANES + f] = max(np.int16(c4 + a), b0) - n0
            beta[2 * LANES + f] = max(np.int16(b5 + a), c1) - n0
            beta[3 * LANES + f] = max(np.int16(b1 + a), c5) - n0
            beta[4 * LANES + f] = max(np.int16(b2 + a), c6) - n0
            beta[5 * LANES + f] = max(np.int16(b6 + a), c2) - n0
            beta[6 * LANES + f] = max(np.int16(c7 + a), b3) - n0
            beta[7 * LANES + f] = max(np.int16(c3 + a), b7) - n0


@kernel
def _damp(extrinsic: np.int16) -> np.int16:
    """Three quarters of what a pass found, rounded up, for max-log is too sure of itself; only 0 becomes 0."""
    x = max(np.int16(-CLIP), min(np.int16(CLIP), extrinsic))
    sign = np.int16(x >> 15)
    size = np.int16(np.int16(x ^ sign) - sign)
    size = np.int16(size - np.int16(size >> 2))
    return np.int16(np.int16(size ^ sign) - sign)


@kernel
def turbo_lanes(
    soft: Table,
    interleaver: NDArray[np.int64],
    iterations: int,
    work: NDArray[np.int16],
    alpha: Table,
    decoded: NDArray[np.uint8],
    decided: NDArray[np.bool_],
) -> None:
    """Turbo-decodes soft (3k + 12, LANES): k systematic, 2 × k parity and 2 × 6 tail rows, to decoded (words, k).

    decided (words) is false where a bit of the word is as likely 0 as 1, or the last two passes differ on one.

    `work` is (5, k, LANES): the systematic bits interleaved, two priors and two extrinsics.
    """
    k = interleaver.size
    shuffled, prior1, prior2, extrinsic1, extrinsic2 = work[0], work[1], work[2], work[3], work[4]
    beta = np.empty(8 * LANES, np.int16)
    for t in range(k):
        i = interleaver[t]
        for f in range(LANES):
            shuffled[t, f] = soft[i, f]
            prior1[t, f] = 0
    first, second, third = soft[:k], soft[k : 2 * k], soft[2 * k : 3 * k]
    tail1, tail2 = soft[3 * k : 3 * k + 6], soft[3 * k + 6 : 3 * k + 12]
    for turn in range(iterations):
        max_log_pass(first, second, prior1, tail1, extrinsic1, alpha, beta)
        for t in range(k):
            i = interleaver[t]
            for f in range(LANES):
                prior2[t, f] = _damp(extrinsic1[i, f])
        max_log_pass(shuffled, third, prior2, tail2, extrinsic2, alpha, beta)
        if turn == iterations - 1:
            for t in range(k):  # what the first code says of each bit, where its priors stood
                for f in range(LANES):
                    prior2[t, f] = (np.int64(first[t, f]) + extrinsic1[t, f] + prior1[t, f]) < 0
        for t in range(k):
            i = interleaver[t]
            for f in range(LANES):
                prior1[i, f] = _damp(extrinsic2[t, f])
    for w in range(decoded.shape[0]):
        decided[w] = True
        for t in range(k):
            known = np.int64(first[t, w]) + np.int64(extrinsic1[t, w]) + np.int64(prior1[t, w])
            decoded[w, t] = known < 0
            decided[w] &= (known != 0) and decoded[w, t] == prior2[t, w]
