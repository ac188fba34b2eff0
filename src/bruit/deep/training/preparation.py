"""Builds the clipping engine of a training and checks it on made-up batches, before anything is charged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import torch
from torch import nn

from bruit.core.arguments import whole
from bruit.deep.checks.autograd_agreement import agreeing_structure
from bruit.deep.checks.isolation import NO_ROOM, Isolation, put_back
from bruit.deep.checks.model_structure import examine, trainable
from bruit.deep.checks.sample_independence import equal_draws
from bruit.deep.per_sample.clipping import Clipping
from bruit.deep.per_sample.factored_gradients import is_traced
from bruit.deep.per_sample.failing_samples import without_views
from bruit.deep.per_sample.ghost_clipping import Engine
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.adaptive_clip import AdaptiveClip
from bruit.deep.training.dataset import EVEN, Part, Records
from bruit.deep.training.views import Views
from bruit.errors import InvalidArgument

DO_NOT_FIT = "do not fit into the memory of"
SMALLER = "give at_once= a smaller number; a batch is then computed in several parts, with the same result"


@dataclass(frozen=True)
class Settings:
    """How a training computes; only `clip`, which the noise scale is proportional to, matters for privacy."""

    clip: float | AdaptiveClip
    clipping: Clipping = Clipping.FLAT
    at_once: int | None = None
    precision: torch.dtype | None = None
    compiled: bool = False
    assume_separate: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.bound < float("inf"):
            raise InvalidArgument(f"clip={self.clip}: give a bound above zero on the norm of one sample's gradient")
        if self.adaptive is not None and (self.clipping is not Clipping.FLAT or self.compiled):
            raise InvalidArgument("a clip that adapts is for flat clipping of steps that are not compiled")
        if self.at_once is not None:
            whole(self.at_once, "at_once", why="the most samples that fit into memory")

    @property
    def adaptive(self) -> AdaptiveClip | None:
        """The adaptive clipping settings, or None for a fixed bound."""
        return self.clip if isinstance(self.clip, AdaptiveClip) else None

    @property
    def bound(self) -> float:
        """The clipping bound at the first step."""
        return self.clip.start if isinstance(self.clip, AdaptiveClip) else self.clip

    def usual_part(self, expected: float) -> int:
        """How many samples are mostly computed at once, of a batch that is expected to have so many."""
        usual = usual_batch(expected)
        return self.at_once or usual if self.compiled else min(self.at_once or usual, usual)


def usual_batch(expected: float) -> int:
    """The expected batch size plus four standard deviations; larger batches are computed in a second part."""
    return -(-int(expected + 4 * sqrt(expected)) // EVEN) * EVEN


def prepare_engine(
    model: nn.Module, records: Records, loss: Loss, settings: Settings, *, views: Views | None = None, batch: int = 2
) -> Engine:
    """The clipping engine of a model, checked on made-up batches with the records' shapes, at last on one of a step's.

    Nothing may be refused after the charge: neither views that fail nor a batch that fits no memory.
    """
    device = trainable(model)[0].device
    seen = without_views if views is None else views.of
    example = records.example(device)
    try:
        with put_back(model, weights=not example.targets.is_meta):
            example = seen(example)
            engine = _examined(model, example, loss, settings)
            if engine.isolation is not None:  # a guarantee that assumes nothing must not rest on a loop at a later step
                engine = replace(engine, loops=not engine.is_isolated(example))
            if engine.isolation is not None and batch > 2:
                with equal_draws(device):
                    whole = seen(records.example(device, batch))
                    engine.clipped_sum(whole.inputs, whole.targets, whole.weights)
    except NO_ROOM as error:
        raise InvalidArgument(f"{batch} samples at once {DO_NOT_FIT} {device}: {SMALLER}") from error
    except (RuntimeError, TypeError, IndexError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(
            f"the model and the loss do not take zeros and ones of the shapes of the data, inputs "
            f"{[tuple(part.shape) for part in example.inputs]} and targets {tuple(example.targets.shape)} of "
            f"{example.targets.dtype}: {error}"
        ) from error
    return engine


def _examined(model: nn.Module, example: Part, loss: Loss, settings: Settings) -> Engine:
    structure = agreeing_structure(model, examine(model, example.inputs), loss, example, settings.precision)
    isolation = None  # shapes without values decide nothing
    if not is_traced(example.targets) and not example.targets.is_meta:
        isolation = Isolation(
            model, structure.ruled, loss, precision=settings.precision, assumed=settings.assume_separate
        )
        isolation.require_no_memory(example.inputs, example.targets)
    kept = (settings.bound, settings.clipping, settings.precision, settings.compiled)
    engine = Engine(model, structure, loss, *kept, isolation=isolation)
    Engine(model, structure, loss, *kept).require_separate((*example.inputs, example.targets))
    engine.sums(example.inputs, example.targets, example.weights)
    return engine
