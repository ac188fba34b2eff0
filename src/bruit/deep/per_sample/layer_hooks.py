"""Records, in one forward and backward pass, the input and the output gradient of every layer call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bruit.deep.per_sample.factored_gradients import PerSampleGradients

Rule = Callable[[Any, Tensor, Tensor], dict[str, PerSampleGradients]]
"""From a layer, its input and the gradient of its output to the share of each of its trainable parameters."""


@dataclass
class Call:
    """One use of a layer's parameters: its input and, after the backward pass, the gradient of its output."""

    path: str
    layer: nn.Module
    inputs: Tensor
    owns: tuple[str, ...] = ()
    outputs: Tensor | None = None
    rule: Rule | None = None
    """In the place of the layer's rule, where a layer is taken apart."""
    on_gradient: Callable[[Call], None] | None = None
    """Called in the backward pass, as soon as the output gradient is there."""

    def take_gradient(self, gradient: Tensor) -> None:
        """Stores the output gradient, then calls `on_gradient`."""
        with torch._C.DisableTorchFunction(), torch.no_grad():  # in this order: a mode would see the second
            self.outputs = gradient.detach()
            if self.on_gradient is not None:
                self.on_gradient(self)


class _Watch(torch.autograd.Function):
    """The identity as an autograd function, which stores the gradient that passes through it.

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
        ctx.call.take_gradient(gradients[0])
        return gradients[0], None, None


@dataclass(frozen=True)
class Watch:
    """The layer calls recorded in one forward pass, and the anchor that makes the backward pass reach every call."""

    anchor: Tensor
    calls: list[Call]

    def note(self, call: Call) -> Call:
        self.calls.append(call)
        return call

    def through(self, output: Tensor, call: Call) -> Tensor:
        """The output tensor, passed through an identity that records its gradient in the call."""
        watched_output: Tensor = _Watch.apply(output, self.anchor, call)  # type: ignore[no-untyped-call]
        return watched_output


Instead = Callable[[Watch, str, Any, tuple[Any, ...], Any], Any]
"""Computes the output of a layer in another way: from the watch, the path, the layer, its arguments and its output."""


@contextmanager
def record_calls(
    layers: Mapping[str, nn.Module],
    anchor: Tensor,
    *,
    instead: Callable[[nn.Module], Instead | None] = lambda _: None,
) -> Iterator[list[Call]]:
    """Records the calls of the given layers, in order, while the context is open.

    Meanwhile their parameters ask for no gradient: the shares of the samples take its place.
    """
    watch = Watch(anchor, [])

    def note(path: str) -> Any:
        def after(layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any], output: Any) -> Any:
            given = (*given, *named.values())
            other = instead(layer)
            with torch._C.DisableTorchFunction():  # what is ours is no call of the model
                if other is not None:
                    return other(watch, path, layer, given, output)
                return watch.through(output, watch.note(Call(path, layer, given[0].detach(), own_names(layer))))

        return after

    parameters = {p for layer in layers.values() for p in layer.parameters(recurse=False) if p.requires_grad}
    # First of all hooks: one of the user's own may change the output, and gradients are those of the layer's.
    handles = [
        layer.register_forward_hook(note(path), prepend=True, with_kwargs=True) for path, layer in layers.items()
    ]
    try:
        for parameter in parameters:
            parameter.requires_grad = False
        yield watch.calls
    finally:
        for handle in handles:
            handle.remove()
        for parameter in parameters:
            parameter.requires_grad = True


def backward(total: Tensor, anchor: Tensor) -> None:
    """The backward pass through every watched layer, seen by a mode of torch functions in all hooks of the model.

    To such a mode torch.autograd.backward would be one call, and what happens in it would stay unseen.
    """
    with torch.autograd.set_multithreading_enabled(False):
        torch.autograd.Variable._execution_engine.run_backward(
            (total,),
            (torch.ones_like(total),),
            False,  # noqa: FBT003  keeps the graph
            False,  # noqa: FBT003  makes a graph
            (anchor,),
            allow_unreachable=True,
            accumulate_grad=True,
        )


def own_names(layer: nn.Module) -> tuple[str, ...]:
    """The names of the parameters that a layer holds directly, not those of its sublayers."""
    return tuple(name for name, _ in layer.named_parameters(recurse=False))
