"""The computation of clipped sums as one graph: traced from the eager one, then compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, fx, nn
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

from bruit.deep.tickets import Ticket, ticket
from bruit.errors import BruitError

if TYPE_CHECKING:
    from bruit.deep.engine import Engine

State = Mapping[str, Tensor]
"""Parameters and buffers by their names."""


@dataclass(frozen=True)
class Trace:
    """Parameters and buffers in the place of the model's own, and where it is told if gradients were finite."""

    state: State
    ticket: Ticket


class NotCompiled(UserWarning):
    """A step that was to be compiled cannot be, and runs as it is written."""


class Graphs:
    """The compiled graphs of one engine, one for each shape of batch."""

    def __init__(self) -> None:
        self._made: dict[Any, Callable[..., Any] | None] = {}
        self.trouble: str | None = None
        """Why the last graph could not be compiled."""

    def sums(
        self, engine: Engine, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor
    ) -> dict[str, Tensor] | None:
        """The clipped sums by the graph of these shapes; None where there is none or a gradient is not finite."""
        given = (state_of(engine.model), inputs, targets, weights)
        key = (_modes(engine.model), *((each.shape, each.dtype, each.stride()) for each in (*inputs, targets, weights)))
        if key not in self._made:
            self._made[key] = self._compiled(engine, given)
        graph = self._made[key]
        if graph is None:
            return None
        with torch.no_grad():
            return graph(*given)  # type: ignore[no-any-return]

    def _compiled(self, engine: Engine, given: tuple[Any, ...]) -> Callable[..., Any] | None:
        try:
            graph = compiled(engine, given)
            with torch.no_grad():
                graph(*given)  # a compiler that is missing is told at the first call
        except BruitError:
            raise
        except Exception as error:
            self.trouble = type(error).__name__  # the rest of its message may quote what the records hold
            warnings.warn(
                f"the step could not be compiled and runs as it is written, with the same result ({self.trouble})",
                NotCompiled,
                stacklevel=2,
            )
            return None
        return graph


def compiled(engine: Engine, given: tuple[Any, ...]) -> Callable[..., Any]:
    """A compiled function of (state, inputs, targets, weights) that gives the sums, or None where one is not finite."""
    graph, together = traced(engine, given)
    run = torch.compile(graph, dynamic=False)

    def call(state: State, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor) -> dict[str, Tensor] | None:
        return together(run(*tree_flatten((state, inputs, targets, weights))[0]))

    return call


def traced(
    engine: Engine, given: tuple[Any, ...]
) -> tuple[fx.GraphModule, Callable[[list[Tensor]], dict[str, Tensor] | None]]:
    """The eager computation as a graph of flat arguments, and how its flat results are put together."""
    leaves, shape = tree_flatten(given)
    names: list[str] = []
    flag = ticket(given[2].device)

    def flat(*values: Tensor) -> list[Tensor]:
        state, inputs, targets, weights = tree_unflatten(list(values), shape)
        sums, good = engine.sums(inputs, targets, weights, Trace(state, flag))
        names[:] = sums
        return [*sums.values()] if good is None else [*sums.values(), good]

    leaves = [leaf.detach() for leaf in leaves]
    graph = make_fx(flat, tracing_mode="fake")(*leaves)
    graph = make_fx(functionalize(graph), tracing_mode="fake")(*leaves)  # in-place changes must not be shared
    _share(graph.graph)
    graph.graph.eliminate_dead_code()
    graph.recompile()

    def together(results: list[Tensor]) -> dict[str, Tensor] | None:
        if len(results) > len(names) and not flag.answer():
            return None
        return dict(zip(names, results, strict=False))

    return graph, together


def state_of(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter and buffer, detached."""
    named = (*model.named_parameters(), *model.named_buffers())
    return {name: value.detach() for name, value in named}


def _modes(model: nn.Module) -> tuple[bool, ...]:
    return tuple(layer.training for layer in model.modules())


def _share(graph: fx.Graph) -> None:
    """Computes once what is computed twice from the same values: casts of layer inputs, above all."""
    seen: dict[Any, fx.Node] = {}
    for node in list(graph.nodes):
        if node.op != "call_function" or not _is_pure(node.target):
            continue
        key = (node.target, _frozen(node.args), _frozen(node.kwargs))
        first = seen.setdefault(key, node)
        if first is not node:
            node.replace_all_uses_with(first)
            graph.erase_node(node)


def _is_pure(target: Any) -> bool:
    if not isinstance(target, torch._ops.OpOverload):
        return False
    return not target._schema.is_mutable and torch.Tag.nondeterministic_seeded not in target.tags


def _frozen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *map(_frozen, value))
    if isinstance(value, dict):
        return tuple((name, _frozen(each)) for name, each in sorted(value.items()))
    return (type(value).__name__, value)
