"""Tests on invented batches whether one sample's result depends on the others, before any data is read."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from bruit.deep.checks.model_state import ModelState, attributes_of
from bruit.deep.per_sample.random_state import RandomState
from bruit.deep.per_sample.rules.embedding import only_known_rows
from bruit.errors import NotPrivate

WATCHED = 2
"""The place of the sample that is watched: there are others before it and after it."""

BATCH, LARGER = 5, 7
"""Two sizes of a batch: what one sample is described must not depend on how many there are."""

OTHERS: tuple[Callable[[Tensor], Tensor], ...] = (torch.zeros_like, torch.ones_like, lambda places: places % 2)
"""Contents of the other samples; zeros and ones are valid class and word indices in any model."""

EQUAL_SHAPES, OTHER_SHAPES = 2.0**-7, 2.0**-6
"""Relative tolerances for rounding (two and four units of bfloat16), for batches of equal and of different sizes."""

NOTHING = 2.0**-20
"""How far apart two computed zeros may be when batch sizes differ."""

SWITCHES = (bool, int, float, str)
"""Types of attributes that code may branch on; of others it is noted which object they are."""

Described = Callable[[list[Tensor]], Sequence[Tensor]]
"""A function from a batch to the results of its watched sample."""

Watched = Callable[[list[Tensor], int], Sequence[Tensor]]
"""A function from a batch and the position of the watched sample to that sample's results."""


def require_separate(model: nn.Module, describe: Described, parts: Sequence[Tensor], what: str) -> None:
    """Refuses a function whose result for one sample changes with the values or the number of the others.

    `parts` have the shapes and types of a batch; their values are not looked at. Equal draws are given to every batch,
    and dropout layers, which mix nothing, stand still. What then gives something else for the same batch has a memory
    of what came before, or cannot be told from what has one.
    """
    if parts[0].is_meta:  # shapes without values
        return

    def tell(other: int, batch: int = BATCH, seed: int = 0) -> Sequence[Tensor]:
        draws = equal_draws(parts[0].device, seed), _equal_own_draws(model, seed)
        with draws[0], draws[1], _without_dropout(model), only_known_rows(model):
            return [each.detach() for each in describe(invented_batch(parts, batch, other))]

    start = ModelState(model)
    first = tell(0)
    if _differ(first, tell(0)):
        start.restore()
        if not _differ(first, tell(0)):  # kept in the model, which every step puts back
            return
        raise NotPrivate(
            f"{what} of a sample differs when it is computed twice with the same random draws: something is kept from "
            "batch to batch outside the model, where one sample meets what others left. Compute every "
            "sample from itself, the parameters and the draws of torch, NumPy and Python alone"
        )
    mixes = any(_differ(first, tell(other)) for other in range(1, len(OTHERS)))
    if not mixes and not _differ(first, tell(0, seed=1)):  # draws would depend on the size
        mixes = _differ([_concatenate(first)], [_concatenate(tell(0, LARGER))], OTHER_SHAPES, NOTHING)
    if mixes:
        raise mixing(what)


def are_separate(model: nn.Module, describe: Watched, parts: Sequence[Tensor], batch: int) -> bool:
    """Whether a sample's result is unchanged by the other samples and by its position in a batch of this size.

    What is random beyond torch's own numbers cannot be compared, and counts as not separate.
    """
    places = sorted({0, batch // 2, batch - 1})

    def tell(other: int, watched: int) -> Sequence[Tensor]:
        with equal_draws(parts[0].device, 0), _without_dropout(model), only_known_rows(model):
            return [each.detach() for each in describe(invented_batch(parts, batch, other, watched), watched)]

    for watched in places:
        first = tell(0, watched)
        if any(_differ(first, tell(other, watched)) for other in range(len(OTHERS))):
            return False
    return True


def mixing(what: str) -> NotPrivate:
    """The error for a model that mixes the samples of a batch."""
    return NotPrivate(
        f"{what} of one sample moves with the other samples of its batch, or with their number, so that one record "
        "moves what the others add: compute every sample from itself alone, without a mean, a norm, a ranking or a "
        "comparison over the batch (dimension 0), and do not divide by its size"
    )


def invented_batch(parts: Sequence[Tensor], batch: int, other: int, watched: int = WATCHED) -> list[Tensor]:
    """A made-up batch; its watched sample is always a ramp (floats) or 1, 0, 1, … (integers), `other` sets the rest."""
    found = []
    for part in parts:
        places = torch.arange(part.shape[1:].numel(), device=part.device).view(part.shape[1:])
        made = OTHERS[other](places).to(part.dtype).repeat(batch, *[1] * places.dim())
        made[watched] = places / max(places.numel() - 1, 1) if part.is_floating_point() else (places + 1) % 2
        found.append(made)
    return found


def zeros_of(part: Tensor, batch: int) -> Tensor:
    """A batch of zeros with the sample shape, dtype and device of a given one."""
    return torch.zeros((batch, *part.shape[1:]), dtype=part.dtype, device=part.device)


def layer_modes(model: nn.Module) -> tuple[object, ...]:
    """What a user may switch between two steps: each layer's mode and hooks, and attributes of layers of their own."""
    return tuple(map(_mode, model.modules()))


def _mode(layer: nn.Module) -> tuple[object, ...]:
    kept = (layer._forward_hooks, layer._forward_pre_hooks, layer._backward_hooks)
    hooks = [hook for each in kept if each for hook in each.values()]
    own = {} if type(layer).__module__.startswith("torch.nn.") else attributes_of(layer)
    values = (value if isinstance(value, SWITCHES) else id(value) for value in own.values())
    return (id(layer), layer.training, *map(id, hooks), *own, *values)


def _differ(one: Sequence[Tensor], other: Sequence[Tensor], room: float = EQUAL_SHAPES, least: float = 0.0) -> bool:
    """Whether some tensor has moved by more than rounding."""
    return len(one) != len(other) or any(_has_moved(*pair, room, least) for pair in zip(one, other, strict=True))


def _concatenate(described: Sequence[Tensor]) -> Tensor:
    """All tensors as one flat float64 tensor, so that moves are judged against its largest number."""
    return torch.cat([each.double().flatten() for each in described]) if described else torch.empty(0)


def _has_moved(one: Tensor, other: Tensor, room: float, least: float) -> bool:
    if one.shape != other.shape or not torch.equal(one.isfinite(), other.isfinite()):
        return True
    one, other = one[one.isfinite()].double(), other[one.isfinite()].double()
    if one.numel() == 0:
        return False
    return bool((one - other).abs().max() > least + room * torch.maximum(one.abs(), other.abs()).max())


@contextmanager
def equal_draws(device: torch.device, seed: int = 0) -> Iterator[None]:
    """Seeds the draws of torch, NumPy and Python while the context is open, and restores their state afterwards."""
    before = RandomState(device)
    try:
        _seed_torch(device, seed)
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        yield
    finally:
        before.restore()


def _seed_torch(device: torch.device, seed: int) -> None:
    """Seeds the generators whose state is put back; for others torch would note, each time, where it was called."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)


@contextmanager
def _equal_own_draws(model: nn.Module, seed: int) -> Iterator[None]:
    """Seeds the generators that layers hold as attributes, and restores their state afterwards."""
    held = [value for layer in model.modules() for value in attributes_of(layer).values()]
    torchs = [(each, each.get_state()) for each in held if isinstance(each, torch.Generator)]
    numpys = [(each.bit_generator, each.bit_generator.state) for each in held if isinstance(each, np.random.Generator)]
    try:
        for generator, _ in torchs:
            generator.manual_seed(seed)
        for bits, _ in numpys:
            bits.state = type(bits)(seed).state
        yield
    finally:
        for generator, state in torchs:
            generator.set_state(state)
        for bits, kept in numpys:
            bits.state = kept


@contextmanager
def _without_dropout(model: nn.Module) -> Iterator[None]:
    layers = [layer for layer in model.modules() if isinstance(layer, _DropoutNd) and layer.training]
    between = {layer: layer.dropout for layer in model.modules() if isinstance(layer, nn.RNNBase)}
    try:
        for layer in layers:
            layer.eval()
        for recurrent in between:
            recurrent.dropout = 0.0
        yield
    finally:
        for layer in layers:
            layer.train()
        for recurrent, share in between.items():
            recurrent.dropout = share
