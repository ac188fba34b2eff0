"""Convolutional encoding and Viterbi decoding on the trellis of a shift register.

The register holds the newest bit in bit 0; the state is the register without its oldest bit's place:
state = register & (states − 1), and `patterns[register]` holds the coded bits, output q in bit q.
Viterbi runs LANES words side by side, the word innermost, in int16. Work rows are flat arrays indexed by
constant · LANES + lane (or sliced, so that no index can be negative) and the trellis step is a function of its own:
otherwise the compiler's guard against overlapping rows fails and the loop runs scalar, ten times slower.
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Metrics = NDArray[np.int16]
Bytes = NDArray[np.uint8]

LANES = 64
UNLIKELY = -8000  # the metric of a state in which a word cannot start
FLOOR = -12000
GROUPS = 255  # no trellis has more groups of four butterflies
BETWEEN = 15  # metrics are brought back to zero every 16 steps: 16 · 254 cannot wrap int16


@kernel
def encode_words(
    bits: NDArray[np.uint8],
    feedback: int,
    patterns: NDArray[np.int64],
    outputs: int,
    start: NDArray[np.int64],
    free: int,
    coded: NDArray[np.uint8],
) -> None:
    """Encodes to coded bits (words, steps · outputs); from step `free` on, the register is fed zeros to flush it."""
    states = patterns.size // 2
    for w in range(bits.shape[0]):
        state = start[w]
        for t in range(coded.shape[1] // outputs):
            new = np.int64(0)
            if t < free:
                back = (state << 1) & feedback
                back ^= back >> 8
                back ^= back >> 4
                back ^= back >> 2
                back ^= back >> 1
                new = (np.int64(bits[w, t]) ^ back) & 1
            register = (state << 1) | new
            pattern = patterns[register]
            for q in range(outputs):
                coded[w, t * outputs + q] = (pattern >> q) & 1
            state = register & (states - 1)


@kernel
def _step_of_two(low: Metrics, high: Metrics, nxt: Metrics, here: Metrics, kept: Bytes, signs: Metrics) -> None:
    """One trellis step for two outputs whose generators tap both ends of the register, four butterflies at a time.

    The four branches of a butterfly then have the metrics m, −m, −m, m. The mask changes no number: it tells the
    compiler that indices are small and never negative.
    """
    for group in range(signs.shape[1] // 4):
        g = group & GROUPS
        j = 4 * g
        s0, s1, s2, s3 = signs[0, j], signs[0, j + 1], signs[0, j + 2], signs[0, j + 3]
        r0, r1, r2, r3 = signs[1, j], signs[1, j + 1], signs[1, j + 2], signs[1, j + 3]
        for f in range(LANES):
            a = here[f]
            b = here[LANES + f]
            bits = np.int16(0)
            m = np.int16(np.int16(s0 * a) + np.int16(r0 * b))
            p = low[(j + 0) * LANES + f]
            q = high[(j + 0) * LANES + f]
            x = np.int16(p + m)
            y = np.int16(q - m)
            nxt[(2 * j + 0) * LANES + f] = max(x, y)
            bits |= np.int16(1) if y > x else np.int16(0)
            x = np.int16(p - m)
            y = np.int16(q + m)
            nxt[(2 * j + 1) * LANES + f] = max(x, y)
            bits |= np.int16(2) if y > x else np.int16(0)
            m = np.int16(np.int16(s1 * a) + np.int16(r1 * b))
            p = low[(j + 1) * LANES + f]
            q = high[(j + 1) * LANES + f]
            x = np.int16(p + m)
            y = np.int16(q - m)
            nxt[(2 * j + 2) * LANES + f] = max(x, y)
            bits |= np.int16(4) if y > x else np.int16(0)
            x = np.int16(p - m)
            y = np.int16(q + m)
            nxt[(2 * j + 3) * LANES + f] = max(x, y)
            bits |= np.int16(8) if y > x else np.int16(0)
            m = np.int16(np.int16(s2 * a) + np.int16(r2 * b))
            p = low[(j + 2) * LANES + f]
            q = high[(j + 2) * LANES + f]
            x = np.int16(p + m)
            y = np.int16(q - m)
            nxt[(2 * j + 4) * LANES + f] = max(x, y)
            bits |= np.int16(16) if y > x else np.int16(0)
            x = np.int16(p - m)
            y = np.int16(q + m)
            nxt[(2 * j + 5) * LANES + f] = max(x, y)
            bits |= np.int16(32) if y > x else np.int16(0)
            m = np.int16(np.int16(s3 * a) + np.int16(r3 * b))
            p = low[(j + 3) * LANES + f]
            q = high[(j + 3) * LANES + f]
            x = np.int16(p + m)
            y = np.int16(q - m)
            nxt[(2 * j + 6) * LANES + f] = max(x, y)
            bits |= np.int16(64) if y > x else np.int16(0)
            x = np.int16(p - m)
            y = np.int16(q + m)
            nxt[(2 * j + 7) * LANES + f] = max(x, y)
            bits |= np.int16(128) if y > x else np.int16(0)
            kept[g * LANES + f] = np.uint8(bits)


@kernel
def _metric_rows(here: Metrics, outputs: int, rows: Metrics) -> None:
    """rows[pattern] = Σ ± likelihood, plus where the pattern's bit is 0."""
    rows[:] = 0
    for c in range(1 << outputs):
        for q in range(outputs):
            sign = np.int16(1 - 2 * ((c >> q) & 1))
            for f in range(LANES):
                rows[c * LANES + f] += np.int16(sign * here[q * LANES + f])


@kernel
def _copy(source: Metrics, target: Metrics) -> None:
    for f in range(LANES):
        target[f] = source[f]


@kernel
def _butterfly(low: Metrics, high: Metrics, branch: Metrics, nxt: Metrics, kept: Bytes, shift: np.int16) -> None:
    for f in range(LANES):
        x = np.int16(low[f] + branch[f])
        y = np.int16(high[f] + branch[2 * LANES + f])
        nxt[f] = max(x, y)
        bits = np.int16(1) if y > x else np.int16(0)
        x = np.int16(low[f] + branch[LANES + f])
        y = np.int16(high[f] + branch[3 * LANES + f])
        nxt[LANES + f] = max(x, y)
        bits |= np.int16(2) if y > x else np.int16(0)
        kept[f] |= np.uint8(bits << shift)


@kernel
def _step_of_any(
    low: Metrics, high: Metrics, nxt: Metrics, rows: Metrics, kept: Bytes, patterns: NDArray[np.int64], branch: Metrics
) -> None:
    """One trellis step for any generators: every branch has its own metric row."""
    kept[:] = 0
    half = patterns.size // 4
    for j in range(half):
        for b in range(4):
            r = patterns[2 * (j + (b >> 1) * half) + (b & 1)] * LANES
            _copy(rows[r : r + LANES], branch[b * LANES : (b + 1) * LANES])
        here = slice(j * LANES, (j + 1) * LANES)
        byte = kept[(j >> 2) * LANES : ((j >> 2) + 1) * LANES]
        _butterfly(low[here], high[here], branch, nxt[2 * j * LANES : 2 * (j + 1) * LANES], byte, np.int16(2 * (j & 3)))


@kernel
def viterbi_lanes(
    soft: NDArray[np.int16],
    patterns: NDArray[np.int64],
    signs: NDArray[np.int16],
    outputs: int,
    plain: int,
    starts: int,
    ends: int,
    mirrored: int,
    even: NDArray[np.int16],
    odd: NDArray[np.int16],
    choice: NDArray[np.uint8],
    decoded: NDArray[np.uint8],
) -> None:
    """Viterbi decoding of soft (steps · outputs, LANES) to decoded (words, steps), the register bits of the best path.

    `starts` and `ends` say that the path begins and finishes in state 0. Bit s & 7 of byte s >> 3 of `choice` says
    which parent state s kept; at a tie that is the lower one, and the lower last state. Where `mirrored`, both parents
    change places and ties go the other way: two paths that differ are equally likely. The caller then negates `soft`
    (plain) or moves `patterns` by half (not plain), so that each parent keeps its own branch.
    """
    states = patterns.size // 2
    half = states // 2
    words, steps = decoded.shape
    top = 0
    while (1 << top) < half:
        top += 1
    flat = soft.reshape(-1)
    rows = np.empty((1 << outputs) * LANES, np.int16)
    branch = np.empty(4 * LANES, np.int16)
    base = np.empty(LANES, np.int16)
    split = half * LANES
    low = slice(split, 2 * split) if mirrored else slice(0, split)
    high = slice(0, split) if mirrored else slice(split, 2 * split)
    even[:] = UNLIKELY if starts else 0
    even[:LANES] = 0
    for t in range(steps):
        here = flat[t * outputs * LANES : (t + 1) * outputs * LANES]
        if not plain:
            _metric_rows(here, outputs, rows)
        if t & 1:  # two calls, not one with swapped names: a step compiled into this loop would run scalar
            if plain:
                _step_of_two(odd[low], odd[high], even, here, choice[t], signs)
            else:
                _step_of_any(odd[low], odd[high], even, rows, choice[t], patterns, branch)
        elif plain:
            _step_of_two(even[low], even[high], odd, here, choice[t], signs)
        else:
            _step_of_any(even[low], even[high], odd, rows, choice[t], patterns, branch)
        if (t & BETWEEN) == BETWEEN:
            for f in range(LANES):
                base[f] = even[f]
            for s in range(states):
                for f in range(LANES):
                    even[s * LANES + f] = max(np.int16(FLOOR), np.int16(even[s * LANES + f] - base[f]))
    state = np.zeros(LANES, np.int64)
    if not ends:
        last = odd if steps & 1 else even
        for f in range(words):
            for s in range(states):
                ahead = last[s * LANES + f] - last[state[f] * LANES + f]
                if ahead > 0 or (mirrored and ahead == 0):
                    state[f] = s
    for t in range(steps - 1, -1, -1):  # all words step back together: independent look-ups overlap
        for f in range(words):
            s = state[f]
            decoded[f, t] = np.uint8(s & 1)
            bit = ((np.int64(choice[t, (s >> 3) * LANES + f]) >> (s & 7)) & 1) ^ mirrored
            state[f] = (s >> 1) | (bit << top)
