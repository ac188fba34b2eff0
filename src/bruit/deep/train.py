"""Training a network privately in one call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from bruit.deep.clipping import Clipping
from bruit.deep.correlated import INDEPENDENT, Banded
from bruit.deep.door import privatise
from bruit.deep.examination import trainable
from bruit.deep.fallback import Loss
from bruit.deep.losses import cross_entropy
from bruit.deep.progress import Line
from bruit.errors import InvalidArgument
from bruit.ledger import Payment
from bruit.privacy import Release

Optimiser = Callable[[list[nn.Parameter]], torch.optim.Optimizer]
"""Makes an optimiser of parameters, for instance `lambda p: torch.optim.SGD(p, lr=0.5)`."""


def train(
    model: nn.Module,
    data: Any,
    *,
    budget: Payment,
    epochs: int,
    batch_size: int,
    clip: float,
    loss: Loss = cross_entropy,
    optimiser: Optimiser | torch.optim.Optimizer = torch.optim.Adam,
    size: int | None = None,
    clipping: Clipping = Clipping.FLAT,
    noise: Banded = INDEPENDENT,
    at_once: int | None = None,
    precision: torch.dtype | None = None,
    compiled: bool = False,
    strong_noise: bool = False,
    checkpoint: str | Path | None = None,
    every: int | None = None,
    processes: Any = None,
    on_progress: Callable[[int, int], None] | None = None,
    show_progress: bool = False,
    rng: np.random.Generator | None = None,
) -> Release[nn.Module]:
    """Trains a model in place with DP-SGD, with the least noise that the budget pays for, and releases it.

    The whole run is charged before the data is read. `data` is a Dataset or a tuple of tensors (inputs, targets); it is
    sampled here, about `batch_size` records a step. `on_progress(done, steps)` is called after each step;
    `show_progress` draws a bar on the error stream with the ε of the steps so far. The other arguments are those of
    `privatise`. With `budget=bruit.WITHOUT_PRIVACY` the same loop trains plainly: no clipping,
    no noise, and a release whose ε is infinite.
    """
    training = privatise(
        model,
        _made(optimiser, model),
        data,
        budget=budget,
        epochs=epochs,
        batch_size=batch_size,
        clip=clip,
        loss=loss,
        size=size,
        clipping=clipping,
        noise=noise,
        at_once=at_once,
        precision=precision,
        compiled=compiled,
        strong_noise=strong_noise,
        checkpoint=checkpoint,
        every=every,
        processes=processes,
        rng=rng,
    )
    line = Line(training) if show_progress else None
    for batch in training:
        training.step(batch)
        if line is not None:
            line.update()
        if on_progress is not None:
            on_progress(training.done, training.steps)
    return training.release()


def _made(optimiser: Optimiser | torch.optim.Optimizer, model: nn.Module) -> torch.optim.Optimizer:
    """The optimiser of the model's trainable parameters; `privatise` refuses one of other parameters."""
    if isinstance(optimiser, torch.optim.Optimizer):
        return optimiser
    if not callable(optimiser):
        raise InvalidArgument(
            f"optimiser={optimiser!r} makes no optimiser; give "
            "optimiser=lambda parameters: torch.optim.SGD(parameters, lr=0.5)"
        )
    return optimiser(trainable(model))
