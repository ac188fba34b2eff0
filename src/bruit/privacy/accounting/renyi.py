"""Rényi divergences of losses at many orders, and their conversions into epsilon and delta."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.core.best_of import BestOf, RenyiBounded
from bruit.core.losses import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Loss,
    NormalShift,
    Parallel,
    Pure,
    Sampled,
    Scheme,
    ZeroConcentrated,
)
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE
from bruit.core.numbers import SMALLEST, Exact, positive, rounded_up
from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy.accounting.composition import amplify, basic, parts_touched, require_amplification
from bruit.privacy.accounting.gaussian import UNIT_ROUNDOFF
from bruit.privacy.accounting.sampled_gaussian import replaced_gaussian_rdp, sampled_gaussian_rdp

Floats = NDArray[np.float64]
Conversion = Callable[[Floats, Floats, float], Floats]

DOCUMENT_ORDERS: Floats = np.append(np.arange(11, 110) / 10, np.arange(12.0, 64.0))
"""The orders of the thesis: 1.1 to 10.9 by 0.1, and 12 to 63."""

ORDERS: Floats = np.unique(
    np.concatenate([1 + np.geomspace(0.01, 10, 60), np.arange(11.0, 65.0), np.round(np.geomspace(66, 4096, 48))])
)
"""A wider grid: small orders for much noise on few data, large ones for little noise."""

LEAST_RATE = 1e-300
"""A smaller rate of sampling is computed as this one."""


def rdp(loss: Loss, order: Exact) -> Fraction:
    """The Rényi divergence of a loss at one order, rounded up: a price that adds up exactly."""
    chosen = positive(order, "order")
    if chosen <= 1:
        raise InvalidArgument(f"order={order} must be above 1")
    found = float(renyi(loss, np.array([float(chosen)]))[0])
    if math.isinf(found):
        raise NotPrivate(f"{type(loss).__name__} has no finite Rényi divergence of order {order} that is proved")
    return rounded_up(found)


def renyi(loss: Loss, orders: Floats) -> Floats:
    """The Rényi divergence of a loss at each order; the deltas of its parts are left out.

    D_a = ln E_Q[(P/Q)^a] / (a - 1); divergences of a composition add           [Mironov 2017, Prop. 1]
    """
    if isinstance(loss, Composed):
        return np.asarray(np.sum([times * renyi(part, orders) for part, times in loss.counted], axis=0))
    if isinstance(loss, Parallel):
        parts = np.sort([renyi(part, orders) for part in loss.losses], axis=0)
        return np.asarray(parts[-parts_touched(loss) :].sum(axis=0))
    nothing = getattr(loss, "epsilon", None) == 0 or getattr(loss, "rho", None) == 0
    return _divergence(loss, orders) if nothing else np.maximum(_divergence(loss, orders), SMALLEST)


def choose_orders(orders: Sequence[float] | Floats) -> Floats:
    """The Rényi orders that a caller asked for, checked and sorted."""
    chosen = np.unique(np.asarray(orders, float))
    if not len(chosen) or not np.isfinite(chosen).all() or chosen[0] <= 1:
        raise InvalidArgument("orders must be finite numbers above 1, at least one of them")
    return chosen


def simple_epsilon(divergences: Floats, orders: Floats, delta: float) -> Floats:
    """The simple conversion at each order: D_a + ln(1/delta)/(a - 1).     [Mironov 2017, Prop. 3]"""
    return np.asarray(np.maximum(divergences - np.log(delta) / (orders - 1), 0))


def improved_epsilon(divergences: Floats, orders: Floats, delta: float) -> Floats:
    """The epsilon at each order by the tighter conversion from Rényi divergence.

    D_a + ln(1 - 1/a) - ln(delta a)/(a - 1)                          [Canonne, Kamath and Steinke 2020, Prop. 12]
    """
    bound = divergences + np.log1p(-1 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1)
    return np.asarray(np.maximum(bound, 0))


def simple_delta(divergences: Floats, orders: Floats, epsilon: float) -> Floats:
    """The delta of the simple conversion at each order."""
    return _delta((orders - 1) * (divergences - epsilon), divergences, orders, epsilon)


def improved_delta(divergences: Floats, orders: Floats, epsilon: float) -> Floats:
    """The delta at each order by the tighter conversion: exp((a-1)(D_a - epsilon)) (1 - 1/a)^(a-1) / a."""
    exponent = (orders - 1) * (divergences - epsilon + np.log1p(-1 / orders)) - np.log(orders)
    return _delta(exponent, divergences, orders, epsilon)


def _delta(exponent: Floats, divergences: Floats, orders: Floats, epsilon: float) -> Floats:
    """The delta of an exponent, with what its sum may have lost; never zero, which would read as pure."""
    rounding = 8 * UNIT_ROUNDOFF * ((orders - 1) * (divergences + epsilon + 1) + 1)
    return np.maximum(np.exp(np.minimum(exponent + rounding, 0)), SMALLEST)


def gaussian_noise(loss: Loss) -> float | None:
    """The noise multiplier of the one Gaussian equivalent to a composition of Gaussians; None if a part is not one."""
    parts = list(loss.parts())
    if not all(isinstance(part, Gaussian) for part, _ in parts):
        return None
    precision = sum(times / part.noise**2 for part, times in parts if isinstance(part, Gaussian))
    return math.sqrt(1 / precision)


def _divergence(loss: Loss, orders: Floats) -> Floats:
    if isinstance(loss, Gaussian | DiscreteGaussian | ZeroConcentrated | NormalShift):
        return orders * _rho(loss)
    if isinstance(loss, Pure | Approximate):
        return _two_point(float(loss.epsilon), orders)
    if isinstance(loss, BoundedRange):
        return np.minimum(orders * float(loss.epsilon) ** 2 / 8, _two_point(float(loss.epsilon), orders))
    if isinstance(loss, Laplace):
        return _laplace(float(loss.sensitivity / loss.scale), orders)
    if isinstance(loss, DiscreteLaplace):
        return _discrete_laplace(float(loss.scale), loss.sensitivity, orders)
    if isinstance(loss, Sampled):
        return _sampled_divergence(loss, orders)
    if isinstance(loss, RenyiBounded):
        return np.where(orders <= float(loss.order), float(loss.divergence), np.inf)
    if isinstance(loss, BestOf):
        return _best_divergence(loss, orders)
    raise NotPrivate(f"{type(loss).__name__} has no Rényi divergence that is proved")


def _rho(loss: Gaussian | DiscreteGaussian | ZeroConcentrated | NormalShift) -> float:
    """What every order is multiplied by: the divergence of normal laws, and of what obeys their bound."""
    if isinstance(loss, Gaussian):
        return float(1 / (2 * loss.noise**2))
    if isinstance(loss, DiscreteGaussian):
        return float(loss.squared_sensitivity / (2 * loss.variance))
    return float(loss.rho if isinstance(loss, ZeroConcentrated) else loss.squared_shift / 2)


def _sampled_divergence(loss: Sampled, orders: Floats) -> Floats:
    noise, rate = gaussian_noise(loss.loss), max(float(loss.rate), LEAST_RATE)
    if noise is not None and loss.scheme is Scheme.POISSON and loss.loss.neighbours is ADD_OR_REMOVE_ONE:
        if loss.neighbours is REPLACE_ONE:
            return replaced_gaussian_rdp(rate, noise, orders)
        return sampled_gaussian_rdp(rate, noise, orders)
    require_amplification(loss)
    if loss.scheme is Scheme.SHUFFLED or rate == 1:
        return renyi(loss.loss, orders)
    try:
        whole = basic(loss.loss)[0]
    except NotPrivate as error:
        raise NotPrivate(
            f"{loss.scheme} sampling of {type(loss.loss).__name__}: no Rényi bound is proved; ask by='pld'"
        ) from error
    if loss.scheme is Scheme.POISSON:
        return _sampled_two_point(float(whole), rate, orders)
    return _two_point(float(amplify(loss, whole)), orders)


def _best_divergence(loss: BestOf, orders: Floats) -> Floats:
    """The divergence of the best of a random number of runs; the second order b may be any: the best of many is taken.

    D_a + (1 + shape) min_b ((1 - 1/b) D_b + ln(1/stop)/b) + ln E[K]/(a - 1)   [Papernot & Steinke 2022, Theorem 2]

    Divergences grow with the order: the bound of a higher one, where it is less, holds too.
    """
    log_stop = math.log(loss.stop.denominator) - math.log(loss.stop.numerator)
    tried = np.union1d(ORDERS, orders)
    run = renyi(loss.loss, tried)
    second = (1 - 1 / tried) * run + log_stop / tried
    least = (1 + loss.shape) * min(float(second.min()), log_stop)  # at b = 1 nothing of the run is left
    found = (run + least + math.log(max(loss.mean, 1.0)) / (tried - 1)) * (1 + 16 * UNIT_ROUNDOFF)
    general = np.minimum.accumulate(found[::-1])[::-1][np.searchsorted(tried, orders)]
    try:
        return np.minimum(general, _two_point(float(basic(loss)[0]), orders))
    except NotPrivate:
        return general


def _two_point(epsilon: float, orders: Floats) -> Floats:
    """The law that dominates every pure epsilon: losses +-epsilon.     [Kairouz, Oh & Viswanath 2015, Theorem 3.2]"""
    top = epsilon - np.logaddexp(0, epsilon)
    terms = np.stack([top + (orders - 1) * epsilon, top - epsilon - (orders - 1) * epsilon])
    exact = _with_rounding(np.logaddexp(*terms), epsilon, orders)
    return np.minimum(exact, orders * epsilon**2 / 2)  # below the rounding of a tiny epsilon this is closer


def _sampled_two_point(epsilon: float, rate: float, orders: Floats) -> Floats:
    """The same behind a Poisson sample, the worse of being present or absent."""
    likely, rare = -np.logaddexp(0, -epsilon), -np.logaddexp(0, epsilon)
    up = np.logaddexp(np.log1p(-rate), np.log(rate) + epsilon)
    down = np.log1p(rate * np.expm1(-epsilon))
    present = np.logaddexp(rare + orders * up, likely + orders * down)
    absent = np.logaddexp(rare + (1 - orders) * up, likely + (1 - orders) * down)
    return _with_rounding(np.maximum(present, absent), epsilon, orders)


def _laplace(epsilon: float, orders: Floats) -> Floats:
    """ln(a/(2a-1) e^((a-1) epsilon) + (a-1)/(2a-1) e^(-a epsilon)) / (a-1)        [Mironov 2017, Prop. 6]"""
    log_odd = np.log(2 * orders - 1)
    first = np.log(orders) - log_odd + (orders - 1) * epsilon
    second = np.log(orders - 1) - log_odd - orders * epsilon
    return _with_rounding(np.logaddexp(first, second), epsilon, orders)


def _discrete_laplace(scale: float, sensitivity: int, orders: Floats) -> Floats:
    """The sum over the values that tell the two apart: below 0, each of 1 ... s-1, and from s on."""
    losses, masses = discrete_laplace_atoms(scale, sensitivity)
    log_moment = special.logsumexp((orders - 1)[:, None] * losses + np.log(masses), axis=1)
    return _with_rounding(log_moment, sensitivity / scale, orders)


def _with_rounding(log_moment: Floats, epsilon: float, orders: Floats) -> Floats:
    """The Rényi divergence of a log-moment, rounded up by the largest floating-point error of the log-moment."""
    return (np.maximum(log_moment, 0) + 16 * UNIT_ROUNDOFF * (1 + orders * epsilon)) / (orders - 1)


def discrete_laplace_atoms(scale: float, sensitivity: int) -> tuple[Floats, Floats]:
    """The privacy losses of discrete Laplace noise at a sensitivity, in rising order, and their masses."""
    inner = np.arange(1, sensitivity)
    below = 1 / (1 + np.exp(-1 / scale))
    above = np.exp(-(sensitivity - 1) / scale) / (1 + np.exp(1 / scale))
    masses = np.concatenate([[below], np.tanh(0.5 / scale) * np.exp(-inner / scale), [above]])
    losses = np.concatenate([[sensitivity], sensitivity - 2.0 * inner, [-sensitivity]]) / scale
    return losses[::-1], masses[::-1]
