"""Searches for the factor that minimises the error of running totals, of their mean or of a sliding window.

The zeros and poles of b interlace on (0, 1], which is why such factors have positive weights:

b(z) = Π(1 - q_i z) / ((1 - z) Π(1 - p_i z)),    1 > q_1 > p_1 > q_2 > p_2 > … > 0

The objective is closed-form: sensitivity² · error², both sums of geometric series. No price depends on how well the
search did.                                                                                   [McMahan et al. 2024]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, log, log2
from typing import Any, Literal

import numpy as np

from bruit.continual.factorisation.factor import Factor, Floats, repeated

Aim = Literal["max", "mean"]
"""Which error is made small: that of the worst total, or the root mean square over all periods."""

Point = np.ndarray[tuple[int], np.dtype[np.float64]]
"""Where the search stands."""

SHARPNESS = 60
"""The power of the mean that stands for the worst ratio, where a factor has to serve every horizon."""


@lru_cache(maxsize=64)
def search_factor(
    periods: int, *, aim: Aim = "max", times: int = 1, apart: int = 1, window: int | None = None
) -> Factor:
    """The factor of least error for people who take part at most `times` times, at least `apart` periods apart.

    With `window` the error is that of the last so many periods, a difference of two totals, instead of the totals'.
    """
    horizon = max(periods, 8)

    def objective(gaps: Floats) -> float:
        if window is not None:
            return _window_error(gaps, horizon, times, apart, window)
        return log(_squared_norm(gaps, horizon, times, apart) * squared_error(gaps, horizon, mean=aim == "mean"))

    return factor_of(_minimise(objective, horizon, buffers_for(horizon)))


def search_for_any_horizon(periods: int, buffers: int) -> Factor:
    """The factor whose worst error ratio to the matrix square root, over all horizons up to `periods`, is least."""
    ladder = 2.0 ** np.arange(3, log2(periods) + 1)
    known = np.log([square_root_error(int(horizon)) for horizon in ladder])

    def objective(gaps: Floats) -> float:
        size = _squared_norm(gaps, periods, 1, 1)
        ratios = np.log([size * squared_error(gaps, horizon) for horizon in ladder]) - 2 * known
        return float(np.log(np.exp(SHARPNESS * ratios).mean()) / SHARPNESS)

    return factor_of(_minimise(objective, periods, buffers))


def buffers_for(periods: int) -> int:
    """The number of poles besides 1 that comes within 0.1 % of the best matrix; it grows as log(periods)."""
    return min(8, max(2, ceil(log2(periods) / 2 - 1)))


def factor_of(gaps: Floats) -> Factor:
    """The factor whose series b has zeros and poles, alternating, at these distances from 1."""
    _, ends, _, weights = _fractions(gaps)
    poles = 1 - ends
    return Factor(tuple(map(float, weights * poles)), tuple(map(float, poles)))


def square_root_error(periods: int) -> float:
    """The largest error of the square-root factorisation of running sums: Σ (binom(2k, k) 4^-k)².

    [Fichtenberger, Henzinger & Upadhyay 2023]
    """
    k = np.arange(1, periods)
    series = np.cumprod(np.concatenate([[1.0], (2 * k - 1) / (2 * k)]))
    return float(series @ series)


def squared_error(gaps: Floats, periods: float, *, mean: bool = False) -> float:
    """The variance of the last total at unit noise, Σ b_k², or with `mean` the mean variance of all totals."""
    _, ends, _, weights = _fractions(gaps)
    ratio = np.outer(1 - ends, 1 - ends)
    sums = _geometric(ratio, periods)
    if mean:
        with np.errstate(all="ignore"):
            inner = np.where(ratio == 1, periods * (periods + 1) / 2, (periods - ratio * sums) / (1 - ratio))
        sums = inner / periods
    return float(weights @ sums @ weights)


def _squared_norm(gaps: Floats, periods: int, times: int, apart: int) -> float:
    """The squared norm of the worst person's column of C."""
    if times == 1:
        zeros, _, weights, _ = _fractions(gaps)
        return float(1 + weights @ _geometric(np.outer(1 - zeros, 1 - zeros), periods - 1) @ weights)
    return float(np.square(repeated(_series(gaps, periods)[0], times, apart)).sum())


def _window_error(gaps: Floats, periods: int, times: int, apart: int, window: int) -> float:
    c, b = _series(gaps, periods)
    late = b.copy()
    late[window:] -= b[:-window]
    return log(float(np.square(repeated(c, times, apart)).sum() * np.square(late).sum()))


def _fractions(gaps: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """1 - q, 1 - p (the first is 0), and the weights of their powers in c and in b, by partial fractions."""
    zeros, ends = gaps[0::2], np.concatenate([[0.0], gaps[1::2]])
    of_c = [np.prod(ends[1:] - q) / np.prod(np.delete(zeros, j) - q) for j, q in enumerate(zeros)]
    of_b = [np.prod(zeros - p) / np.prod(np.delete(ends, j) - p) for j, p in enumerate(ends)]
    return zeros, ends, np.array(of_c), np.array(of_b)


def _series(gaps: Floats, periods: int) -> tuple[Floats, Floats]:
    """The first coefficients of c and of b, as sums of powers."""
    zeros, ends, of_c, of_b = _fractions(gaps)
    k = np.arange(periods)
    c = np.concatenate([[1.0], of_c @ np.exp(np.outer(np.log1p(-zeros), k[:-1]))])
    return c, of_b @ np.exp(np.outer(np.log1p(-ends), k))


def _geometric(ratio: Floats, terms: float) -> Floats:
    """Σ ratio^k for k < terms."""
    with np.errstate(all="ignore"):
        return np.where(ratio == 1, terms, -np.expm1(terms * np.log(ratio)) / (1 - ratio))


def _minimise(objective: Callable[[Floats], float], periods: int, buffers: int) -> Floats:
    """The gaps, in order between 1/(100 n) and 1, of the least objective that L-BFGS finds from even logarithms."""
    from scipy.optimize import minimize

    def gaps(y: Point) -> Floats:
        steps = np.exp(y)
        return np.asarray(np.exp(-log(100 * periods) * np.cumsum(steps)[::-1] / (1 + steps.sum())))

    start = np.log(np.full(2 * buffers, log(periods + 2) / log(100) / (2 * buffers)))
    limits: Any = {"maxiter": 400, "maxfun": 20_000}
    edges = [(-4.0, 5.0)] * len(start)

    def value(y: Point) -> float:
        return objective(gaps(y))

    return gaps(minimize(value, start, method="L-BFGS-B", bounds=edges, options=limits).x)
