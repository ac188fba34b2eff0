"""Registry of the per-sample gradient rules by layer type."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from torch import nn

from bruit.deep.per_sample.layer_hooks import Instead, Rule
from bruit.deep.per_sample.rules.convolution import convolution
from bruit.deep.per_sample.rules.embedding import embedding
from bruit.deep.per_sample.rules.group_norm import compiled_group_norm, group_norm
from bruit.deep.per_sample.rules.layer_norm import compiled_layer_norm, layer_norm
from bruit.deep.per_sample.rules.linear import linear
from bruit.deep.per_sample.rules.recurrent import recurrent, unroll

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
    {nn.RNN: unroll, nn.LSTM: unroll, nn.GRU: unroll}
)
"""Layers that are always computed in another way, so that every part has a rule."""

COMPILED: Final[Mapping[type[nn.Module], Instead]] = MappingProxyType(
    {nn.GroupNorm: compiled_group_norm, nn.LayerNorm: compiled_layer_norm}
)
"""Layers that are computed in another way in a compiled step."""


def rule_of(layer: nn.Module) -> Rule | None:
    """The per-sample gradient rule of a layer's exact type, or None (a subclass may compute something else)."""
    if isinstance(layer, nn.Embedding) and (layer.max_norm is not None or layer.scale_grad_by_freq):
        return None
    if isinstance(layer, nn.LSTM) and layer.proj_size:
        return None
    return RULES.get(type(layer))


def instead_of(layer: nn.Module) -> Instead | None:
    """The function that replaces a layer's own forward, or None."""
    return TAKEN_APART.get(type(layer))


def compiled_instead_of(layer: nn.Module) -> Instead | None:
    """The function that replaces a layer's own forward in a compiled step, or None."""
    return TAKEN_APART.get(type(layer)) or COMPILED.get(type(layer))
