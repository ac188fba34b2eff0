"""The epsilon and delta of the best of a random number of runs, from the privacy profile of one run."""

import math
from fractions import Fraction

from bruit.core.best_of import BestOf
from bruit.core.numbers import rounded_up
from bruit.privacy.pld.distribution import pld_delta, pld_epsilon

HALVINGS = 24
"""How often the interval that holds the price of the tails is halved."""

LOST = 1 + 1e-12
"""More than floats lose in a product."""


def best_epsilon(loss: BestOf, delta: float) -> float:
    """The epsilon of the best run at a delta: that of one run at its share of delta, and what its tails cost."""
    return (pld_epsilon(loss.loss, delta / _mean(loss)) + (1 + loss.shape) * tail_epsilon(loss)) * LOST


def best_delta(loss: BestOf, epsilon: float) -> float:
    """The delta of the best run at an epsilon; 1 where its tails alone cost more."""
    left = epsilon / LOST - (1 + loss.shape) * tail_epsilon(loss)
    return min(1.0, _mean(loss) * pld_delta(loss.loss, left)) if left >= 0 else 1.0


def tail_epsilon(loss: BestOf) -> float:
    """The least epsilon found that bounds how one person moves the chance that no later run is better.

    (1 - stop) delta(epsilon) <= stop (e^epsilon - 1), where delta is that of one run   [docs/choosing.md, Theorem 4]

    Every epsilon that obeys it bounds; it is obeyed at ln(1/stop), since no delta is above 1.
    """
    stop, rest = float(loss.stop), float(1 - loss.stop)

    def enough(epsilon: float) -> bool:
        return rest * pld_delta(loss.loss, epsilon) * LOST <= stop * math.expm1(epsilon)

    if loss.stop == 1:
        return 0.0
    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _mean(loss: BestOf) -> float:
    return float(rounded_up(loss.mean) * Fraction(LOST))
