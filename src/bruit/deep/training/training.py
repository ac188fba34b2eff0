"""A private training, step by step; its whole cost is charged before the first step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bruit.core.release import Outcome, Release
from bruit.deep.checks.isolation import NO_ROOM, put_back
from bruit.deep.checks.model_structure import require_separate_layers
from bruit.deep.noise import INDEPENDENT, Banded, Correlated, Groups, fresh_key
from bruit.deep.noise.sources import Noise, Source, noisy
from bruit.deep.per_sample.failing_samples import sum_of_computable, without_views
from bruit.deep.per_sample.ghost_clipping import Engine
from bruit.deep.per_sample.non_private import PlainEngine
from bruit.deep.training.adaptive_clip import AdaptiveClip
from bruit.deep.training.checkpoints import Checkpoints, reserve
from bruit.deep.training.dataset import EVEN, Part, Records
from bruit.deep.training.distributed import ALONE, ProcessGroup
from bruit.deep.training.one_run import OneRun
from bruit.deep.training.poisson_sampling import Batch, PoissonSampler
from bruit.deep.training.preparation import DO_NOT_FIT, SMALLER, usual_batch
from bruit.deep.training.pricing import Paid, paid_run
from bruit.deep.training.views import Views
from bruit.errors import BudgetExceeded, InvalidArgument
from bruit.ledger import Charge
from bruit.privacy import TrainingPlan, epsilon


class Training(OneRun):
    """A paid run: draws Poisson batches and takes one noisy step for each.

    θ ← step(θ, (Σ_b clip(g_b) + N(0, σ²C²)) / expected batch)                      [Abadi et al. 2016, Algorithm 1]
    """

    def __init__(
        self,
        *,
        engine: Engine | PlainEngine,
        optimiser: torch.optim.Optimizer,
        records: Records,
        planned: TrainingPlan | Paid,
        stream: Source | None,
        charge: Charge | None = None,
        at_once: int | None,
        views: Views | None = None,
        adaptive: AdaptiveClip | None = None,
        correlation: Banded = INDEPENDENT,
        checkpoints: Checkpoints | None = None,
        start: int = 0,
        group: ProcessGroup = ALONE,
    ) -> None:
        self.model, self.engine, self.optimiser, self.records = engine.model, engine, optimiser, records
        self.paid = paid = planned if isinstance(planned, Paid) else paid_run(planned, charge, start)
        self.group, self._stream, self.checkpoints, self.views = group, stream, checkpoints, views
        self.adaptive, self._unclipped, self._counted = adaptive, list[Tensor](), 0
        self.at_once, self._even = at_once or len(records), EVEN
        self._most = at_once or f"about {paid.batch_size}"  # may be told: how many were drawn, or are there, may not
        if isinstance(engine, Engine) and engine.compiled:
            self.at_once = self._even = at_once or usual_batch(paid.batch_size / group.world_size)
        self.sampler = PoissonSampler(len(records), Fraction(paid.bands * paid.batch_size, paid.size))
        self.groups: Groups | None = None
        self.correlated: Correlated | None = None
        if stream is not None and paid.bands > 1:
            key = fresh_key(stream.rng) if paid.state is None else str(paid.state["groups"])
            self.groups = Groups(len(records), paid.bands, key)
            self.correlated = Correlated(stream, correlation.coefficients(paid.steps))
        if adaptive is not None and isinstance(engine, Engine) and paid.state is not None:
            self.engine = replace(engine, bound=float(paid.state["bound"]))
        self.done = self._drawn = self._reserved = paid.start
        self._open: Batch | None = None

    @property
    def steps(self) -> int:
        """The number of steps that are paid for."""
        return self.paid.steps

    @property
    def plan(self) -> TrainingPlan:
        """The plan of the run; an error for a run without privacy."""
        if self.paid.plan is None:
            raise InvalidArgument("a training without privacy has no plan")
        return self.paid.plan

    @property
    def charge(self) -> Charge:
        """The run's charge in the ledger; an error in processes that did not pay."""
        if self.paid.charge is None:
            raise InvalidArgument("this process did not pay: only the first rank of a process group holds the charge")
        return self.paid.charge

    @property
    def stream(self) -> Source:
        """The random source of batches and noise; an error in processes that do not draw."""
        if self._stream is None:
            raise InvalidArgument("this process has no random source: the first rank of a process group draws for all")
        return self._stream

    def __iter__(self) -> Iterator[Batch]:
        """The remaining batches, each to be passed to `step`."""
        while self._drawn < self.steps:
            places = self.group.once(self._draw)
            self._open = Batch(self._drawn, places)
            self._drawn += 1
            yield self._open

    def step(self, batch: Batch) -> None:
        """Takes one noisy step on the batch that was just drawn; an empty batch gets noise too."""
        self._require_open(batch)
        if self.paid.plan is not None:
            require_separate_layers(self.model)
        self._open = None
        self.group.once(self._reserve)
        self.done += 1  # before the data is read: a step that fails half-way counts
        self.optimiser.zero_grad(set_to_none=True)
        with put_back(self.model, weights=self.engine.assumes_apart):  # examined before the charge
            sums = self._clip(batch)
        gradients = self._noisy(sums)
        self._adapt()
        self.group.all_reduce(gradients.values())
        for name, parameter in self._trainable().items():
            parameter.grad = gradients[name].to(parameter.dtype)
        self.optimiser.step()
        if self.done == self.steps or self.done % (self.steps // self.paid.epochs) == 0:
            self._require_finite()

    def epsilon_so_far(self) -> float:
        """The ε of the steps taken so far, at the run's δ; the whole run is already charged."""
        if self.done == 0:
            return 0.0
        if self.paid.plan is None:
            return float("inf")
        ((each, _),) = self.plan.loss.counted
        most = -(-self.done // self.paid.bands)
        return float(epsilon(each * most, delta=self.paid.guarantee.delta, by=self.plan.by))

    def release(self) -> Release[nn.Module]:
        """The current model with its privacy guarantee."""
        self.group.once(self._write)
        method = "SGD without privacy" if self.paid.plan is None else "DP-SGD"
        method += " with correlated noise" if self.paid.bands > 1 else ""
        outcome = Outcome(value=self.model, method=method, details=self._details())
        charge = self.paid.charge
        return outcome.release(self.paid.guarantee) if charge is None else charge.finish(outcome)

    def _details(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "steps": self.done,
            "noise": self.paid.noise,
            "rate": float(self.sampler.rate),
            "batch_size": self.paid.batch_size,
            "bands": self.paid.bands,
            "generator": self._stream.name if self._stream is not None else "that of the first process",
        }
        if isinstance(self.engine, Engine):
            found |= {"clip": self.engine.bound, "clipping": self.engine.how.value}
            found["compiled"] = self.engine.compiled and self.engine.graphs.trouble is None
        return found

    def _reserve(self) -> None:
        """Writes a checkpoint and enters the next stretch in the book, where the last one is used up."""
        if self.checkpoints is None or self.done < self._reserved:
            return
        self._write()
        steps = min(self.checkpoints.every, self.steps - self.done)
        reserve(self.charge, self.plan, self.done, steps, bands=self.paid.bands)
        self._reserved = self.done + steps

    def _write(self) -> None:
        if self.checkpoints is not None:
            state: dict[str, Any] = {"model": self.model.state_dict(), "optimiser": self.optimiser.state_dict()}
            if self.groups is not None:
                state["groups"] = self.groups.key
            if self.adaptive is not None and isinstance(self.engine, Engine):
                state["bound"] = self.engine.bound
            self.checkpoints.write(self.charge, state)

    def _draw(self) -> NDArray[np.int64]:
        """The places of a batch, of the group whose turn it is where there are groups."""
        places = self.sampler.draw(self.stream.rng)
        return places if self.groups is None else self.groups.on_turn(places, self.done)

    def _trainable(self) -> dict[str, nn.Parameter]:
        names = self.engine.names if isinstance(self.engine, PlainEngine) else self.engine.structure.names
        return {name: p for name, p in self.model.named_parameters() if id(p) in names}

    def _clip(self, batch: Batch) -> dict[str, Tensor]:
        """The part of this rank of Σ_b clip(g_b) / expected batch size, for the parameters that the data touches."""
        device, totals = next(self.model.parameters()).device, dict[str, Tensor]()
        own = batch.places[self.group.rank :: self.group.world_size]
        try:
            for part in self.records.parts(
                own, at_once=self.at_once, device=device, even=self._even, step=batch.number
            ):
                for name, gradient in self._part_sums(part).items():
                    totals[name] = totals[name].add_(gradient) if name in totals else gradient
        except NO_ROOM as error:
            raise InvalidArgument(f"{self._most} samples at once {DO_NOT_FIT} {device}: {SMALLER}") from error
        return totals

    def _part_sums(self, part: Part) -> dict[str, Tensor]:
        weighted = replace(part, weights=part.weights / self.paid.batch_size)
        seen = without_views if self.views is None else self.views.of
        if isinstance(self.engine, PlainEngine):
            shown = seen(weighted)
            return self.engine.clipped_sum(shown.inputs, shown.targets, shown.weights)
        if self.adaptive is None:
            return sum_of_computable(self.engine, weighted, seen)
        self._counted += int((part.weights > 0).sum())
        return sum_of_computable(self.engine, weighted, seen, self._unclipped)

    def _adapt(self) -> None:
        """Moves the bound by the noisy share of samples that were not clipped."""
        if self.adaptive is None or not isinstance(self.engine, Engine):
            return
        centred = float(sum(int(each) for each in self._unclipped)) - self._counted / 2
        asked = (self.engine.bound, centred, self.paid.batch_size, self.paid.noise, self.stream.rng)
        self.engine = replace(self.engine, bound=self.adaptive.next_bound(*asked))
        self._unclipped, self._counted = [], 0

    def _noisy(self, sums: dict[str, Tensor]) -> dict[str, Tensor]:
        """The sums with the noise of one step for every parameter, drawn whether or not the data touches it."""
        own = {name: parameter.detach() for name, parameter in self._trainable().items()}
        bound = self.engine.bound if isinstance(self.engine, Engine) else 0.0
        noise = self.paid.noise
        if self.adaptive is not None and noise > 0:
            noise = self.adaptive.gradient_noise(noise, self.paid.batch_size)
        scale = noise * bound / self.paid.batch_size
        stream: Noise | None = self.stream if self.group.is_rank_zero and scale > 0 else None
        if self.correlated is not None:
            stream = self.correlated.at(self.done)
        return noisy(sums, own, stream, scale)

    def _require_open(self, batch: Batch) -> None:
        self.require_own_process()
        if self._open is None and self.done >= self.steps:
            raise BudgetExceeded(
                f"the {self.steps} steps that were planned and charged are taken: plan more epochs, or charge again"
            )
        if batch is not self._open:
            raise InvalidArgument("a batch pays for one step: give step() the batch that the training drew last, once")

    def _require_finite(self) -> None:
        """Refuses parameters that are not finite; they are private already, so looking is free."""
        if not all(bool(p.isfinite().all()) for p in self.model.parameters()):
            raise InvalidArgument(
                f"the training diverged within {self.done} steps: parameters are no longer finite; lower the learning "
                "rate. What was charged stays charged"
            )
