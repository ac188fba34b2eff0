"""Zero-concentrated DP (zCDP): one number, rho, that adds up even when questions depend on earlier answers."""

import math
from collections.abc import Callable
from fractions import Fraction

from scipy import optimize

from bruit.core.best_of import BestOf
from bruit.core.losses import (
    Approximate,
    BoundedRange,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Loss,
    NormalShift,
    Pure,
    Sampled,
    Scheme,
    ZeroConcentrated,
)
from bruit.core.numbers import SMALLEST, rounded_up
from bruit.errors import NotPrivate
from bruit.privacy.accounting.composition import amplify, basic, require_amplification, total
from bruit.privacy.accounting.gaussian import UNIT_ROUNDOFF

LEAST_EPSILON, LARGEST_EPSILON, LEAST_DELTA = 1e-12, 1e12, 1e-280
"""Between these an epsilon and a delta are converted into a rho in floating point."""


def zcdp(loss: Loss) -> Fraction:
    """The rho of a loss: its Rényi divergence of every order a is at most rho * a; deltas of parts are left out.

    epsilon^2 / 2 for what is pure [Bun & Steinke 2016, Prop. 1.4]; epsilon^2 / 8 for what has a bounded range
    [Cesar & Rogers 2021]; squared sensitivity / (2 variance) for Gaussian
    noise [Prop. 1.6], discrete or not: for whole shifts the discrete law obeys the same bound in each coordinate, and
    divergences of independent coordinates add, so many entries need no correction
    [Canonne, Kamath and Steinke 2020, Theorem 4].
    The deltas of approximate losses are kept apart: `approximation` adds them.
    """
    return total(loss, _rho)


def concentrated_epsilon(rho: float, delta: float) -> float:
    """The epsilon that rho-zCDP implies at a delta, at the best Rényi order.

    min over a of rho a + ln(1 - 1/a) - ln(delta a)/(a - 1)        [Canonne, Kamath and Steinke 2020, Prop. 12]
    """
    if rho == 0:
        return 0.0

    def bound(log_rest: float) -> float:
        rest = math.exp(log_rest)
        return rho * (1 + rest) - math.log1p(1 / rest) - (math.log(delta) + math.log1p(rest)) / rest

    return max(0.0, _least(bound, math.log(math.sqrt(math.log(1 / delta) / rho))))


def concentrated_delta(rho: float, epsilon: float) -> float:
    """The delta that rho-zCDP implies at an epsilon, at the best Rényi order, rounded up; zero only for rho = 0.

    min over a of exp((a-1)(rho a - epsilon)) (1 - 1/a)^a / (a - 1)  [Canonne, Kamath and Steinke 2020, Prop. 12]
    """
    if rho == 0:
        return 0.0

    def bound(log_rest: float) -> float:
        rest = math.exp(log_rest)
        rounding = 8 * UNIT_ROUNDOFF * (rest * (rho * (1 + rest) + epsilon) + 1)
        return rest * (rho * (1 + rest) - epsilon) - (1 + rest) * math.log1p(1 / rest) - log_rest + rounding

    return max(math.exp(min(0.0, _least(bound, math.log(max(epsilon / (2 * rho), 1e-3))))), SMALLEST)


def _least(bound: Callable[[float], float], centre: float) -> float:
    """The least value found near a centre; any argument is a valid bound, so a missed minimum only costs tightness."""
    best = optimize.minimize_scalar(bound, bounds=(centre - 8, centre + 4), method="bounded", options={"xatol": 1e-10})
    return float(best.fun)


def _rho(loss: Loss) -> Fraction:
    if isinstance(loss, ZeroConcentrated):
        return loss.rho
    if isinstance(loss, NormalShift):
        return loss.squared_shift / 2
    if isinstance(loss, Gaussian):
        return 1 / (2 * loss.noise**2)
    if isinstance(loss, DiscreteGaussian):
        return Fraction(loss.squared_sensitivity) / (2 * loss.variance)
    if isinstance(loss, BoundedRange):
        return loss.epsilon**2 / 8
    if isinstance(loss, Pure | Approximate | Laplace | DiscreteLaplace):
        return basic(loss)[0] ** 2 / 2
    if isinstance(loss, Sampled):
        return _sampled_rho(loss)
    if isinstance(loss, BestOf):
        return _best_rho(loss)
    raise NotPrivate(f"{type(loss).__name__} has no zcdp price that is proved; ask by='pld'")


def _sampled_rho(loss: Sampled) -> Fraction:
    """Half the squared amplified epsilon where there is one, else the rho of the whole (quasi-convexity)."""
    require_amplification(loss)
    whole = zcdp(loss.loss)
    if loss.scheme is Scheme.SHUFFLED:
        return whole
    try:
        pure = basic(loss.loss)[0]
    except NotPrivate:
        return whole
    return min(whole, amplify(loss, pure) ** 2 / 2)


def _best_rho(loss: BestOf) -> Fraction:
    """The rho of the best of several runs: the least divergence at any order bounds those of all lower orders.

    rho + 2 sqrt(rho ln E[K]) + (1 + shape)(2 sqrt(rho ln(1/stop)) - rho), or epsilon^2 / 2 where there is one
                                                                                  [docs/choosing.md, Theorem 3]
    """
    rho = float(zcdp(loss.loss))
    from_runs = rho + 2 * math.sqrt(rho * math.log(max(loss.mean, 1.0)))
    log_stop = math.log(loss.stop.denominator) - math.log(loss.stop.numerator)
    if log_stop >= rho:
        from_best = (1 + loss.shape) * (2 * math.sqrt(rho * log_stop) - rho)
    else:  # the best order would be below one
        from_best = (1 + loss.shape) * log_stop
    general = rounded_up((from_runs + from_best) * (1 + 16 * UNIT_ROUNDOFF)) if rho else Fraction(0)
    try:
        return min(general, basic(loss)[0] ** 2 / 2)
    except NotPrivate:
        return general


def concentrated_price(epsilon: float, delta: float) -> Fraction:
    """The largest rho, rounded down, for which rho-zCDP implies (epsilon, delta)-privacy."""
    if not (LEAST_EPSILON <= epsilon <= LARGEST_EPSILON and LEAST_DELTA <= delta < 1):
        raise NotPrivate(
            f"zcdp computes with an epsilon from {LEAST_EPSILON:g} to {LARGEST_EPSILON:g} and a delta of at least "
            f"{LEAST_DELTA:g} and below one: give others"
        )
    top = epsilon
    if concentrated_epsilon(top, delta) <= epsilon:
        return Fraction(top)
    log_rho = optimize.brentq(lambda x: concentrated_epsilon(math.exp(x), delta) - epsilon, -80.0, math.log(top))
    rho = math.exp(log_rho)
    while rounded_up(concentrated_epsilon(rho, delta)) > epsilon:
        rho *= 1 - 1e-12
    return Fraction(rho)
