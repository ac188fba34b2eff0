"""Walks a traced graph and infers the sample axis of each value from those of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import fx

from bruit.deep.checks.batch_axis import ALIKE, FIXED, MIXED, Rule, Shape, State, Step, shape_of


def states(
    graph: fx.Graph, given: Sequence[State], batch: int, rules: Callable[[Any], Rule | None]
) -> Iterator[tuple[State, Shape]]:
    """The state (sample axis or kind) and shape of each output of a graph, from the states of its inputs."""
    found: dict[fx.Node, Any] = {}
    waiting = iter(given)

    def known(value: Any) -> State:
        state = found.get(value, FIXED) if isinstance(value, fx.Node) else FIXED
        return MIXED if isinstance(state, tuple) else state

    for node in graph.nodes:
        if node.op == "placeholder":
            found[node] = next(waiting)
        elif node.op == "get_attr":
            found[node] = FIXED
        elif node.op == "call_function":
            found[node] = _apply(node, batch, known, found, rules(node.target))
        elif node.op == "output":
            yield from (
                (known(each), shape_of(each))
                for each in torch.utils._pytree.tree_leaves(node.args)
                if isinstance(each, fx.Node)
            )


def _apply(
    node: fx.Node, batch: int, known: Callable[[Any], State], found: dict[fx.Node, Any], rule: Rule | None
) -> Any:
    if getattr(node.target, "__name__", "") == "getitem":
        held, place = found.get(node.all_input_nodes[0]), int(str(node.args[1]))
        return held[place] if isinstance(held, tuple) else held
    step = Step(node, batch, known)
    if rule is None:
        return FIXED if all(each in (FIXED, *ALIKE) for each in step.read()) else MIXED
    return rule(step)
