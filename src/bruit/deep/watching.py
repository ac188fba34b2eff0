"""Keeping books during one forward and one backward pass: the input and the output gradient of every layer call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass
class Call:
    """One call of a layer: what went in, and how the loss changes with what came out (None where it does not)."""

    path: str
    layer: nn.Module
    inputs: Tensor
    outputs: Tensor | None = None


class _Watch(torch.autograd.Function):
    """The identity, which notes the gradient that passes through it.

    The anchor makes the backward pass reach layers whose input needs no gradient. The output is marked as changed in
    place, so that layers after it may change it in place too.
    """

    @staticmethod
    def forward(ctx: Any, output: Tensor, anchor: Tensor, call: Call) -> Tensor:  # noqa: ARG004
        ctx.call = call
        ctx.mark_dirty(output)
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        ctx.call.outputs = gradients[0].detach()
        return gradients[0], None, None


@contextmanager
def watched(layers: Mapping[str, nn.Module], anchor: Tensor) -> Iterator[list[Call]]:
    """The calls of the layers, in order, while the model runs forward.

    Meanwhile their parameters ask for no gradient: the shares of the samples take its place.
    """
    calls: list[Call] = []

    def note(path: str) -> Any:
        def after(layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any], output: Tensor) -> Tensor:
            inputs = given[0] if given else next(iter(named.values()))
            call = Call(path, layer, inputs.detach())
            calls.append(call)
            watched_output: Tensor = _Watch.apply(output, anchor, call)  # type: ignore[no-untyped-call]
            return watched_output

        return after

    parameters = {p for layer in layers.values() for p in layer.parameters(recurse=False) if p.requires_grad}
    handles = [layer.register_forward_hook(note(path), with_kwargs=True) for path, layer in layers.items()]
    try:
        for parameter in parameters:
            parameter.requires_grad = False
        yield calls
    finally:
        for handle in handles:
            handle.remove()
        for parameter in parameters:
            parameter.requires_grad = True
