"""The views of a cheating collector (all that it could see), as outputs for audits.

The honest collector verifies, adds up and noises as in a poll; the attacker, the second one, gives its share of the sum
without noise, so that only the honest noise is left between it and the answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.aggregation.circuits import Circuit
from bruit.aggregation.noise import TwoLaplaceNoises
from bruit.aggregation.scheme import Prio3
from bruit.core import Exact

Noise = Callable[[int, np.random.Generator], NDArray[np.int64]]
"""`noise(size, rng)`: what the honest collector adds."""

Views = Callable[[ArrayLike, int, np.random.Generator], NDArray[np.int64]]
"""`views(answers, samples, rng)`: independent views of the same people's answers, one a row."""

KEY: Final = np.zeros(32, np.uint8)
AT_ONCE: Final = 20_000
"""Samples whose shares are in memory at once."""


def views_of_second(circuit: Circuit, noise: Noise) -> Views:
    """Returns a function that draws many views of the second collector, with fresh shares and fresh noise."""
    scheme = Prio3(circuit, b"audit")

    def views(answers: ArrayLike, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        blocks = [min(AT_ONCE, samples - at) for at in range(0, samples, AT_ONCE)]
        return np.concatenate([_views(scheme, np.asarray(answers), size, noise, rng) for size in blocks])

    return views


def full_noise(circuit: Circuit, epsilon: Exact) -> Noise:
    """Returns a function that draws the discrete Laplace noise of one collector at this epsilon."""
    noise = TwoLaplaceNoises.of(circuit, epsilon)
    return lambda size, rng: noise.draw_one(size, rng=rng)


def _views(
    scheme: Prio3, answers: NDArray[np.int64], samples: int, noise: Noise, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Each row: the honest collector's noised total and the attacker's plain one, put together."""
    split = scheme.shard(np.tile(answers, samples), rng=rng)
    checks = [scheme.verify(KEY, role, split.nonces, split.public, split.shares[role]) for role in (0, 1)]
    accepted = scheme.accept(checks)
    shape = (samples, len(answers), scheme.circuit.outputs, 2)
    # One row a person: a sum over rows then adds the people of every sample. An honest report is always accepted.
    people = [(check.outputs * accepted[:, None, None]).reshape(shape).transpose(1, 0, 2, 3) for check in checks]
    rows = [np.ascontiguousarray(each).reshape(len(answers), -1, 2) for each in people]
    honest, own = (scheme.aggregate(each, np.ones(len(answers), np.bool_)) for each in rows)
    return np.array(scheme.unshard([honest, noise(len(honest), rng).tolist(), own]), np.int64).reshape(samples, -1)
