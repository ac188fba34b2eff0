"""The defence of linkage and of traces: noised counts instead of records, and an audit of what they still tell."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from bruit.channels import IntegerNoise
from bruit.core.neighbours import ADD_OR_REMOVE_ONE

DRAWS = {"small": 2000, "full": 200_000}


def tell_member(*, rng: np.random.Generator, epsilon: float, cells: int, draws: int) -> Mapping[str, float]:
    """How much better than guessing the best attack tells whether one person is in counts of `cells` cells each.

    The attacker knows every other record and the cells of the person. The log likelihood ratio of all noises decides,
    and the advantage is the chance of a right alarm less that of a false one, at the best threshold seen. No attack
    does better than (e^ε - 1) / (e^ε + 1).                                        [Kairouz, Oh & Viswanath 2015]
    """
    noise = IntegerNoise.laplace(Fraction(str(epsilon)), sensitivity=cells, neighbours=ADD_OR_REMOVE_ONE)
    drawn = noise.draw(2 * draws * cells, rng=rng).reshape(2, draws, cells)
    heard = drawn + np.array([0, 1])[:, None, None]  # without the person, with the person
    ratio = (np.abs(heard) - np.abs(heard - 1)).sum(axis=2)
    levels = np.unique(ratio)
    without, within = ((ratio[side][:, None] >= levels).mean(axis=0) for side in (0, 1))
    return {"advantage": float((within - without).max()), "bound": float(np.tanh(epsilon / 2))}
