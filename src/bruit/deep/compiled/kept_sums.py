"""Sums of two products in a compiled step, computed once: as in low-rank adapters, W x + B A x.      [Hu et al. 2022]

A compiler that fuses a sum into each of its readers keeps both terms in its place until the last reader, here in the
backward pass, has run: two tensors for one.
"""

from __future__ import annotations

import torch
from torch import Tensor, fx

aten = torch.ops.aten
PRODUCTS = frozenset([aten.mm.default, aten.addmm.default])
VIEWS = frozenset([aten.view.default, aten._unsafe_view.default, aten.alias.default, aten.detach.default])
SUM = aten.add.Tensor


@torch.library.custom_op("bruit::kept_sum", mutates_args=())
def kept_sum(one: Tensor, other: Tensor) -> Tensor:
    """The sum of two tensors, as an operation that no compiler takes apart."""
    return one + other


@kept_sum.register_fake
def _(one: Tensor, other: Tensor) -> Tensor:
    return one + other


def keep_sums(graph: fx.Graph) -> int:
    """Keeps each sum of two products that is read more than once, also within another sum; tells how many."""
    found = [node for node in graph.nodes if _is_sum_of_products(node) and _is_read_again(node)]
    for node in found:
        node.target = torch.ops.bruit.kept_sum.default
    return len(found)


def _is_sum_of_products(node: fx.Node) -> bool:
    if node.target is not SUM or node.kwargs or not all(isinstance(each, fx.Node) for each in node.args):
        return False
    one, other = (each.meta["val"] for each in node.all_input_nodes[:1] + node.all_input_nodes[-1:])
    return one.shape == other.shape and one.dtype == other.dtype and all(map(_is_product, node.all_input_nodes))


def _is_product(node: fx.Node) -> bool:
    while node.target in VIEWS:
        node = node.all_input_nodes[0]
    return node.target in PRODUCTS


def _is_read_again(node: fx.Node) -> bool:
    """Whether a sum has several readers, or one that is a sum with several."""
    readers = list(node.users)
    return len(readers) > 1 or any(each.target is SUM and len(each.users) > 1 for each in readers)
