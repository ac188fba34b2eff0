"""Compares summed per-sample gradients with autograd's gradient on made-up data and drops the rules that disagree."""

from __future__ import annotations

import sys
import warnings
from itertools import takewhile
from traceback import walk_stack

import torch
from torch import Tensor, nn

from bruit.deep.checks.isolation import attributes_kept
from bruit.deep.checks.model_structure import Structure, without_rules
from bruit.deep.checks.sample_independence import BATCH, OTHERS, equal_draws, invented_batch
from bruit.deep.per_sample.factored_gradients import is_traced
from bruit.deep.per_sample.ghost_clipping import Engine, require_one_each
from bruit.deep.per_sample.precision import in_precision
from bruit.deep.per_sample.rules.embedding import only_known_rows
from bruit.deep.per_sample.rules.recurrent import not_packed
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.dataset import Part
from bruit.errors import InvalidArgument

ROOM = 2.0**-6
"""Relative room for sums that are rounded otherwise, four steps of bfloat16; a wrong rule is off by far more."""


COMPARED = 1
"""The made-up batch whose sums are compared."""


class TrainedNowhere(UserWarning):
    """Warns that a trainable parameter has no effect on the loss."""


def agreeing_structure(
    model: nn.Module, structure: Structure, loss: Loss, example: Part, precision: torch.dtype | None
) -> Structure:
    """The structure without the rules whose summed gradients differ from autograd's on a made-up batch.

    Where what a layer is given does not fit its rule, as when it sees chosen samples alone, no rule is left.
    """
    if example.targets.is_meta or is_traced(example.targets) or not structure.ruled:
        return structure
    batches = [invented_batch((*example.inputs, example.targets), BATCH, other) for other in range(len(OTHERS))]
    *inputs, targets = batches[COMPARED]
    whole = _autograd(model, loss, tuple(inputs), targets, precision)
    _warn_of_idle(model, structure, whole)
    engine = Engine(model, structure, loss, 1.0, precision=precision)
    try:
        sums = [_summed(engine, batch) for batch in batches][COMPARED]
    except (RuntimeError, InvalidArgument):
        return without_rules(structure, model, structure.names.values())
    wrong = [name for name in structure.names.values() if not _agree(sums.get(name), whole.get(name))]
    return without_rules(structure, model, wrong) if wrong else structure


def _summed(engine: Engine, batch: list[Tensor]) -> dict[str, Tensor]:
    """The sums of the per-sample gradients of a made-up batch."""
    *inputs, targets = batch
    with equal_draws(targets.device), attributes_kept(engine.model):
        found = engine.per_sample_gradients(tuple(inputs), targets)
        return {name: gradients.per_sample().sum(0) for name, gradients in found.items()}


def _autograd(
    model: nn.Module, loss: Loss, inputs: tuple[Tensor, ...], targets: Tensor, precision: torch.dtype | None
) -> dict[str, Tensor]:
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    with (
        equal_draws(targets.device),
        attributes_kept(model),
        only_known_rows(model),
        not_packed(model),
        torch.enable_grad(),
        in_precision(targets.device, precision),
    ):
        losses = loss(model(*inputs), targets)
        require_one_each(losses, len(targets))
        total = losses.sum()
        if not total.requires_grad:
            return {}
        found = torch.autograd.grad(total, list(named.values()), allow_unused=True)  # before buffers are put back
    return {name: each for name, each in zip(named, found, strict=True) if each is not None}


def _agree(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:  # autograd holds nothing where nothing moves
        return other is None and (one is None or not bool(one.any()))
    one, other = one.double(), other.double()
    if not (one.isfinite().all() and other.isfinite().all()):
        return True  # made-up numbers may leave the domain of a model: nothing can be compared
    return bool((one - other).norm() <= ROOM * torch.maximum(one.norm(), other.norm()) + 2.0**-20)


def _warn_of_idle(model: nn.Module, structure: Structure, whole: dict[str, Tensor]) -> None:
    """Warns of parameters outside the graph of the loss, such as adapters that were put nowhere."""
    idle = [name for name in structure.names.values() if name not in whole]
    if idle and whole:
        warnings.warn(
            f"{len(idle)} of the parameters to train do not move the loss, {idle[0]!r} among them: noise alone would "
            f"move them. Set requires_grad_(False) on what {type(model).__name__} does not use",
            TrainedNowhere,
            stacklevel=_level_of_user(),
        )


def _level_of_user() -> int:
    """How far up the stack the first frame outside bruit is, seen from who asks: a warning is about that line."""
    levels = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(sys._getframe(1)))
    return 1 + sum(1 for _ in takewhile(lambda name: name.startswith("bruit."), levels))
