"""The clipped sum of a batch in which a sample may raise an error: that sample counts as zero, and no other moves."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from bruit.deep.checks.isolation import NO_ROOM
from bruit.deep.checks.model_state import ModelState
from bruit.deep.per_sample.ghost_clipping import Engine
from bruit.deep.per_sample.random_state import RandomState
from bruit.deep.training.dataset import Part

Seen = Callable[[Part], Part]
"""From the records of a part to what the model is shown of them, such as random views."""


def without_views(part: Part) -> Part:
    """The part as it is."""
    return part


def sum_of_computable(
    engine: Engine, part: Part, seen: Seen, unclipped: list[Tensor] | None = None
) -> dict[str, Tensor]:
    """Σ_b weight_b · clip(g_b) over the samples that raise no error by themselves, as `Engine.clipped_sum` gives it.

    Model, loss and views were tried on made-up samples before the charge; what still fails does so at a record, and
    neither an error nor a missing step may tell of it. Where the batch fails, each sample is computed again in a batch
    of its copies, as large as before, of which the one at its place counts, from the state of the model and of all
    generators that the batch began with: whether it fails is then its own affair, and moves the sum by no more than the
    bound. What a pass leaves behind in them is that of a batch of zeros.                           [docs/rules.md 2]
    """
    start, counted = _Start(engine, part), len(unclipped or ())
    try:
        return _sum(engine, seen(part), unclipped)
    except NO_ROOM:
        raise
    except Exception:  # which record fails is private
        if unclipped is not None:
            del unclipped[counted:]
    totals: dict[str, Tensor] = {}
    for place in range(len(part.weights)):
        start.restore()
        for name, gradient in _alone(engine, _copies(part, place), seen, unclipped).items():
            totals[name] = totals[name].add_(gradient) if name in totals else gradient
    start.restore()
    nothing = Part(tuple(map(torch.zeros_like, part.inputs)), torch.zeros_like(part.targets), 0 * part.weights)
    _alone(engine, nothing, seen, None)
    return totals


class _Start:
    """The model's attributes and the generators at the beginning of a pass."""

    def __init__(self, engine: Engine, part: Part) -> None:
        self._model, self._draws = ModelState(engine.model), RandomState(part.targets.device)

    def restore(self) -> None:
        self._model.restore()
        self._draws.restore()


def _copies(part: Part, place: int) -> Part:
    """The rows of one sample in the place of everybody's; only those at its own place have a weight."""
    count = len(part.weights)
    rows = len(part.targets) // count
    own = slice(place * rows, (place + 1) * rows)
    inputs = tuple(torch.cat([each[own]] * count) for each in part.inputs)
    weights = torch.zeros_like(part.weights)
    weights[place] = part.weights[place]
    return Part(inputs, torch.cat([part.targets[own]] * count), weights)


def _alone(engine: Engine, part: Part, seen: Seen, unclipped: list[Tensor] | None) -> dict[str, Tensor]:
    """The clipped gradient of one sample; nothing where it fails."""
    try:
        return _sum(engine, seen(part), unclipped)
    except NO_ROOM:
        raise
    except Exception:
        return {}


def _sum(engine: Engine, part: Part, unclipped: list[Tensor] | None) -> dict[str, Tensor]:
    return engine.clipped_sum(part.inputs, part.targets, part.weights, unclipped)
