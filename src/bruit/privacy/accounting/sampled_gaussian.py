"""The Rényi divergence of Gaussian noise on a Poisson sample."""

import numpy as np
from numpy.typing import NDArray

from bruit.privacy.accounting.composition import LARGEST_EXPONENT

FLOAT_ERROR = 1e-12
"""Relative error of the sums, added to keep the result an upper bound; the trapezoid rule itself errs far less."""

MOST_NODES = 2**15
"""Nodes of one integral; an order that would need more, at little noise, takes a bound in closed form."""

MOST_TERMS = 2**20
"""The largest whole order whose series is summed."""

LEAST_NOISE = 1e-100
"""At less noise the divergence counts as infinite."""

Floats = NDArray[np.float64]


def sampled_gaussian_rdp(rate: float, noise: float, orders: Floats) -> Floats:
    """The Rényi divergence of one Poisson-sampled Gaussian step at orders above 1, for add-or-remove neighbours.

    ln A / (a - 1), A = E_Q[((1-q) + q exp((2x-1)/(2 noise^2)))^a], Q = N(0, noise^2)      [Mironov et al. 2019, 3.3]

    Whole orders sum the binomial series, others integrate; both compute A - 1, a sum of non-negative terms, so that
    tiny rates keep their digits. Removal is the larger direction [Mironov et al. 2019, Theorem 5]. An order whose
    integral would need too many nodes takes a bound in closed form, which at so little noise is nearly the truth.
    """
    if noise < LEAST_NOISE:
        return np.full(len(orders), np.inf)
    if rate == 1.0:
        return orders / (2 * noise**2)
    from bruit.privacy.accounting._kernels import log_excess_whole

    whole = (orders == np.round(orders)) & (orders <= MOST_TERMS)
    short = ~whole & (_nodes(noise, orders) <= MOST_NODES)
    out = _less_one(log_moment_bound(rate, noise, orders))
    out[whole] = log_excess_whole(rate, noise, orders[whole].astype(np.int64))
    out[short] = np.minimum(out[short], _integrate(rate, 0.0, noise, orders[short]))
    return _divergence(out, orders)


def replaced_gaussian_rdp(rate: float, noise: float, orders: Floats) -> Floats:
    """The Rényi divergence of one Poisson-sampled Gaussian step at orders above 1, for replace-one neighbours.

    That of (1-q) N(0) + q N(1) against (1-q) N(0) + q N(-1), q the rate.
    """
    if noise < LEAST_NOISE:
        return np.full(len(orders), np.inf)
    if rate == 1.0:
        return 2 * orders / noise**2
    short = _nodes(noise, orders) <= MOST_NODES
    out = _less_one(replaced_log_moment_bound(rate, noise, orders))
    out[short] = np.minimum(out[short], _integrate(rate, rate, noise, orders[short]))
    return _divergence(out, orders)


def log_moment_bound(rate: float, noise: float, orders: Floats) -> Floats:
    """An upper bound on the log-moment ln A of the Poisson-sampled Gaussian, for add-or-remove neighbours.

    A^(1/a) <= 1 - q + q exp((a-1)/(2 noise^2)): the triangle inequality for the norm of order a of 1 - q + q r.
    """
    return np.asarray(orders * log_mixture(rate, (orders - 1) / (2 * noise**2)))


def replaced_log_moment_bound(rate: float, noise: float, orders: Floats) -> Floats:
    """An upper bound on the log-moment of the Poisson-sampled Gaussian, for replace-one neighbours.

    The lesser of two bounds on ln A: Q >= (1-q) N(0), which leaves (1-q)^(1-a) times the moment of presence; and A is
    jointly convex in its two laws, which leaves 1 - q + q exp(2 a (a-1) / noise^2).
    """
    present = log_moment_bound(rate, noise, orders) - (orders - 1) * np.log1p(-rate)
    return np.asarray(np.minimum(present, log_mixture(rate, 2 * orders * (orders - 1) / noise**2)))


def log_mixture(rate: float, exponent: Floats) -> Floats:
    """Computes ln(1 - rate + rate e^exponent), accurate near zero and without overflow."""
    if rate == 0:
        return np.zeros_like(exponent)
    if rate == 1:
        return np.asarray(exponent)
    near = np.log1p(rate * np.expm1(np.minimum(exponent, LARGEST_EXPONENT)))
    far = exponent + np.log(rate + (1 - rate) * np.exp(-np.maximum(exponent, LARGEST_EXPONENT)))
    return np.where(exponent < LARGEST_EXPONENT, near, far)  # the far one loses a tiny rate beside a large exponent


def _integrate(p_rate: float, q_rate: float, noise: float, orders: Floats) -> Floats:
    """ln(A - 1) by the trapezoid rule, which converges geometrically.

    The integrand is analytic in a strip of half-width pi noise^2 (where a mixture vanishes) and Gaussian along it:
    with this spacing the rule errs by less than exp(-4 pi^2) relatively.     [Trefethen & Weideman 2014, Theorem 5.1]
    """
    if not len(orders):
        return np.empty(0)
    from bruit.privacy.accounting._kernels import log_excess_integral

    variance, spacing = noise**2, _spacing(noise)
    start = -10 * noise - 1
    x = np.arange(start, orders.max() + 10 * noise + 2, spacing)
    log_q = log_mixture(q_rate, (-2 * x - 1) / (2 * variance))
    log_ratio = log_mixture(p_rate, (2 * x - 1) / (2 * variance)) - log_q
    with np.errstate(over="ignore"):
        change = np.expm1(log_ratio)
    log_weight = -0.5 * (x / noise) ** 2 - np.log(noise * np.sqrt(2 * np.pi) / spacing) + log_q
    last = np.minimum(((orders + 10 * noise + 2 - start) / spacing).astype(np.int64) + 1, len(x))
    return log_excess_integral(log_ratio, change, log_weight, last, np.ascontiguousarray(orders))


def _spacing(noise: float) -> float:
    return min(noise / 4, noise**2 / 2)


def _nodes(noise: float, orders: Floats) -> Floats:
    """How many nodes the integral of each order needs."""
    return np.asarray((orders + 20 * noise + 3) / _spacing(noise))


def _less_one(log_moment: Floats) -> Floats:
    """ln(A - 1) from ln A."""
    with np.errstate(divide="ignore"):
        return np.where(log_moment > 30, log_moment, np.log(np.expm1(np.minimum(log_moment, 30))))


def _divergence(log_excess: Floats, orders: Floats) -> Floats:
    log_moment = np.where(log_excess > 30, log_excess, np.log1p(np.exp(np.minimum(log_excess, 30))))
    return np.asarray((log_moment + FLOAT_ERROR * np.minimum(log_moment, 1 + np.abs(log_excess))) / (orders - 1))
