"""The audit of one training run: thousands of canaries at once, each with a gradient direction of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from bruit.apps.audits.case import GaussianCase, fresh_budget
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours

EPSILON, DELTA = 4.0, 1e-7
STEPS = 4
CLIP = 1.0


def cases(neighbours: Neighbours) -> Iterator[GaussianCase]:
    """A full-batch training, which is exactly Gaussian; no case where torch is not installed.

    The noise in one direction is independent of that in the others, so every canary is a sample of its own.
    """
    if find_spec("torch") is None:
        return
    yield GaussianCase(
        "deep.privatise",
        neighbours,
        (np.zeros(1, bool), np.ones(1, bool)),
        partial(_all_alike, run=Run(neighbours)),
        claimed=paid_mu(),
        small=10_000,
        full=1_000_000,
        variant="canaries of one run",
    )


def paid_mu(epsilon: float = EPSILON, at: float = DELTA) -> float:
    """The mu of Gaussian DP that costs epsilon at delta, computed independently of the package's accountant.

    delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)                  [Balle & Wang 2018, Theorem 8]
    """

    def excess(mu: float) -> float:
        near, far = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return float(special.ndtr(near) - np.exp(epsilon) * special.ndtr(far)) - at

    return float(optimize.brentq(excess, 1e-2, 1e2, xtol=1e-9))


@dataclass(frozen=True)
class Run:
    """One private training of an embedding with one parameter per canary."""

    neighbours: Neighbours

    def scores(self, included: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.float64]:
        """The score of each canary, for an attacker who sees the released gradient of every step.

        A canary that is left out is not there, or under replacement stands there with the opposite gradient.
        """
        import torch

        from bruit.deep import privatise

        size = len(included) + 1  # the last row belongs to a record that is always there
        model = torch.nn.Embedding(size, 1)
        records, signs = self._records(included)
        training = privatise(
            model,
            torch.optim.SGD(model.parameters(), lr=0.1),
            (torch.from_numpy(records), torch.from_numpy(signs)),
            budget=fresh_budget(self.neighbours, EPSILON, DELTA),
            epochs=STEPS,
            batch_size=size,
            size=size,
            clip=CLIP,
            loss=lambda outputs, targets: 9 * outputs.reshape(len(outputs)) * targets,
            rng=rng,
        )
        seen = np.zeros(len(included))
        for batch in training:
            training.step(batch)
            seen += _gradient(model)[: len(included)]
        return seen

    def _records(self, included: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The row that each record looks up, and the sign of its gradient."""
        places = np.arange(len(included) + 1)
        there = np.append(included, True)
        if self.neighbours is ADD_OR_REMOVE_ONE:
            places = places[there]
            return places, np.ones(len(places), np.float32)
        return places, np.where(there, 1, -1).astype(np.float32)


def _all_alike(included: NDArray[np.bool_], samples: int, rng: np.random.Generator, *, run: Run) -> NDArray[np.float64]:
    """The scores of one run in which every canary is in, or out."""
    return run.scores(np.repeat(included, samples), rng)


def _gradient(model: Any) -> NDArray[np.float64]:
    """The released gradient of the table."""
    return np.asarray(model.weight.grad[:, 0].numpy(), np.float64)
