"""`privatise`: DP-SGD for people with a training loop of their own."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption
from bruit.core.neighbours import EACH_ROW
from bruit.deep.losses import cross_entropy
from bruit.deep.noise import INDEPENDENT, Banded
from bruit.deep.noise.sources import Source, source
from bruit.deep.per_sample.clipping import Clipping
from bruit.deep.per_sample.ghost_clipping import Engine
from bruit.deep.per_sample.non_private import PlainEngine
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.adaptive_clip import AdaptiveClip
from bruit.deep.training.dataset import Records
from bruit.deep.training.distributed import ProcessGroup, process_group
from bruit.deep.training.people import People
from bruit.deep.training.preparation import Settings, prepare_engine
from bruit.deep.training.pricing import Paid, checkpoints, pay_run, require_size_of_cell, without_privacy
from bruit.deep.training.training import Training
from bruit.deep.training.views import Views
from bruit.errors import InvalidArgument
from bruit.ledger import Payment, Purchase, ask


def privatise(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    data: Any,
    *,
    budget: Payment,
    epochs: int,
    batch_size: int,
    clip: float | AdaptiveClip,
    loss: Loss = cross_entropy,
    size: int | None = None,
    person: Any = None,
    records_per_person: int | None = None,
    views: Views | None = None,
    example: Any = None,
    assume_separate: bool = False,
    clipping: Clipping = Clipping.FLAT,
    correlation: Banded = INDEPENDENT,
    at_once: int | None = None,
    precision: torch.dtype | None = None,
    compiled: bool = False,
    strong_noise: bool = False,
    checkpoint: str | Path | None = None,
    every: int | None = None,
    processes: Any = None,
    rng: np.random.Generator | None = None,
) -> Training:
    """Charges a DP-SGD run and returns its `Training`, to be used as `for batch in training: training.step(batch)`.

    `size` is the public size of the data set; without it that of `data` is taken, and the guarantee assumes that it is
    public; the budget of a cell of a partition needs it. `loss` gives one number for each sample. `person` says whose
    each record is: people are then sampled, `batch_size` and `size` count people, the mean gradient of at most
    `records_per_person` of a person's records is clipped, and the book protects the person. `views` averages several
    random views of a record before clipping. `example` has the shapes of a record of a Dataset, which is not read
    before the charge. A model that is not proved to keep its samples apart is computed sample by sample;
    `assume_separate=True` computes it together after an examination, and the guarantee says so.
    `correlation=Banded(...)` lets the steps take back part of each other's noise. `at_once` bounds how many samples are
    in memory together. `compiled` compiles the step. `checkpoint` is a file that the training goes on from if it is
    there, written every `every` steps (an epoch). `processes` is a torch.distributed group that trains together (True:
    all), each with the same data; the first process pays, and the others give no budget.
    `budget=bruit.WITHOUT_PRIVACY` trains plainly.
    """
    _require_banded(correlation, clip)
    batch_size, epochs = whole(batch_size, "batch_size"), whole(epochs, "epochs")
    size = None if size is None else whole(size, "size", why="the public number of records, or left out")
    group = process_group(processes, alone=isinstance(clip, AdaptiveClip))
    settings = Settings(clip, clipping, at_once, precision, compiled, assume_separate)
    records = _records(data, person, records_per_person, example)
    group.require_same((len(records), size, batch_size, epochs, settings, correlation), "data or settings")
    private = group.once(lambda: _purchase(budget, size, rng, person) is not None)
    engine = _engine(model, records, loss, settings, views, batch_size / group.world_size if private else None)
    require_own_parameters(model, optimiser)
    epoch = -(-(size or len(records)) // batch_size)
    files = checkpoints(checkpoint, every, steps_of_epoch=epoch, bands=correlation.bands) if private else None
    if private:
        paid = pay_run(
            _purchase(budget, size, rng, person) if group.is_rank_zero else None,
            size or len(records),
            batch_size=batch_size,
            epochs=epochs,
            correlation=correlation,
            files=files,
            taken=_taken_for_granted(engine, public_size=size is None),
            group=group,
        )
    else:
        paid = without_privacy(size or len(records), batch_size=batch_size, epochs=epochs)
    _restore(paid, model, optimiser, group, adapts=settings.adaptive is not None)
    stream = _stream(rng, paid, next(model.parameters()).device, strong=strong_noise)
    return Training(
        engine=engine,
        optimiser=optimiser,
        records=records,
        planned=paid,
        stream=stream if group.is_rank_zero else None,
        at_once=at_once,
        views=views,
        adaptive=settings.adaptive,
        correlation=correlation,
        checkpoints=files,
        group=group,
    )


def _engine(
    model: nn.Module, records: Records, loss: Loss, settings: Settings, views: Views | None, expected: float | None
) -> Engine | PlainEngine:
    """The engine for batches that are expected to have so many samples; plain where nothing is expected."""
    if expected is None:
        return PlainEngine(model, loss, settings.precision)
    return prepare_engine(model, records, loss, settings, views=views, batch=settings.usual_part(expected))


def _records(data: Any, person: Any, most: int | None, example: Any) -> Records:
    """The records, or the people who own them."""
    if person is None:
        if most is not None:
            raise InvalidArgument("records_per_person= is for people who own several records: give person= too")
        return Records(data, example=example)
    if most is None:
        raise InvalidArgument("person= needs records_per_person=, the most records of one person that count in a step")
    return People(data, person, most, example=example)


def _taken_for_granted(engine: Engine | PlainEngine, *, public_size: bool) -> set[Assumption]:
    """What the guarantee will assume of the data's size and of the model."""
    assumed = isinstance(engine, Engine) and engine.isolation is not None and engine.loops
    said = {Assumption.PUBLIC_SIZE: public_size, Assumption.SAMPLES_APART: assumed}
    return {each for each, applies in said.items() if applies}


def _purchase(budget: Payment, size: int | None, rng: np.random.Generator | None, person: Any) -> Purchase | None:
    """What is bought, for each record or for people who own several."""
    purchase = ask(budget, what="deep.train", person=EACH_ROW if person is None else None, rng=rng, exact=True)
    if purchase is not None:
        require_size_of_cell(purchase, size)
    return purchase


def _require_banded(correlation: Banded, clip: float | AdaptiveClip) -> None:
    if not isinstance(correlation, Banded):
        raise InvalidArgument(
            f"correlation={correlation!r}: give bruit.deep.Banded(bands=...); how much there is the budget says"
        )
    if isinstance(clip, AdaptiveClip) and correlation.bands > 1:
        raise InvalidArgument(
            "a clip that adapts is for independent noise: give clip= a number, or leave correlation= out"
        )


def _stream(rng: np.random.Generator | None, paid: Paid, device: torch.device, *, strong: bool) -> Source:
    """The source of a stretch of steps, by the entry that paid for it."""
    entry = paid.charge.number if paid.charge is not None else 0
    return source(rng, entry=entry, stretch=paid.start, device=device, strong=strong)


def _restore(
    paid: Paid, model: nn.Module, optimiser: torch.optim.Optimizer, group: ProcessGroup, *, adapts: bool
) -> None:
    """Loads the state of a checkpoint, and copies rank 0's model to all processes."""
    if paid.state is not None:
        if adapts and "bound" not in paid.state:
            raise InvalidArgument(
                "the checkpoint is of a training whose clip does not adapt: give clip= a number, or start again with "
                "another file"
            )
        model.load_state_dict(paid.state["model"])
        optimiser.load_state_dict(paid.state["optimiser"])
    group.broadcast(model.state_dict().values())


def require_own_parameters(model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """Refuses an optimiser that holds parameters outside the model, since these would be trained without noise.

    One that wants a closure for its step would read the data again.
    """
    asked = signature(optimiser.step).parameters.values()
    if any(
        each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in asked
    ):
        raise InvalidArgument(
            f"the step of {type(optimiser).__name__} asks for a closure, which would read the data again unpaid: give "
            "an optimiser that steps by the gradients it finds, such as torch.optim.SGD or torch.optim.Adam"
        )
    own = set(model.parameters())
    if not all(parameter in own for each in optimiser.param_groups for parameter in each["params"]):
        raise InvalidArgument("the optimiser holds parameters that are not the model's: give it model.parameters()")
