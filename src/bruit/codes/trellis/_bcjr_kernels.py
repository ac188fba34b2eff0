"""The forward-backward (BCJR) algorithm on the trellis of a shift register, one word at a time.

Registers and patterns are as in `_trellis_kernels`; a path starts (`starts`) and ends (`ends`) in state 0, or anywhere.
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel


@kernel
def bcjr_sum(
    likelihoods: NDArray[np.float64],
    prior: NDArray[np.float64],
    patterns: NDArray[np.int64],
    outputs: int,
    starts: int,
    ends: int,
    posterior: NDArray[np.float64],
    coded: NDArray[np.float64],
) -> None:
    """Exact posterior log-likelihood ratios of one word's register bits (steps) and coded bits (steps, outputs).

    Each step is scaled to its largest branch and each row of states to sum one, so that nothing overflows.
    """
    states = patterns.size // 2
    steps = posterior.size
    gamma = np.empty((steps, 2 * states))
    alpha = np.zeros((steps + 1, states))
    beta = np.empty(states)
    before = np.empty(states)
    alpha[0, :] = 0.0 if starts else 1.0 / states
    alpha[0, 0] = 1.0 if starts else 1.0 / states
    for t in range(steps):
        largest = -np.inf
        for r in range(2 * states):
            g = -0.5 * prior[t] if r & 1 else 0.5 * prior[t]
            for q in range(outputs):
                g += -0.5 * likelihoods[t, q] if (patterns[r] >> q) & 1 else 0.5 * likelihoods[t, q]
            gamma[t, r] = g
            largest = max(largest, g)
        total = 0.0
        for r in range(2 * states):
            gamma[t, r] = np.exp(gamma[t, r] - largest)
            alpha[t + 1, r & (states - 1)] += alpha[t, r >> 1] * gamma[t, r]
        for s in range(states):
            total += alpha[t + 1, s]
        for s in range(states):
            alpha[t + 1, s] /= total
    beta[:] = 0.0 if ends else 1.0
    beta[0] = 1.0
    ones = np.empty(outputs + 1)
    zeros = np.empty(outputs + 1)
    for t in range(steps - 1, -1, -1):
        ones[:] = 1e-300
        zeros[:] = 1e-300
        before[:] = 0.0
        total = 0.0
        for r in range(2 * states):
            b = gamma[t, r] * beta[r & (states - 1)]
            before[r >> 1] += b
            total += b
            p = alpha[t, r >> 1] * b
            for q in range(outputs):
                if (patterns[r] >> q) & 1:
                    ones[q] += p
                else:
                    zeros[q] += p
            if r & 1:
                ones[outputs] += p
            else:
                zeros[outputs] += p
        for s in range(states):
            beta[s] = before[s] / total
        posterior[t] = np.log(zeros[outputs] / ones[outputs])
        for q in range(outputs):
            coded[t, q] = np.log(zeros[q] / ones[q])


@kernel
def bcjr_max(
    likelihoods: NDArray[np.float64],
    prior: NDArray[np.float64],
    patterns: NDArray[np.int64],
    outputs: int,
    starts: int,
    ends: int,
    posterior: NDArray[np.float64],
    coded: NDArray[np.float64],
) -> None:
    """Max-log posteriors of one word's register bits (steps) and coded bits (steps, outputs)."""
    states = patterns.size // 2
    steps = posterior.size
    gamma = np.empty((steps, 2 * states))
    alpha = np.full((steps + 1, states), -1e30)
    beta = np.full(states, -1e30)
    before = np.empty(states)
    if not starts:
        alpha[0, :] = 0.0
    alpha[0, 0] = 0.0
    for t in range(steps):
        for r in range(2 * states):
            g = -0.5 * prior[t] if r & 1 else 0.5 * prior[t]
            for q in range(outputs):
                g += -0.5 * likelihoods[t, q] if (patterns[r] >> q) & 1 else 0.5 * likelihoods[t, q]
            gamma[t, r] = g
            s = r & (states - 1)
            alpha[t + 1, s] = max(alpha[t + 1, s], alpha[t, r >> 1] + g)
    if not ends:
        beta[:] = 0.0
    beta[0] = 0.0
    ones = np.empty(outputs + 1)
    zeros = np.empty(outputs + 1)
    for t in range(steps - 1, -1, -1):
        ones[:] = -1e30
        zeros[:] = -1e30
        before[:] = -1e30
        for r in range(2 * states):
            b = gamma[t, r] + beta[r & (states - 1)]
            before[r >> 1] = max(before[r >> 1], b)
            p = alpha[t, r >> 1] + b
            for q in range(outputs):
                if (patterns[r] >> q) & 1:
                    ones[q] = max(ones[q], p)
                else:
                    zeros[q] = max(zeros[q], p)
            if r & 1:
                ones[outputs] = max(ones[outputs], p)
            else:
                zeros[outputs] = max(zeros[outputs], p)
        beta[:] = before
        posterior[t] = zeros[outputs] - ones[outputs]
        for q in range(outputs):
            coded[t, q] = zeros[q] - ones[q]
