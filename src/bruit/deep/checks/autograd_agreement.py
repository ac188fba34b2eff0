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
from bruit.deep.checks.sample_independence import BATCH, equal_draws, invented_batch
from bruit.deep.per_sample.factored_gradients import is_traced
from bruit.deep.per_sample.ghost_clipping import Engine
from bruit.deep.per_sample.precision import in_precision
from bruit.deep.per_sample.rules.embedding import only_known_rows
from bruit.deep.per_sample.rules.recurrent import not_packed
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.dataset import Part

ROOM = 2.0**-6
"""Relative room for sums that are rounded otherwise, four steps of bfloat16; a wrong rule is off by far more."""


class TrainedNowhere(UserWarning):
    """Warns that a trainable parameter has no effect on the loss."""


def agreeing_structure(
    model: nn.Module, structure: Structure, loss: Loss, example: Part, precision: torch.dtype | None
) -> Structure:
    """The structure without the rules whose summed gradients differ from autograd's on a made-up batch."""
    if example.targets.is_meta or is_traced(example.targets) or not structure.ruled:
        return structure
    parts = invented_batch((*example.inputs, example.targets), BATCH, 1)
    inputs, targets = tuple(parts[:-1]), parts[-1]
    whole = _autograd(model, loss, inputs, targets, precision)
    _warn_of_idle(model, structure, whole)
    with equal_draws(targets.device), attributes_kept(model):
        try:
            gradients = Engine(model, structure, loss, 1.0, precision=precision).per_sample_gradients(inputs, targets)
        except RuntimeError:  # what a layer was given does not fit its rule
            return without_rules(structure, model, structure.names.values())
        sums = {name: gradients.per_sample().sum(0) for name, gradients in gradients.items()}
    wrong = [name for name in structure.names.values() if not _agree(sums.get(name), whole.get(name))]
    return without_rules(structure, model, wrong) if wrong else structure


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
        total = loss(model(*inputs), targets).sum()
        if not total.requires_grad:
            return {}
        found = torch.autograd.grad(total, list(named.values()), allow_unused=True)  # before buffers are put back
    return {name: each for name, each in zip(named, found, strict=True) if each is not None}


def _agree(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is None or not bool(one.any())  # autograd holds nothing where nothing moves
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
