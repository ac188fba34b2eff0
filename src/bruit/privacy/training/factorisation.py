"""The banded Toeplitz matrix C that correlates the noise of training steps; its columns have norm 1.

The iterates of gradient descent are sums of gradients, A g, where A is Toeplitz with the series 1 / ((1-x)(1-βx)) for
momentum β. With the noise C⁻¹z they err by A C⁻¹z. A series stands for its lower triangular Toeplitz matrix here, and
its product with another for the product of the two matrices.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HOPELESS = 1e3
"""What the search is told of coefficients whose inverse overflows, in logarithms: far above all others."""


def square_root(bands: int, momentum: float) -> Floats:
    """The first `bands` coefficients of the workload's square root, A^(1/2).             [Kalinin & Lampert 2024]

    (1-x)^(-1/2) = Σ binom(2k, k) 4^(-k) x^k, times the same of βx
    """
    places = np.arange(1, bands)
    plain = np.cumprod(np.concatenate([[1.0], (2 * places - 1) / (2 * places)]))
    return np.convolve(plain, plain * momentum ** np.arange(bands))[:bands]


def mean_square(coefficients: Floats, steps: int, momentum: float) -> float:
    """The mean squared error of the iterates at unit noise multiplier, with the columns of C scaled to norm 1.

    max column norm² · ‖A C⁻¹‖² / T = ‖c‖² Σ_k (T-k) w_k² / T, where w is the series of A C⁻¹
    """
    left = _divide(_workload(steps, momentum), coefficients)
    return float(coefficients @ coefficients * (_uses(steps) @ left**2) / steps)


def optimise(bands: int, steps: int, momentum: float) -> Floats:
    """Coefficients of norm 1 that minimise the mean squared error, by local search from the square root."""
    from scipy.optimize import minimize

    start = square_root(min(bands, steps), momentum)
    found = minimize(_log_error, start[1:], args=(steps, momentum), jac=True, method="L-BFGS-B")
    best = np.concatenate([[1.0], found.x])
    if mean_square(best, steps, momentum) > mean_square(start, steps, momentum):
        best = start
    scaled: Floats = best / np.linalg.norm(best)
    return scaled


def _log_error(rest: Floats, steps: int, momentum: float) -> tuple[float, Floats]:
    """The logarithm of the error, less its constant, and its gradient; the first coefficient is 1.

    A change of c_j moves w by -x^j w / c.
    """
    c, uses = np.concatenate([[1.0], rest]), _uses(steps)
    with np.errstate(all="ignore"):
        left = _divide(_workload(steps, momentum), c)
        again, weighted = _divide(left, c), uses * left
        size, total = c @ c, weighted @ left
        slopes = np.array([weighted[lag:] @ again[: steps - lag] for lag in range(len(c))])
        value, gradient = np.log(size) + np.log(total), 2 * c / size - 2 * slopes / total
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return HOPELESS, np.zeros_like(rest)
    return float(value), gradient[1:]


def _workload(steps: int, momentum: float) -> Floats:
    once = np.zeros(steps)
    once[0] = 1.0
    return _divide(once, np.convolve([1.0, -1.0], [1.0, -momentum]))


def _divide(series: Floats, by: Floats) -> Floats:
    """The first terms of the quotient of two power series, the second of them short."""
    from scipy.signal import lfilter

    return np.asarray(lfilter([1.0], by, series), dtype=np.float64)


def _uses(steps: int) -> Floats:
    """How many iterates hold a draw k steps later: T - k."""
    return steps - np.arange(steps, dtype=np.float64)
