"""Log-MAP passes over a recursive code with 16 states, for LANES words side by side in float32.

The state holds the last four register bits, the newest lowest; a step takes a new bit b from state s to
(2s + b) mod 16. `branches` (16, 2) names the branch of each (s, b) by its message bit plus twice its parity bits, the
first parity lowest. A branch counts the log-likelihood of every one of its bits that is 0, which leaves the ratios as
they are. Metrics are kept relative to state 0. Sums of exponentials are taken as the larger exponent plus a straight
line in the distance, which costs under 0.01 dB.                                             [Cheng & Ottosson 2000]
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import inlined, kernel

Rows = NDArray[np.float32]
Index = NDArray[np.int64]

LANES = 16
STATES = 16
UNLIKELY = np.float32(-1e4)
SLOPE = np.float32(0.24904)  # of the line, which ends where two exponents differ by REACH
REACH = np.float32(2.5068)


@inlined
def _add_exponentials(x: np.float32, y: np.float32) -> np.float32:
    """About log(e^x + e^y)."""
    gap = x - y
    larger = x if gap > np.float32(0) else y
    size = gap if gap > np.float32(0) else -gap
    rest = SLOPE * (REACH - size)
    return larger + (rest if rest > np.float32(0) else np.float32(0))


@kernel
def _branch_metrics(known: Rows, parity: Rows, t: int, metrics: Rows) -> None:
    """metrics[m]: the sum of what is known (LANES) and of the parities (outputs, steps, LANES) whose bit in m is 0."""
    for m in range(metrics.shape[0]):
        out = metrics[m]
        for f in range(LANES):
            out[f] = np.float32(0) if m & 1 else known[f]
        for p in range(parity.shape[0]):
            if not (m >> (p + 1)) & 1:
                row = parity[p, t]
                for f in range(LANES):
                    out[f] += row[f]


@kernel
def _forward(metrics: Rows, branches: Index, now: Rows, after: Rows) -> None:
    """One step from `now` to `after`, (STATES, LANES) both."""
    for n in range(STATES):
        low, high = n >> 1, (n >> 1) | 8
        first, second = metrics[branches[low, n & 1]], metrics[branches[high, n & 1]]
        one, other, out = now[low], now[high], after[n]
        for f in range(LANES):
            out[f] = _add_exponentials(one[f] + first[f], other[f] + second[f])
    base = after[0]
    for n in range(STATES - 1, -1, -1):
        out = after[n]
        for f in range(LANES):
            out[f] -= base[f]


@kernel
def _backward(metrics: Rows, branches: Index, beta: Rows, before: Rows) -> None:
    """One step back: `before` (STATES, LANES) from `beta`, which becomes it."""
    for s in range(STATES):
        zero, one = beta[(2 * s) & 15], beta[(2 * s + 1) & 15]
        first, second, out = metrics[branches[s, 0]], metrics[branches[s, 1]], before[s]
        for f in range(LANES):
            out[f] = _add_exponentials(zero[f] + first[f], one[f] + second[f])
    base = before[0]
    for s in range(STATES):
        row, out = before[s], beta[s]
        for f in range(LANES):
            out[f] = row[f] - base[f]


@kernel
def _message_bit(metrics: Rows, branches: Index, alpha: Rows, beta: Rows, sums: Rows) -> None:
    """sums[u] (2, LANES): the logarithm of all paths whose message bit is u at this step."""
    sums[:] = UNLIKELY
    for s in range(STATES):
        for b in range(2):
            branch = branches[s, b]
            start, step, end, total = alpha[s], metrics[branch], beta[(2 * s + b) & 15], sums[branch & 1]
            for f in range(LANES):
                total[f] = _add_exponentials(total[f], start[f] + step[f] + end[f])


@kernel
def log_map_pass(known: Rows, parity: Rows, branches: Index, alpha: Rows, posterior: Rows) -> None:
    """Posterior (steps, LANES) of the message bits from what is known of them and the parities (outputs, steps, LANES).

    Paths start and end in state 0; alpha is (steps + 1, STATES, LANES).
    """
    steps = known.shape[0]
    metrics = np.empty((2 << parity.shape[0], LANES), np.float32)
    beta = np.empty((STATES, LANES), np.float32)
    before = np.empty((STATES, LANES), np.float32)
    sums = np.empty((2, LANES), np.float32)
    alpha[0] = UNLIKELY
    alpha[0, 0] = np.float32(0)
    for t in range(steps):
        _branch_metrics(known[t], parity, t, metrics)
        _forward(metrics, branches, alpha[t], alpha[t + 1])
    beta[:] = UNLIKELY
    beta[0] = np.float32(0)
    for t in range(steps - 1, -1, -1):
        _branch_metrics(known[t], parity, t, metrics)
        _message_bit(metrics, branches, alpha[t], beta, sums)
        for f in range(LANES):
            posterior[t, f] = sums[0, f] - sums[1, f]
        _backward(metrics, branches, beta, before)
