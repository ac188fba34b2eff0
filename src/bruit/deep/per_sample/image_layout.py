"""Images with their channels last in memory: patches are then copied, and maxima taken, in long runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from bruit.deep.checks.model_state import ModelState
from bruit.deep.checks.sample_independence import equal_draws, layer_modes, zeros_of


@contextmanager
def images_last(model: nn.Module) -> Iterator[None]:
    """Converts the images given to convolutions to channels-last layout while the context is open."""
    layers = [layer for layer in model.modules() if type(layer) is nn.Conv2d]
    handles = [layer.register_forward_pre_hook(_last) for layer in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _last(layer: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:  # noqa: ARG001
    """The image as it is to lie, unless it was given by name."""
    with torch._C.DisableTorchFunction():  # this is no call of the model
        if not given or given[0].dim() != 4:
            return given
        image = given[0]
        if image.shape[1] == 1:  # lies either way, and its strides decide how outputs lie
            return (image.reshape(len(image), *image.shape[2:], 1).movedim(-1, 1), *given[1:])
        return (image.contiguous(memory_format=torch.channels_last), *given[1:])


class Layouts:
    """Whether a model on a CPU is computed with channels last, for each of its modes and each shape of a sample."""

    def __init__(self) -> None:
        self._last: dict[tuple[object, ...], bool] = {}

    def is_last(self, model: nn.Module, inputs: Sequence[Tensor]) -> bool:
        """Whether convolutions are given images with channels last; the inputs' values are not looked at."""
        if not inputs[0].is_cpu:
            return False
        key = (layer_modes(model), *((part.shape[1:], part.dtype) for part in inputs))
        if key not in self._last:
            self._last[key] = _gains(model) and _takes_images_last(model, inputs)
        return self._last[key]


def _gains(model: nn.Module) -> bool:
    """Whether a model has convolutions, and no group norm, whose rule reads channel by channel."""
    kinds = {type(layer) for layer in model.modules()}
    return nn.Conv2d in kinds and nn.GroupNorm not in kinds


def _takes_images_last(model: nn.Module, inputs: Sequence[Tensor]) -> bool:
    """Whether zeros go through: a view over all channels, for instance, fails."""
    before = ModelState(model)
    try:
        with images_last(model), equal_draws(inputs[0].device), torch.no_grad():
            model(*(zeros_of(part, 2) for part in inputs))
    except Exception:
        return False
    finally:
        before.restore()
    return True
