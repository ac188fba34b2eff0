"""Calibrates noise: the least noise whose loss costs at most a given epsilon and delta."""

import math
from collections.abc import Callable
from fractions import Fraction

from bruit.core.losses import Loss
from bruit.core.numbers import Exact, positive
from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy.accountants import Orders, Price, epsilon_price

CLOSE = 1e-3
"""How far below its target, relatively, a calibrated epsilon may lie before the search goes on."""

LOWEST, HIGHEST = math.log(1e-6), math.log(1e12)
DIGITS = 6


def calibrate(
    loss: Callable[[Fraction], Loss], *, epsilon: Exact, delta: Exact, by: str = "pld", orders: Orders = None
) -> Fraction:
    """The least noise (within 0.1 %) whose loss costs at most the given epsilon at delta.

    `loss` makes the loss of a noise, for instance `lambda noise: Gaussian(noise, neighbours=REPLACE_ONE) * 10`; its
    epsilon must fall as the noise grows. The noise returned has six decimal digits.
    """
    return calibrate_with_price(loss, epsilon=epsilon, delta=delta, by=by, orders=orders)[0]


def calibrate_with_price(
    loss: Callable[[Fraction], Loss], *, epsilon: Exact, delta: Exact, by: str, orders: Orders
) -> tuple[Fraction, Price]:
    """The least noise whose loss costs at most the given epsilon at delta, and what it costs."""
    target = float(positive(epsilon, "epsilon"))
    prices: dict[Fraction, Price] = {}

    def gap(log_noise: float) -> float:
        level = _decimal(log_noise)
        try:
            prices[level] = epsilon_price(loss(level), delta=delta, by=by, orders=orders)
        except NotPrivate as error:
            if log_noise >= HIGHEST:
                raise error
            return math.inf
        return math.log(max(float(prices[level].amount), 1e-300) / target)

    start = 0.0
    if by == "pld":  # Rényi orders answer in a millisecond, and their noise is enough
        try:
            start = math.log(calibrate(loss, epsilon=epsilon, delta=delta, by="rdp"))
        except (NotPrivate, InvalidArgument, ImportError):  # without numba there are no orders; pld needs none
            start = 0.0
    noise = _decimal(_highest_within(gap, *_bracket(gap, start)))
    return noise, prices[noise]


def _bracket(gap: Callable[[float], float], start: float) -> tuple[float, float, float, float]:
    """Two noises between which the target lies: too little first, enough second, each with its gap."""
    low = high = start
    at_low = at_high = gap(start)
    while at_high > 0:
        low, at_low = high, at_high
        if high >= HIGHEST:
            raise InvalidArgument("no noise reaches this epsilon at this delta: ask for more epsilon or a larger delta")
        high = min(high + math.log(2), HIGHEST)
        at_high = gap(high)
    while at_low < -CLOSE and low > LOWEST:  # epsilon grows at least about as fast as the noise falls
        high, at_high, low = low, at_low, max(low - min(max(-at_low, 0.02), 1.0), LOWEST)
        at_low = gap(low)
    return low, at_low, high, at_high


def _highest_within(gap: Callable[[float], float], low: float, at_low: float, high: float, at_high: float) -> float:
    """The noise whose gap is not above zero and close to it, by false position that halves where that stalls."""
    left = at_low
    while at_high < -CLOSE and high - low > 1e-6 and at_low > 0:
        aim = CLOSE / 2  # a little below the target: landing above it costs another step
        share = (left + aim) / (left - at_high) if math.isfinite(left) else 0.5
        middle = low + (high - low) * min(max(share, 0.05), 0.95)
        found = gap(middle)
        if found > 0:
            low, at_low, left = middle, found, found
        else:
            high, at_high, left = middle, found, left / 2
    return high


def _decimal(log_noise: float) -> Fraction:
    """The noise as a decimal number of a few digits."""
    return Fraction(f"{math.exp(log_noise):.{DIGITS - 1}e}")
