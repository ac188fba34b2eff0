"""A private training, step by step: what it costs is charged before it starts, and no step is taken beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bruit.deep.checkpoints import Checkpoints, paid_before, reserve, taken
from bruit.deep.clipping import Clipping
from bruit.deep.engine import Engine
from bruit.deep.examination import examine, require_separate_layers, trainable
from bruit.deep.fallback import Loss
from bruit.deep.losses import cross_entropy
from bruit.deep.noise import Source, source
from bruit.deep.records import Records
from bruit.deep.sampling import Batch, PoissonSampler
from bruit.deep.shares import wide
from bruit.errors import BudgetExceeded, InvalidArgument
from bruit.ledger import Budget, Charge, require
from bruit.privacy import Assumption, Plan, Release, epsilon, plan


@dataclass(frozen=True)
class Settings:
    """How a training computes; none of it changes what it costs, except `clip`, which the noise is measured in."""

    clip: float
    clipping: Clipping = Clipping.FLAT
    at_once: int | None = None
    precision: torch.dtype | None = None
    strong_noise: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.clip < float("inf"):
            raise InvalidArgument(f"clip={self.clip}: give a bound above zero on the norm of one sample's gradient")
        if self.at_once is not None and self.at_once < 1:
            raise InvalidArgument(f"at_once={self.at_once}: give the most samples that fit into memory, at least 1")


class Training:
    """A run that was paid for: draws its batches, and takes one noisy step for each.

    θ ← step(θ, (Σ_b clip(g_b) + N(0, σ²C²)) / expected batch)                      [Abadi et al. 2016, Algorithm 1]
    """

    def __init__(
        self,
        *,
        engine: Engine,
        optimiser: torch.optim.Optimizer,
        records: Records,
        planned: Plan,
        charge: Charge,
        stream: Source,
        at_once: int | None,
        checkpoints: Checkpoints | None = None,
        start: int = 0,
    ) -> None:
        self.model, self.engine, self.optimiser, self.records = engine.model, engine, optimiser, records
        self.plan, self.charge, self.stream = planned, charge, stream
        self.at_once = at_once or len(records)
        self.sampler = PoissonSampler(len(records), Fraction(planned.batch_size, planned.size))
        self.checkpoints = checkpoints
        self.done = self._drawn = self._reserved = start
        self._open: Batch | None = None

    @property
    def steps(self) -> int:
        """The steps that are paid for."""
        return self.plan.steps

    def __iter__(self) -> Iterator[Batch]:
        """The batches that are left; give each to `step`."""
        while self._drawn < self.steps:
            self._open = Batch(self._drawn, self.sampler.draw(self.stream.rng))
            self._drawn += 1
            yield self._open

    def step(self, batch: Batch) -> None:
        """One noisy step on a batch that was just drawn; an empty batch gets noise too."""
        self._require_open(batch)
        require_separate_layers(self.model)
        self._open = None
        self._reserve()
        self.done += 1  # before the data is read: a step that fails half-way counts
        totals = self._noise()
        self._add_clipped(batch, totals)
        self.optimiser.zero_grad(set_to_none=True)
        for name, parameter in self._trainable():
            parameter.grad = (totals[name] / self.plan.batch_size).to(parameter.dtype)
        self.optimiser.step()
        if self.done == self.steps or self.done % (self.steps // self.plan.epochs) == 0:
            self._require_finite()

    def epsilon_so_far(self) -> float:
        """What the steps up to now cost, at the δ of the run; all of them are charged already."""
        if self.done == 0:
            return 0.0
        ((each, _),) = self.plan.loss.counted
        return float(epsilon(each * self.done, delta=self.charge.guarantee.delta, by=self.plan.by))

    def release(self) -> Release[nn.Module]:
        """The model as it is now, with what it promises."""
        details = {
            "steps": self.done,
            "noise": self.plan.noise,
            "rate": self.plan.rate,
            "batch_size": self.plan.batch_size,
            "clip": self.engine.bound,
            "clipping": self.engine.how.value,
            "generator": self.stream.name,
        }
        self._write()
        return self.charge.finish(
            Release(value=self.model, guarantee=self.charge.guarantee, method="DP-SGD", details=details)
        )

    def _reserve(self) -> None:
        """Writes a checkpoint and enters the next stretch in the book, where the last one is used up."""
        if self.checkpoints is None or self.done < self._reserved:
            return
        self._write()
        steps = min(self.checkpoints.every, self.steps - self.done)
        reserve(self.charge, self.plan, self.done, steps)
        self._reserved = self.done + steps

    def _write(self) -> None:
        if self.checkpoints is not None:
            state = {"model": self.model.state_dict(), "optimiser": self.optimiser.state_dict()}
            self.checkpoints.write(self.charge, state)

    def _trainable(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, p) for name, p in self.model.named_parameters() if id(p) in self.engine.structure.names]

    def _noise(self) -> dict[str, Tensor]:
        """The noise of one step for every parameter, drawn whether or not the data touches it."""
        scale = self.plan.noise * self.engine.bound
        return {name: self.stream.normal(wide(p.detach())) * scale for name, p in self._trainable()}

    def _add_clipped(self, batch: Batch, totals: dict[str, Tensor]) -> None:
        device = next(self.model.parameters()).device
        try:
            for part in self.records.parts(batch.places, at_once=self.at_once, device=device):
                for name, gradient in self.engine.clipped_sum(part.inputs, part.targets, part.weights).items():
                    totals[name] += gradient
        except torch.OutOfMemoryError as error:
            raise InvalidArgument(
                f"{min(self.at_once, len(self.records))} samples at once do not fit into the memory of {device}: "
                "give at_once= a smaller number; a batch is then computed in several parts, with the same result"
            ) from error

    def _require_open(self, batch: Batch) -> None:
        if self._open is None and self.done >= self.steps:
            raise BudgetExceeded(
                f"the {self.steps} steps that were planned and charged are taken: plan more epochs, or charge again"
            )
        if batch is not self._open:
            raise InvalidArgument("a batch pays for one step: give step() the batch that the training drew last, once")

    def _require_finite(self) -> None:
        """The parameters are private already, so that looking at them tells nothing new."""
        if not all(bool(p.isfinite().all()) for p in self.model.parameters()):
            raise InvalidArgument(
                f"the training diverged within {self.done} steps: parameters are no longer finite; lower the learning "
                "rate. What was charged stays charged"
            )


def privatise(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    data: Any,
    *,
    budget: Budget | None,
    epochs: int,
    batch_size: int,
    clip: float,
    loss: Loss = cross_entropy,
    size: int | None = None,
    clipping: Clipping = Clipping.FLAT,
    at_once: int | None = None,
    precision: torch.dtype | None = None,
    strong_noise: bool = False,
    checkpoint: str | Path | None = None,
    every: int | None = None,
    rng: np.random.Generator | None = None,
) -> Training:
    """Charges a training and gives it to be run: `for batch in training: training.step(batch)`.

    `size` is the public size of the data set; without it that of `data` is taken, and the guarantee assumes that it is
    public. `loss` gives one number for each sample. `at_once` bounds how many samples are in memory together.
    `checkpoint` is a file that the training goes on from if it is there, written every `every` steps (an epoch).
    """
    price = require(budget, "deep.privatise")
    settings = Settings(clip, clipping, at_once, precision, strong_noise)
    records = Records(data)
    engine = prepared(model, records, loss, settings)
    require_own_parameters(model, optimiser)
    planned = planned_run(price, size or len(records), batch_size=batch_size, epochs=epochs)
    files = None
    if checkpoint is not None:
        files = Checkpoints(Path(checkpoint), every if every is not None else planned.steps // epochs)
    assumes = assumed(planned, size=size, rng=rng)
    charge, start = _paid(price, planned, assumes, files, model, optimiser)
    device = next(model.parameters()).device
    return Training(
        engine=engine,
        optimiser=optimiser,
        records=records,
        planned=planned,
        charge=charge,
        stream=source(rng, entry=charge.number, stretch=start, device=device, strong=strong_noise),
        at_once=at_once,
        checkpoints=files,
        start=start,
    )


def _paid(
    price: Budget,
    planned: Plan,
    assumes: tuple[Assumption, ...],
    files: Checkpoints | None,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
) -> tuple[Charge, int]:
    """A new charge, or that of the checkpoint with its state put back and the steps that may have been taken."""
    if files is None or not files.file.exists():
        return price.charge(planned.loss, what="deep.train", assumes=assumes), 0
    state = files.read()
    charge = paid_before(price.ledger, planned, state)
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    return charge, taken(charge)


def prepared(model: nn.Module, records: Records, loss: Loss, settings: Settings) -> Engine:
    """The engine of a model, tried on zeros of the shapes of the records."""
    device = trainable(model)[0].device
    example = records.example(device)
    try:
        structure = examine(model, example.inputs)
        engine = Engine(model, structure, loss, settings.clip, settings.clipping, settings.precision)
        engine.clipped_sum(example.inputs, example.targets, example.weights)
    except (RuntimeError, TypeError, IndexError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(
            f"the model and the loss do not take zeros of the shapes of the data, inputs "
            f"{[tuple(part.shape) for part in example.inputs]} and targets {tuple(example.targets.shape)} of "
            f"{example.targets.dtype}: {error}"
        ) from error
    return engine


def planned_run(price: Budget, size: int, *, batch_size: int, epochs: int) -> Plan:
    """The run with the least noise that the price pays for."""
    book = price.ledger.terms.by
    return plan(
        size=size,
        batch_size=batch_size,
        epochs=epochs,
        delta=price.delta,
        neighbours=price.neighbours,
        target_epsilon=price.epsilon,
        by=price.by or ("pld" if book == "basic" else book),
    )


def assumed(planned: Plan, *, size: int | None, rng: np.random.Generator | None) -> tuple[Assumption, ...]:
    """What the guarantee of a run takes for granted."""
    public = tuple(each for each in planned.assumes if size is None or each is not Assumption.PUBLIC_SIZE)
    return public if rng is None else (*public, Assumption.SEEDED)


def require_own_parameters(model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """Refuses an optimiser of another model's parameters, which would be trained without noise."""
    own = set(model.parameters())
    if not all(parameter in own for group in optimiser.param_groups for parameter in group["params"]):
        raise InvalidArgument("the optimiser holds parameters that are not the model's: give it model.parameters()")
