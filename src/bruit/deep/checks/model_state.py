"""Parameters, buffers and attributes of a model at one time, to go back to: what a pass writes must not stay."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn

from bruit.deep.per_sample.factored_gradients import is_traced

OF_EVERY_LAYER = frozenset(vars(nn.Module())) - {"training"}
"""Attributes that torch itself keeps: parameters, buffers, layers and hooks."""


class ModelState:
    """Buffers and attributes of all layers: tensors, arrays and containers with what they hold, the rest by name.

    Of parameters only which ones there are, unless `weights` asks for what they hold: a copy of the whole model. What
    an object of a user's own class holds is not looked into.
    """

    def __init__(self, model: nn.Module, *, weights: bool = False) -> None:
        self._layers = [
            (layer, attributes_of(layer), dict(layer._buffers), dict(layer._parameters)) for layer in model.modules()
        ]
        self._held: dict[int, tuple[object, object]] = {}
        parameters = set() if weights else {id(parameter) for parameter in model.parameters()}
        for _, own, buffers, owned in self._layers:
            self._hold((*own.values(), *buffers.values(), *(owned.values() if weights else ())), parameters)

    def _hold(self, values: Iterable[object], parameters: set[int]) -> None:
        """Copies what may change in place, down to the innermost container."""
        for value in values:
            if id(value) in self._held or id(value) in parameters:
                continue
            if isinstance(value, Tensor):
                self._held[id(value)] = (value, value.detach().clone())
            elif isinstance(value, np.ndarray):
                self._held[id(value)] = (value, value.copy())
            elif isinstance(value, list | dict | set | deque):
                self._held[id(value)] = (value, copy.copy(value))
                self._hold(value.values() if isinstance(value, dict) else value, parameters)

    def tensors(self) -> list[Tensor]:
        """The tensors that are put back."""
        return [value for value, _ in self._held.values() if isinstance(value, Tensor)]

    @torch.no_grad()
    def restore(self, *, tell: bool = False) -> list[str]:
        """Puts everything back; with `tell` (which waits for a GPU) gives the names of attributes with new tensors."""
        moved = {key for key, (value, kept) in self._held.items() if _put_back(value, kept, tell=tell)}
        written: list[str] = []
        for layer, own, buffers, owned in self._layers:
            if not isinstance(layer, torch.jit.ScriptModule):  # whose members cannot be others
                layer._buffers.clear()
                layer._buffers.update(buffers)
                layer._parameters.clear()
                layer._parameters.update(owned)
            written += [name for name, value in own.items() if isinstance(value, Tensor) and id(value) in moved]
            for name, value in attributes_of(layer).items():
                if name not in own or own[name] is not value:
                    written += [name] if isinstance(value, Tensor) else []
                    vars(layer).pop(name)
            vars(layer).update(own)
        return written


def attributes_of(layer: nn.Module) -> dict[str, object]:
    """What a layer holds beside its parameters, buffers, layers, hooks and mode."""
    return {name: value for name, value in vars(layer).items() if name not in OF_EVERY_LAYER}


def _put_back(value: object, kept: object, *, tell: bool) -> bool:
    """Gives a tensor, an array or a container what it held; says whether a tensor held something else."""
    if isinstance(value, Tensor) and isinstance(kept, Tensor):
        if (tell or value.is_cpu) and not is_traced(value) and _same(value, kept):
            return False
        if value.shape == kept.shape:
            value.copy_(kept)
        else:
            value.data = kept.clone()
        return True
    if isinstance(value, np.ndarray) and isinstance(kept, np.ndarray):
        np.copyto(value, kept)
    elif isinstance(value, list | deque) and isinstance(kept, list | deque):
        value.clear()
        value.extend(kept)
    elif (isinstance(value, dict) and isinstance(kept, dict)) or (isinstance(value, set) and isinstance(kept, set)):
        value.clear()
        value.update(kept)
    return False


def _same(value: Tensor, kept: Tensor) -> bool:
    """Whether two tensors hold the same numbers; NaN is the same as NaN."""
    return value.shape == kept.shape and bool(((value == kept) | ((value != value) & (kept != kept))).all())
