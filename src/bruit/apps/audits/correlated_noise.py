"""The audit of training with correlated noise: many canaries, each with a gradient direction of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.audits.case import Case, fresh_budget
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours

EPSILON, DELTA = 2.0, 0.01
SIZE, BATCH, BANDS, EPOCHS = 4, 1, 2, 2
"""Stated size, batch, bands, epochs: of eight steps, four may draw a canary, each with chance one half."""


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """One training of an embedding with one parameter per canary, in which all canaries are present or none.

    Groups, coins and noise of a canary are independent of the others', so every canary is a sample of its own.
    """
    yield Case(
        "deep.train",
        neighbours,
        (0.0 if neighbours is ADD_OR_REMOVE_ONE else -1.0, 1.0),
        partial(scores, neighbours=neighbours),
        claimed=EPSILON,
        delta=DELTA,
        small=20_000,
        full=500_000,
        variant="banded",
    )


def scores(canary: float, samples: int, rng: np.random.Generator, *, neighbours: Neighbours) -> NDArray[np.float64]:
    """The score of each canary, for an attacker who sees the released gradient of every step.

    Of the released gradients y the attacker makes C y, whose noise is independent. The gradient of a canary is 1 or,
    where it was replaced, -1; a canary of 0 is not there.
    """
    import torch

    from bruit.deep import Banded, train

    model, seen = torch.nn.Embedding(samples + 1, 1), list[NDArray[np.float64]]()
    records = torch.arange(samples + 1)[0 if canary else samples :]  # the record of the last row is always there
    train(
        model,
        (records, torch.full((len(records),), canary)),
        budget=fresh_budget(neighbours, EPSILON, DELTA),
        epochs=EPOCHS,
        batch_size=BATCH,
        size=SIZE,
        clip=1.0,
        loss=lambda outputs, targets: 9 * outputs.reshape(len(outputs)) * targets,
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=0.1),
        correlation=Banded(BANDS),
        on_progress=lambda *_: seen.append(_gradient(model)[:samples]),
        rng=rng,
    )
    return column_sums(len(seen)) @ np.array(seen)


def column_sums(steps: int) -> NDArray[np.float64]:
    """The column sums of C, which weigh the released gradients y so that they add up to the sum of C y."""
    from bruit.deep import Banded

    sums = np.cumsum(Banded(BANDS).coefficients(steps))
    weights: NDArray[np.float64] = sums[np.minimum(BANDS, steps - np.arange(steps)) - 1]
    return weights


def _gradient(model: Any) -> NDArray[np.float64]:
    """The released gradient of the table."""
    return np.asarray(model.weight.grad[:, 0].numpy(), np.float64)
