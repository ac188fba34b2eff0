"""Embedding layers: rows of a table looked up by integers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from bruit.deep.per_sample.factored_gradients import LIGHT, PerSampleGradients, lengths, rounding, wide, zero_samples


@contextmanager
def only_known_rows(model: nn.Module) -> Iterator[None]:
    """Makes out-of-range indices read row 0 while the context is open, since an error would leak a record's value.

    [docs/rules.md 2]
    """
    tables = [layer for layer in model.modules() if isinstance(layer, nn.Embedding | nn.EmbeddingBag)]
    handles = [layer.register_forward_pre_hook(_known, with_kwargs=True) for layer in tables]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _known(layer: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    first, *others = (*given, *named.values())
    known = torch.where((first >= 0) & (first < layer.num_embeddings), first, 0)
    if given:
        return (known, *given[1:]), named
    return (), dict(zip(named, (known, *others), strict=True))


def embedding(layer: nn.Embedding, inputs: Tensor, outputs: Tensor) -> dict[str, PerSampleGradients]:
    """Per-sample gradients of an embedding table: each row's is the sum of output gradients where it was looked up."""
    if not layer.weight.requires_grad:
        return {}
    outputs = outputs.reshape(len(outputs), -1, outputs.shape[-1])
    return {"weight": Rows(layer, inputs.reshape(len(inputs), -1), outputs)}


class Rows:
    """Per-sample gradients of an embedding table, held as looked-up indices and output gradients."""

    def __init__(self, layer: nn.Embedding, looked_up: Tensor, outputs: Tensor) -> None:
        self.layer, self.looked_up = layer, looked_up
        if layer.padding_idx is not None:
            outputs = outputs.masked_fill((looked_up == layer.padding_idx).unsqueeze(-1), 0)
        self.outputs = outputs

    @property
    def light(self) -> bool:
        return self.outputs.numel() <= LIGHT

    def squares(self) -> Tensor:
        """Squared norms Σ_tt' [row_t = row_t'] (g_t·g_t'), plus a margin for rounding."""
        outputs = wide(self.outputs)
        same = self.looked_up.unsqueeze(2) == self.looked_up.unsqueeze(1)
        products = outputs @ outputs.mT
        room = rounding(outputs, outputs.shape[2]) * lengths(products).sum(1).square()
        return (products * same).sum((1, 2)).clamp(min=0) + room

    def per_sample(self) -> Tensor:
        outputs = wide(self.outputs)
        gradients = outputs.new_zeros(len(outputs), *self.layer.weight.shape)
        places = self.looked_up.unsqueeze(-1).expand_as(outputs)
        return gradients.scatter_add_(1, places, outputs)

    def weighted(self, weights: Tensor) -> Tensor:
        scaled = wide(self.outputs)
        scaled = scaled * weights.to(scaled.dtype).view(-1, 1, 1)
        total = torch.zeros(self.layer.weight.shape, dtype=scaled.dtype, device=scaled.device)
        return total.index_add_(0, self.looked_up.flatten(), scaled.flatten(0, 1))

    def without(self, dropped: Tensor) -> Rows:
        return Rows(self.layer, self.looked_up, zero_samples(self.outputs, dropped))
