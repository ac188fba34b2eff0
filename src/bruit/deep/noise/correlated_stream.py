"""Draws the correlated noise of a banded matrix step by step."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from bruit.deep.noise.sources import Source


class Correlated:
    """Turns independent noise z into correlated noise n = C⁻¹z, from the remembered noise of the last few steps.

    n_t = (z_t - Σ_{0<k<b} c_k n_{t-k}) / c_0

    After a step that was not taken to its end, and in a new process, nothing of the past is used: C then falls into two
    blocks, whose columns are no longer than before. What is remembered would uncover the gradients that it hid, so it
    goes into no file.
    """

    def __init__(self, source: Source, coefficients: Iterable[float]) -> None:
        self.source, self.step = source, 0
        self._first, *self._rest = map(float, coefficients)
        self._past: dict[torch.dtype, tuple[int, tuple[Tensor, ...]]] = {}

    def at(self, step: int) -> Correlated:
        """The same stream, positioned at a step."""
        self.step = step
        return self

    def forget(self) -> None:
        """Clears the remembered noise of earlier steps."""
        self._past.clear()

    def normal(self, like: Tensor) -> Tensor:
        """The noise of a step, shaped like a tensor; call once per step and dtype, as each call advances the stream."""
        last, past = self._past.pop(like.dtype, (self.step, ()))  # what fails from here on leaves no past
        if last != self.step - 1:
            past = ()
        noise = self.source.normal(like)
        for coefficient, earlier in zip(self._rest, past, strict=False):
            noise.sub_(earlier, alpha=coefficient)
        noise.div_(self._first)
        kept = (noise.clone(), *past)  # a copy, since the caller may change what it gets
        self._past[like.dtype] = (self.step, kept[: len(self._rest)])
        return noise
