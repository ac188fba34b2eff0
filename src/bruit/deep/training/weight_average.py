"""An exponential moving average (EMA) of the weights: less noisy than the last iterate, at no privacy cost."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bruit.errors import InvalidArgument


class WeightAverage:
    """Averages the trainable weights of a model over its steps: a ← d·a + (1 − d)·θ.

    d = min(decay, (1 + t)/(10 + t)) after t steps, so that the start is soon forgotten.            [De et al. 2022]
    The guarantee of a training covers every iterate, and whatever is computed from iterates alone is covered too.
    """

    def __init__(self, model: nn.Module, *, decay: float) -> None:
        if not 0 < decay < 1:
            raise InvalidArgument(f"average={decay}: give the decay of the average of weights, within (0, 1)")
        self.decay, self.steps = decay, 0
        self._weights = {name: each for name, each in model.named_parameters() if each.requires_grad}
        self._averages: dict[str, Tensor] = {name: each.detach().clone() for name, each in self._weights.items()}

    def update(self) -> None:
        """Adds the current weights to the average; call after each step."""
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            for name, average in self._averages.items():
                average.lerp_(self._weights[name], 1 - decay)

    def put_into_model(self) -> None:
        """Replaces the model's weights by their averages."""
        with torch.no_grad():
            for name, average in self._averages.items():
                self._weights[name].copy_(average)
