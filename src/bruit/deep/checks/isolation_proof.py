"""Proves from the traced graph of a step that no operation mixes two samples.

What is proved: every loss, every input of a layer and every gradient of its output that the clipped sum is built from
has an axis along which each slice comes from one sample alone. The clipped sum itself is the library's own. A graph is
that of one shape of batch and one mode of the layers; what depends on values cannot be traced, and is not proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, fx, nn
from torch.func import functional_call, functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from bruit.deep.checks.batch_axis import ALIKE, FIXED, Axis, Shape, State
from bruit.deep.checks.batch_axis_rules import rule_of
from bruit.deep.checks.graph_walk import states
from bruit.deep.per_sample.layer_hooks import backward, record_calls
from bruit.deep.per_sample.precision import in_precision
from bruit.deep.per_sample.rules import instead_of
from bruit.deep.per_sample.rules.embedding import only_known_rows
from bruit.deep.per_sample.rules.recurrent import not_packed
from bruit.deep.per_sample.vmap_fallback import Loss


def proves_isolation(
    model: nn.Module,
    ruled: Mapping[str, nn.Module],
    loss: Loss,
    inputs: Sequence[Tensor],
    targets: Tensor,
    *,
    precision: torch.dtype | None = None,
) -> bool:
    """Whether the graph of a step on a batch of these shapes keeps its samples apart; values are not looked at."""
    held = {name: each.detach() for name, each in (*model.named_parameters(), *model.named_buffers())}
    buffers = {name for name, _ in model.named_buffers()}
    given = (*inputs, targets)

    def watched(*values: Tensor) -> list[Tensor]:
        state = dict(zip(held, values[len(given) :], strict=True))
        with in_precision(targets.device, precision):
            found = what_is_summed(model, ruled, loss, values[: len(inputs)], values[len(inputs)], state)
        return [*found, *(state[name] for name in held if name in buffers)]

    try:
        graph = _functional_graph(model, watched, [*given, *held.values()])
    except Exception:  # values decide, or leave torch: whatever the reason, nothing is proved
        return False
    if any(_writes(node.target) for node in graph.nodes):
        return False
    begun = [Axis(0)] * len(given) + [FIXED] * len(held)
    found = list(states(graph, begun, len(targets), rule_of))
    summed, kept = found[: len(found) - len(buffers)], found[len(found) - len(buffers) :]
    return all(_is_apart(*each, len(targets)) for each in summed) and all(state is FIXED for state, _ in kept)


def _is_apart(state: State, shape: Shape, batch: int) -> bool:
    """Whether each row depends on one sample only; a fixed row per sample would depend on the position in the batch."""
    return state in (Axis(0), *ALIKE) or (state is FIXED and shape[:1] != (batch,))


def _functional_graph(model: nn.Module, watched: Callable[..., list[Tensor]], leaves: Sequence[Tensor]) -> fx.Graph:
    """The graph of a function without changes in place, which would be shared between values."""
    with not_packed(model), only_known_rows(model):
        graph = make_fx(watched, tracing_mode="fake")(*leaves)
        graph = make_fx(functionalize(graph), tracing_mode="fake")(*leaves)
    graph.graph.eliminate_dead_code()
    return graph.graph


def what_is_summed(
    model: nn.Module,
    ruled: Mapping[str, nn.Module],
    loss: Loss,
    inputs: tuple[Tensor, ...],
    targets: Tensor,
    state: Mapping[str, Tensor] | None,
    noted: AbstractContextManager[object] | None = None,
) -> list[Tensor]:
    """The losses of the samples, and the inputs and output gradients of all layer calls; `noted` sees the pass."""
    anchor = torch.zeros((), device=targets.device, requires_grad=True)
    noted = nullcontext() if noted is None else noted
    with torch.enable_grad():
        with record_calls(ruled, anchor, instead=instead_of) as calls, noted:
            outputs = model(*inputs) if state is None else functional_call(model, dict(state), inputs)
        with noted:
            losses = loss(outputs, targets)
        if losses.requires_grad:
            total = losses.sum()
            with noted:
                backward(total, anchor)
    kept = [part for call in calls for part in (call.inputs, call.outputs) if part is not None]
    return [losses.detach(), *(part.detach() for part in kept)]


def _writes(target: object) -> bool:
    """Whether an operation mutates one of its arguments; a functional graph does so only to its inputs."""
    return isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable
