"""The door to a training for people with a loop of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from bruit.deep.clipping import Clipping
from bruit.deep.correlated import INDEPENDENT, Banded
from bruit.deep.engine import Engine
from bruit.deep.fallback import Loss
from bruit.deep.losses import cross_entropy
from bruit.deep.noise import source
from bruit.deep.payment import Paid, assumed, checkpoints, row_price, settled, without_privacy
from bruit.deep.plain import PlainEngine
from bruit.deep.processes import Team, team
from bruit.deep.records import Records
from bruit.deep.training import Settings, Training, prepared
from bruit.errors import BudgetMissing, InvalidArgument
from bruit.ledger import WITHOUT_PRIVACY, Payment


def privatise(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    data: Any,
    *,
    budget: Payment,
    epochs: int,
    batch_size: int,
    clip: float,
    loss: Loss = cross_entropy,
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
    rng: np.random.Generator | None = None,
) -> Training:
    """Charges a training and gives it to be run: `for batch in training: training.step(batch)`.

    `size` is the public size of the data set; without it that of `data` is taken, and the guarantee assumes that it is
    public; the budget of a cell of a partition needs it. `loss` gives one number for each sample. `noise=Banded(...)`
    lets the steps take back part of each other's noise. `at_once` bounds how many samples are in memory together.
    `compiled` compiles the step. `checkpoint` is a file that the training goes on from if it is there, written every
    `every` steps (an epoch). `processes` is a torch.distributed group that trains together (True: all), each with the
    same data; the first process pays, and the others give no budget. `budget=bruit.WITHOUT_PRIVACY` trains plainly.
    """
    if not isinstance(noise, Banded):
        raise InvalidArgument(f"noise={noise!r}: give bruit.deep.Banded(bands=...); how much there is the budget says")
    together = team(processes)
    settings = Settings(clip, clipping, at_once, precision, compiled)
    records = Records(data)
    together.require_same((len(records), size, batch_size, epochs, settings, noise), "data or settings")
    private = together.once(lambda: _is_private(budget, size))
    engine: Engine | PlainEngine = PlainEngine(model, loss, precision)
    if private:
        engine = prepared(model, records, loss, settings)
    require_own_parameters(model, optimiser)
    steps = -(-(size or len(records)) // batch_size)
    files = checkpoints(checkpoint, every, steps_of_epoch=steps, bands=noise.bands) if private else None
    if private:
        paid = settled(
            row_price(budget, "deep.privatise", size=size) if together.leads else None,
            size or len(records),
            batch_size=batch_size,
            epochs=epochs,
            noise=noise,
            files=files,
            assumes=lambda planned: assumed(planned, size=size, rng=rng),
            team=together,
        )
    else:
        paid = without_privacy(size or len(records), batch_size=batch_size, epochs=epochs)
    _put_back(paid, model, optimiser, together)
    device = next(model.parameters()).device
    entry = paid.charge.number if paid.charge is not None else 0
    stream = source(rng, entry=entry, stretch=paid.start, device=device, strong=strong_noise)
    return Training(
        engine=engine,
        optimiser=optimiser,
        records=records,
        planned=paid,
        charge=paid.charge,
        stream=stream if together.leads else None,
        at_once=at_once,
        noise=noise,
        checkpoints=files,
        together=together,
    )


def _is_private(budget: Payment, size: int | None) -> bool:
    if budget is None:
        raise BudgetMissing("deep.privatise", exact=True)
    if budget is WITHOUT_PRIVACY:
        return False
    row_price(budget, "deep.privatise", size=size)
    return True


def _put_back(paid: Paid, model: nn.Module, optimiser: torch.optim.Optimizer, together: Team) -> None:
    """Puts back the state of a checkpoint, and gives all processes the first one's model."""
    if paid.state is not None:
        model.load_state_dict(paid.state["model"])
        optimiser.load_state_dict(paid.state["optimiser"])
    together.copy(model.state_dict().values())


def require_own_parameters(model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """Refuses an optimiser of another model's parameters, which would be trained without noise."""
    own = set(model.parameters())
    if not all(parameter in own for group in optimiser.param_groups for parameter in group["params"]):
        raise InvalidArgument("the optimiser holds parameters that are not the model's: give it model.parameters()")
