"""Which rule serves which layer."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from torch import Tensor, nn

from bruit.deep.rules.convolution import convolution
from bruit.deep.rules.embedding import embedding
from bruit.deep.rules.group_norm import group_norm
from bruit.deep.rules.layer_norm import layer_norm
from bruit.deep.rules.linear import linear
from bruit.deep.shares import Share

Rule = Callable[[Any, Tensor, Tensor], dict[str, Share]]
"""From a layer, its input and the gradient of its output to the share of each of its trainable parameters."""

RULES: Final[Mapping[type[nn.Module], Rule]] = MappingProxyType(
    {
        nn.Linear: linear,
        nn.Conv1d: convolution,
        nn.Conv2d: convolution,
        nn.Embedding: embedding,
        nn.LayerNorm: layer_norm,
        nn.GroupNorm: group_norm,
    }
)


def rule_of(layer: nn.Module) -> Rule | None:
    """The rule of a layer, or None: a subclass may compute something else and has none."""
    if isinstance(layer, nn.Embedding) and (layer.max_norm is not None or layer.scale_grad_by_freq):
        return None
    return RULES.get(type(layer))
