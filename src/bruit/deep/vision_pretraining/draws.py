"""Seeded uniform, normal and discrete random tensors on a device, the only randomness behind noise pictures."""

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
        """Draws whose logarithm is uniform on [log low, log high)."""
        return self.uniform(*shape, low=math.log(low), high=math.log(high)).exp()

    def normal(self, *shape: int) -> Tensor:
        """Standard normal."""
        return torch.randn(shape, generator=self._generator, device=self.device)

    def angles(self, *shape: int) -> Tensor:
        """Angles in radians, uniform on the circle."""
        return self.uniform(*shape, high=2 * math.pi)

    def coins(self, *shape: int, chance: float) -> Tensor:
        """Independent booleans, true with probability `chance`."""
        return self.uniform(*shape) < chance

    def integers(self, below: int, *shape: int) -> Tensor:
        """Uniform on 0 … below − 1."""
        return torch.randint(below, shape, generator=self._generator, device=self.device)

    def permutation(self, size: int) -> Tensor:
        """A uniformly random permutation of `size` indices."""
        return torch.randperm(size, generator=self._generator, device=self.device)
