"""Keys found in the data: each is published once its noisy total passes a threshold.

Up to an event of chance δ, a key of one person alone never shows; what shows is then a function of noisy totals of keys
that both neighbours have (docs/continual.md).                       [Korolova et al. 2009; Bun, Nissim & Stemmer 2016]
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp

import numpy as np
from scipy import special

from bruit.continual.noise.buffers import Integers, empty, step
from bruit.continual.plan import StreamPlan, normal_shift, rounding_bound
from bruit.core import ADD_OR_REMOVE_ONE
from bruit.errors import NotPrivate
from bruit.randomness import discrete_gaussian

HALVINGS = 80


def threshold(plan: StreamPlan, delta: Fraction) -> int:
    """The least noisy total at which a key is published: a key of one person alone passes with chance `delta`.

    The largest total of one person, plus the quantile at which the chances over all periods and all cells of a person
    sum to delta. The noise is compared with the normal law, to which rounding adds less than half a unit.
    """
    b = plan.factor.b(plan.periods)
    if rounding_bound(plan.factor, plan.lattice) + float(b.sum()) >= plan.unit / 2:
        raise NotPrivate("the noise is too coarse for keys that nobody listed: give a smaller epsilon or fewer periods")
    times = plan.participation.most(plan.periods)
    people = 1 if plan.neighbours is ADD_OR_REMOVE_ONE else 2
    apart = normal_shift(plan.squared_shift, plan.periods, plan.lattice.sigma, plan.neighbours)
    allowed = float(delta / (people * times * plan.contribution.cells) - apart.far) * exp(-float(apart.near))
    if allowed <= 0:
        raise NotPrivate(f"δ = {float(delta):.3g} is too small for keys that nobody listed")
    deviations = plan.deviation * np.sqrt(np.cumsum(b**2))
    low, high = 0.0, 60 * float(deviations[-1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = float(special.ndtr(-middle / deviations).sum()) <= allowed
        low, high = (low, middle) if enough else (middle, high)
    return times * plan.contribution.largest + ceil(high + 1)


def past_buffers(plan: StreamPlan, periods: int, cells: int, rng: np.random.Generator) -> Integers:
    """Noise buffers for new cells, simulated as if the cells had existed since the first period."""
    buffers = empty(plan.factor, cells)
    for _ in range(periods):
        fresh = discrete_gaussian(plan.lattice.sigma**2, cells, rng=rng)
        buffers, _ = step(plan.factor, plan.lattice.spare, buffers, fresh)
    return buffers
