"""Which rule serves which layer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from torch import nn

from bruit.deep.rules.convolution import convolution
from bruit.deep.rules.embedding import embedding
from bruit.deep.rules.group_norm import compiled_group_norm, group_norm
from bruit.deep.rules.layer_norm import compiled_layer_norm, layer_norm
from bruit.deep.rules.linear import linear
from bruit.deep.rules.recurrent import recurrent, unrolled
from bruit.deep.watching import Instead, Rule

RULES: Final[Mapping[type[nn.Module], Rule]] = MappingProxyType(
    {
        nn.Linear: linear,
        nn.Conv1d: convolution,
        nn.Conv2d: convolution,
        nn.Conv3d: convolution,
        nn.Embedding: embedding,
        nn.LayerNorm: layer_norm,
        nn.GroupNorm: group_norm,
        nn.RNN: recurrent,
        nn.LSTM: recurrent,
        nn.GRU: recurrent,
    }
)

TAKEN_APART: Final[Mapping[type[nn.Module], Instead]] = MappingProxyType(
    {nn.RNN: unrolled, nn.LSTM: unrolled, nn.GRU: unrolled}
)
"""Layers that are always computed in another way, so that every part has a rule."""

COMPILED: Final[Mapping[type[nn.Module], Instead]] = MappingProxyType(
    {nn.GroupNorm: compiled_group_norm, nn.LayerNorm: compiled_layer_norm}
)
"""Layers that are computed in another way in a compiled step."""


def rule_of(layer: nn.Module) -> Rule | None:
    """The rule of a layer, or None: a subclass may compute something else and has none."""
    if isinstance(layer, nn.Embedding) and (layer.max_norm is not None or layer.scale_grad_by_freq):
        return None
    if isinstance(layer, nn.LSTM) and layer.proj_size:
        return None
    return RULES.get(type(layer))


def instead_of(layer: nn.Module) -> Instead | None:
    """How a layer is computed in the place of its own forward, if it is."""
    return TAKEN_APART.get(type(layer))


def compiled_instead_of(layer: nn.Module) -> Instead | None:
    """The same in a step that is to be compiled."""
    return TAKEN_APART.get(type(layer)) or COMPILED.get(type(layer))
