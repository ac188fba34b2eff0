"""Recurrent layers (RNN, GRU, LSTM), unrolled into products with their two matrices.

z_t = W_i x_t + b_i and u_t = W_h h_(t−1) + b_h are all that the parameters touch; the gradients of all z and of all u
are those of two linear layers used at every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.per_sample.factored_gradients import PerSampleGradients
from bruit.deep.per_sample.layer_hooks import Call, Watch
from bruit.deep.per_sample.rules.linear import linear
from bruit.errors import InvalidArgument

Layer = nn.RNN | nn.LSTM | nn.GRU


@contextmanager
def not_packed(model: nn.Module) -> Iterator[None]:
    """Switches off `flatten_parameters` of recurrent layers while the context is open.

    On a GPU torch puts them into one block whenever others take their place, and weights that are traced or
    differentiated sample by sample have no memory of their own.
    """
    own = [vars(layer) for layer in model.modules() if isinstance(layer, nn.RNNBase)]
    before = [attributes.get("flatten_parameters") for attributes in own]
    try:
        for attributes in own:
            attributes["flatten_parameters"] = _nothing
        yield
    finally:
        for attributes, packing in zip(own, before, strict=True):
            if packing is None:
                del attributes["flatten_parameters"]
            else:
                attributes["flatten_parameters"] = packing


def _nothing() -> None:
    """Replaces `flatten_parameters` and does nothing."""


def recurrent(layer: Layer, inputs: Tensor, outputs: Tensor) -> dict[str, PerSampleGradients]:  # noqa: ARG001
    """A placeholder that is never called, since `unroll` gives every part of the layer its own rule."""
    raise AssertionError("a recurrent layer is taken apart")


def unroll(watch: Watch, path: str, layer: Layer, given: tuple[Any, ...], output: Any) -> Any:  # noqa: ARG001
    """The output and final states of a recurrent layer, computed time step by time step with recorded calls."""
    values = given[0]
    if not isinstance(values, Tensor) or values.dim() != 3 or not layer.batch_first:
        raise InvalidArgument(
            f"the layer {path!r} was not given tensors with samples first (packed, unbatched or batch_first=False): "
            "build it with batch_first=True and give it (samples, times, features), padded to one length"
        )
    start = given[1] if len(given) > 1 and given[1] is not None else None
    directions = 2 if layer.bidirectional else 1
    lasts: list[Tensor] = []
    for depth in range(layer.num_layers):
        found = []
        for way in range(directions):
            state = _start(layer, values, start, depth * directions + way)
            made, last = _one_way(watch, path, layer, values, state, suffix=f"_l{depth}" + "_reverse" * way)
            found.append(made)
            lasts.append(last)
        values = torch.cat(found, 2) if directions == 2 else found[0]
        if layer.dropout and layer.training and depth < layer.num_layers - 1:
            values = functional.dropout(values, layer.dropout)
    stacked = torch.stack(lasts)
    if isinstance(layer, nn.LSTM):
        return values, (stacked[..., : layer.hidden_size], stacked[..., layer.hidden_size :])
    return values, stacked


def _start(layer: Layer, values: Tensor, start: Any, place: int) -> Tensor:
    """The state before the first time step; an LSTM's cell state is concatenated to the hidden one."""
    if start is None:
        width = layer.hidden_size * (2 if isinstance(layer, nn.LSTM) else 1)
        return values.new_zeros(len(values), width)
    return torch.cat([start[0][place], start[1][place]], 1) if isinstance(layer, nn.LSTM) else start[place]


def _one_way(
    watch: Watch, path: str, layer: Layer, values: Tensor, state: Tensor, *, suffix: str
) -> tuple[Tensor, Tensor]:
    """The hidden states at all time steps in one direction, and the last full state."""
    z = watch.through(_product(layer, values, "ih" + suffix), _part(watch, path, layer, values, "ih" + suffix))
    from_state = _part(watch, path, layer, values, "hh" + suffix)
    # Zeros through which the gradients of the products with the states of all times pass.
    u = watch.through(values.new_zeros(z.shape, dtype=z.dtype), from_state)
    before, made = dict[int, Tensor](), dict[int, Tensor]()
    times = range(values.shape[1])
    for time in reversed(times) if suffix.endswith("reverse") else times:
        before[time] = state[:, : layer.hidden_size]
        state = _next(layer, z[:, time], _product(layer, before[time], "hh" + suffix) + u[:, time], state)
        made[time] = state[:, : layer.hidden_size]
    from_state.inputs = torch.stack([before[time] for time in times], 1).detach()
    return torch.stack([made[time] for time in times], 1), state


def _part(watch: Watch, path: str, layer: Layer, values: Tensor, kind: str) -> Call:
    """Records the call of one weight matrix with its bias, which is used at every time step."""
    names = _names(kind)
    owns = tuple(name for name in names if hasattr(layer, name))
    return watch.note(Call(path, layer, values.detach(), owns, rule=partial(linear, names=names)))


def _product(layer: Layer, values: Tensor, kind: str) -> Tensor:
    weight, shift = (getattr(layer, name, None) for name in _names(kind))
    return functional.linear(values, weight, shift)  # type: ignore[arg-type]


def _names(kind: str) -> tuple[str, str]:
    return f"weight_{kind}", f"bias_{kind}"


def _next(layer: Layer, z: Tensor, u: Tensor, state: Tensor) -> Tensor:
    """The state after one time step, from the products with the input and with the hidden state."""
    if isinstance(layer, nn.LSTM):
        enter, forget, candidate, leave = (z + u).chunk(4, 1)
        cell = forget.sigmoid() * state[:, layer.hidden_size :] + enter.sigmoid() * candidate.tanh()
        return torch.cat([leave.sigmoid() * cell.tanh(), cell], 1)
    if isinstance(layer, nn.GRU):
        (reset, update, candidate), (by_reset, by_update, kept) = z.chunk(3, 1), u.chunk(3, 1)
        mixed = (update + by_update).sigmoid()
        return (1 - mixed) * (candidate + (reset + by_reset).sigmoid() * kept).tanh() + mixed * state
    return (z + u).relu() if layer.nonlinearity == "relu" else (z + u).tanh()
