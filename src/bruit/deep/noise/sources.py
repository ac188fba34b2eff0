"""Random sources for the noise and the batches of a training."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from bruit.core.seeds import Seed
from bruit.deep.per_sample.factored_gradients import wide, wide_kind


class Noise(Protocol):
    """The interface of a noise source: one tensor of normal noise per call."""

    def normal(self, like: Tensor) -> Tensor:
        """Normal noise of the shape, dtype and device of a tensor."""


@dataclass(frozen=True)
class Source:
    """A random stream for one stretch of training steps; `name` says which generator it uses.

    On a GPU the noise is drawn there, by torch's generator under a key from `rng`.
    """

    rng: np.random.Generator
    name: str
    seeded: bool
    on_device: torch.Generator | None = None

    def normal(self, like: Tensor) -> Tensor:
        """Standard normal noise with the shape, dtype and device of a tensor, which is float32 or float64."""
        if self.on_device is not None:
            return torch.randn(like.shape, generator=self.on_device, dtype=like.dtype, device=like.device)
        kind = np.float64 if like.dtype == torch.float64 else np.float32
        return torch.from_numpy(self.rng.standard_normal(tuple(like.shape), dtype=kind)).to(like.device)


def noisy(
    sums: Mapping[str, Tensor], parameters: Mapping[str, Tensor], stream: Noise | None, scale: float
) -> dict[str, Tensor]:
    """Adds noise of one scale to the gradient sum of every parameter, including those that no sample contributed to.

    All noise of one type of number is drawn at once; the sums are changed in place. Without a stream there is none.
    """
    if stream is None:
        return {name: sums[name] if name in sums else torch.zeros_like(wide(p)) for name, p in parameters.items()}
    noise: dict[str, Tensor] = {}
    for kind in {wide_kind(parameter.dtype) for parameter in parameters.values()}:
        own = {name: each for name, each in parameters.items() if wide_kind(each.dtype) == kind}
        sizes = [each.numel() for each in own.values()]
        place = next(iter(own.values())).device
        drawn = stream.normal(torch.empty(sum(sizes), dtype=kind, device=place)).split(sizes)
        noise |= {name: piece.view(own[name].shape) for name, piece in zip(own, drawn, strict=True)}
    untouched = [each for name, each in noise.items() if name not in sums]
    if untouched:
        torch._foreach_mul_(untouched, scale)
    touched = [name for name in noise if name in sums]
    if touched:
        torch._foreach_add_([sums[name] for name in touched], [noise[name] for name in touched], alpha=scale)
    return {name: sums.get(name, noise[name]) for name in parameters}


def source(
    rng: np.random.Generator | None, *, entry: int, stretch: int, device: torch.device, strong: bool = False
) -> Source:
    """A random source that no other stretch of steps shares: freshly keyed, or derived from a seeded generator.

    A caller's generator gives one number; with the entry that paid and the count of the stretch it makes a stream that
    a training that goes on after a stop does not see again.                               [docs/rules.md 8]
    """
    if rng is not None and Seed(rng).seeded:
        key = [int(rng.integers(2**63)), entry, stretch]
        stream, name = np.random.default_rng(key), type(rng.bit_generator).__name__
        return _source_on(stream, f"PCG64 derived from the caller's {name}", device, seeded=True, strong=strong)
    stream, name = _fresh()
    return _source_on(stream, name, device, seeded=False, strong=strong)


def _fresh() -> tuple[np.random.Generator, str]:
    """A stream of the strong source; where that is not installed, NumPy keyed by the operating system."""
    try:
        from bruit.randomness import generator
    except ImportError:
        key = int.from_bytes(os.urandom(32), "little")
        return np.random.Generator(np.random.PCG64(key)), "PCG64 keyed by the operating system"
    return generator(None), "AES-128 in counter mode, keyed by the operating system"


def _source_on(rng: np.random.Generator, name: str, device: torch.device, *, seeded: bool, strong: bool) -> Source:
    if device.type == "cpu" or strong:
        return Source(rng, name, seeded)
    there = torch.Generator(device)
    there.manual_seed(int(rng.integers(2**63)))
    return Source(rng, f"torch's generator on {device.type}, keyed by {name}", seeded, there)
