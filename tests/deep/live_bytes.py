"""How many bytes of a traced graph are alive at once, as a compiler that fuses sums into their readers would hold them.

A result is stored where a kernel of its own makes it or needs it: products, attention, reductions, operations that no
compiler takes apart, and what these read. Everything else is computed anew by whoever reads it, so that what it is
made of lives until its last reader has run.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, fx
from torch.utils._pytree import tree_leaves

PLACED = ("view", "_unsafe_view", "reshape", "transpose", "permute", "t", "unsqueeze", "squeeze", "expand")
VIEWS = frozenset([*PLACED, "alias", "detach", "slice", "select", "split", "split_with_sizes", "getitem"])
OF_THEIR_OWN = frozenset(["mm", "bmm", "addmm", "baddbmm", "kept_sum", "tell"])
REDUCING = frozenset(["sum", "mean", "amax", "_softmax", "_log_softmax", "linalg_vector_norm", "all", "any"])


def most_alive(graph: fx.Graph) -> int:
    """The most bytes that are stored at any time, besides what the graph is given."""
    nodes = list(graph.nodes)
    (output,) = graph.find_nodes(op="output")
    stored = {_viewed(node) for node in output.all_input_nodes}
    for node in nodes:
        if _name(node) in OF_THEIR_OWN | REDUCING:
            stored.add(node)
        if _name(node) in OF_THEIR_OWN:
            stored |= {_viewed(each) for each in node.all_input_nodes}
    stored = {node for node in stored if node.op == "call_function"}
    made_of: dict[fx.Node, set[fx.Node]] = {}
    last: dict[fx.Node, int] = {}
    for place, node in enumerate(nodes):
        read = set().union(*(made_of[each] for each in node.all_input_nodes)) if node.all_input_nodes else set()
        if node in stored or node is output:
            last |= dict.fromkeys(read, place)
        made_of[node] = {node} if node in stored else read
    alive = most = 0
    for place, node in enumerate(nodes):
        alive += _bytes(node) if node in stored else 0
        most = max(most, alive)
        alive -= sum(_bytes(each) for each, end in last.items() if end == place)
    return most


def _name(node: fx.Node) -> str:
    schema = getattr(node.target, "_schema", None)
    return schema.name.rpartition("::")[2] if schema else getattr(node.target, "__name__", "")


def _viewed(node: fx.Node) -> fx.Node:
    """The node whose memory a view shows."""
    while node.op == "call_function" and _name(node) in VIEWS:
        node = node.all_input_nodes[0]
    return node


def _bytes(node: fx.Node) -> int:
    held: Any = tree_leaves(node.meta.get("val"))
    return sum(each.numel() * each.element_size() for each in held if isinstance(each, Tensor))
