"""The residual network behind `Eyes`; its batch norms keep their statistics of noise pictures for good."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTHS = (96, 192, 384)
"""Channels of the stages, whose maps have the whole, half and a quarter of the side of the image."""

BLOCKS = 2
"""Residual blocks in each stage."""


class Block(nn.Module):
    """A residual block, x + conv(relu(norm(conv(relu(norm(x)))))).                                [He et al. 2016]"""

    def __init__(self, inputs: int, outputs: int, step: int) -> None:
        super().__init__()
        self.first_norm, self.second_norm = nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)
        self.first = nn.Conv2d(inputs, outputs, 3, step, 1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        changed = inputs != outputs or step > 1
        self.shortcut = nn.Conv2d(inputs, outputs, 1, step, bias=False) if changed else None

    def forward(self, values: Tensor) -> Tensor:
        """Feature maps with `outputs` channels; their side is halved where `step` is 2."""
        bent = functional.relu(self.first_norm(values))
        added = self.second(functional.relu(self.second_norm(self.first(bent))))
        return cast(Tensor, added + (values if self.shortcut is None else self.shortcut(bent)))


class Stages(nn.Module):
    """A stem and stages of residual blocks, each stage with half the side length of the one before."""

    def __init__(self, widths: tuple[int, ...] = WIDTHS, blocks: int = BLOCKS) -> None:
        super().__init__()
        self.widths = widths
        self.stem = nn.Conv2d(3, widths[0], 3, 1, 1, bias=False)
        before = (widths[0], *widths[:-1])
        self.stages = nn.ModuleList(
            nn.Sequential(
                Block(inputs, outputs, 1 if place == 0 else 2), *(Block(outputs, outputs, 1) for _ in range(blocks - 1))
            )
            for place, (inputs, outputs) in enumerate(zip(before, widths, strict=True))
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for width in widths)

    def forward(self, images: Tensor) -> list[Tensor]:
        """The normalised maps after each stage, from images of (records, 3, side, side) within [0, 1]."""
        values, found = self.stem(4 * images - 2), []
        for stage, norm in zip(self.stages, self.norms, strict=True):
            values = stage(values)
            found.append(norm(values))
        return found


class Learner(nn.Module):
    """The stages with a three-layer projection head for contrastive training; the head is dropped afterwards."""

    def __init__(self, stages: Stages, *, hidden: int = 1024, outputs: int = 128) -> None:
        super().__init__()
        self.stages = stages
        self.projection = nn.Sequential(
            nn.Linear(stages.widths[-1], hidden, bias=False),
            nn.BatchNorm1d(hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden, bias=False),
            nn.BatchNorm1d(hidden),
            nn.ReLU(),
            nn.Linear(hidden, outputs),
        )

    def forward(self, images: Tensor) -> Tensor:
        """One projection vector for each view."""
        last = functional.relu(self.stages(images)[-1])
        return cast(Tensor, self.projection(last.mean((2, 3))))


def lay_channels_last(module: nn.Module) -> None:
    """Stores the kernels of convolutions with channels last, which is how processors read them fastest."""
    for parameter in module.parameters():
        if parameter.dim() == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
