"""Replaces batch norms, which mix the samples of a batch, by group norms, which look at one sample at a time."""

from __future__ import annotations

import copy

from torch import nn

MOST_GROUPS = 32
FEWEST_CHANNELS = 4
"""Channels that a group has at least, where the layer has them: over one channel a vector would become zero."""


def replace_batch_norm(model: nn.Module) -> nn.Module:
    """A copy of the model with a group norm in place of every batch norm; learned statistics are dropped."""
    return _replace_layer(copy.deepcopy(model))


def _replace_layer(layer: nn.Module) -> nn.Module:
    if isinstance(layer, nn.modules.batchnorm._BatchNorm):
        return _group_norm(layer)
    if isinstance(layer, nn.modules.instancenorm._InstanceNorm) and layer.track_running_stats:
        return _group_norm(layer)
    for name, child in layer.named_children():
        setattr(layer, name, _replace_layer(child))
    return layer


def _group_norm(layer: nn.modules.batchnorm._NormBase) -> nn.Module:
    channels = layer.num_features
    most = max(min(MOST_GROUPS, channels // FEWEST_CHANNELS), 1)
    groups = next(number for number in range(most, 0, -1) if channels % number == 0)
    placed = nn.GroupNorm(groups, channels, eps=layer.eps, affine=layer.affine)
    return placed.to(next(layer.parameters()).device) if layer.affine else placed
