"""Seeded uniform, normal and discrete draws on a device: every random number behind a noise picture comes from here."""

from __future__ import annotations

import math

import torch
from torch import Tensor


class Draws:
    """A stream of random tensors under one seed, on one device; it shares nothing with torch's global generator."""

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self._generator = torch.Generator(self.device)
        self._generator.manual_seed(seed)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Uniform on [low, high)."""
        return low + (high - low) * torch.rand(shape, generator=self._generator, device=self.device)

    def log_uniform(self, *shape: int, low: float, high: float) -> Tensor:
        """Numbers whose logarithm is uniform on [log low, log high): no scale is preferred."""
        return self.uniform(*shape, low=math.log(low), high=math.log(high)).exp()

    def normal(self, *shape: int) -> Tensor:
        """Standard normal."""
        return torch.randn(shape, generator=self._generator, device=self.device)

    def angles(self, *shape: int) -> Tensor:
        """Uniform on the circle, in radians."""
        return self.uniform(*shape, high=2 * math.pi)

    def coins(self, *shape: int, chance: float) -> Tensor:
        """True with the given chance."""
        return self.uniform(*shape) < chance

    def integers(self, below: int, *shape: int) -> Tensor:
        """Uniform on 0 … below − 1."""
        return torch.randint(below, shape, generator=self._generator, device=self.device)

    def permutation(self, size: int) -> Tensor:
        """A uniformly drawn order of `size` things."""
        return torch.randperm(size, generator=self._generator, device=self.device)
