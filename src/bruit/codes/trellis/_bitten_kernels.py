"""Exact Viterbi decoding of short tail-biting words, from every state back to itself.

Registers and patterns are as in `_trellis_kernels`. One word is read by GROUP starting states side by side, the start
innermost: metric[state · GROUP + start], int32, for words are short but not scaled back on the way.
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

GROUP = 64
UNLIKELY = -(1 << 28)  # the metric of a state in which a path does not start; far below any sum of a short word


@kernel
def _step(
    now: NDArray[np.int32], nxt: NDArray[np.int32], branch: NDArray[np.int32], kept: NDArray[np.uint8], mirrored: int
) -> None:
    """One step: state s is reached from s >> 1 and from (s >> 1) + half; branch[register] is what a branch adds.

    kept[s, start] says whether the second was taken, which at a tie only happens where `mirrored`.
    """
    half = branch.size // 4
    tie = np.int32(mirrored)
    for s in range(2 * half):
        low = s >> 1
        a, b = branch[s], branch[s + 2 * half]
        first = now[low * GROUP : (low + 1) * GROUP]
        second = now[(low + half) * GROUP : (low + half + 1) * GROUP]
        out = nxt[s * GROUP : (s + 1) * GROUP]
        choice = kept[s]
        for f in range(GROUP):
            x = first[f] + a
            y = second[f] + b
            out[f] = max(x, y)
            choice[f] = np.uint8(1) if y + tie > x else np.uint8(0)


@kernel
def best_circle(
    soft: NDArray[np.int32], patterns: NDArray[np.int64], outputs: int, mirrored: int, path: NDArray[np.uint8]
) -> None:
    """The register bits (steps) of the best path that ends in the state in which it starts.

    Among equally good ones the first found, or the last where `mirrored`.
    """
    states = patterns.size // 2
    half = states // 2
    steps = path.size
    metrics = np.empty((2, states * GROUP), np.int32)
    kept = np.empty((steps, states, GROUP), np.uint8)
    branch = np.empty(2 * states, np.int32)
    best = np.int32(UNLIKELY)
    for base in range(0, states, GROUP):
        starts = min(GROUP, states - base)
        metrics[0, :] = UNLIKELY
        for f in range(starts):
            metrics[0, (base + f) * GROUP + f] = 0
        for t in range(steps):
            for register in range(2 * states):
                total = np.int32(0)
                for q in range(outputs):
                    value = soft[t * outputs + q]
                    total += -value if (patterns[register] >> q) & 1 else value
                branch[register] = total
            _step(metrics[t & 1], metrics[(t + 1) & 1], branch, kept[t], mirrored)
        for f in range(starts):
            end = metrics[steps & 1, (base + f) * GROUP + f]
            if end > best or (mirrored and end == best):
                best = end
                state = base + f
                for t in range(steps - 1, -1, -1):
                    path[t] = np.uint8(state & 1)
                    state = (state >> 1) + (half if kept[t, state, f] else 0)
