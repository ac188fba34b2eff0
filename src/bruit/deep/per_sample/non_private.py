"""Ordinary unclipped gradients through the same training loop, for training without privacy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor, nn

from bruit.deep.checks.model_structure import trainable
from bruit.deep.per_sample.precision import in_precision
from bruit.deep.per_sample.vmap_fallback import Loss


@dataclass(frozen=True)
class PlainEngine:
    """Sums the samples' gradients without clipping."""

    model: nn.Module
    loss: Loss
    precision: torch.dtype | None = None
    assumes_apart: ClassVar[bool] = False

    @cached_property
    def names(self) -> dict[int, str]:
        """The names of the trainable parameters, keyed by `id(parameter)`."""
        trainable(self.model)
        return {id(p): name for name, p in self.model.named_parameters() if p.requires_grad}

    def clipped_sum(self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """Σ_b weight_b · g_b, without clipping."""
        with torch.enable_grad(), in_precision(targets.device, self.precision):
            rows = len(targets) // len(weights)
            total = (self.loss(self.model(*inputs), targets).unflatten(0, (-1, rows)).mean(1) * weights).sum()
        chosen = {self.names[id(p)]: p for p in self.model.parameters() if p.requires_grad}
        found = torch.autograd.grad(total, list(chosen.values()), allow_unused=True)
        return {name: each for name, each in zip(chosen, found, strict=True) if each is not None}
