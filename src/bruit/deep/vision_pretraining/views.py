"""Random augmentations (views) of pictures for contrastive learning: crops, turns, mirrors, changes of light."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from bruit.deep.vision_pretraining.draws import Draws

SIDE = 32
LIGHT = 0.4
"""How far the light of views may change; of 0.4, 0.6 and 0.8 the first was best, and half of it far worse."""

TINT = 0.125
"""Deviation of the colour that is added, over `light`."""


def view(draws: Draws, found: Tensor, *, light: float) -> Tensor:
    """A view of 32×32 pixels of each picture: cropped, turned a little, mirrored or not, in another light.

    Brightness, contrast and saturation change by up to `light`: what is the same in two lights is what is learned.
    """
    return _relit(draws, _crop(draws, found), light).clamp(0, 1)


def _crop(draws: Draws, found: Tensor) -> Tensor:
    """A fifth to the whole of the area, sides in ratios up to 4 : 3, turned by a few degrees, mirrored by a coin."""
    count = len(found)
    size = draws.uniform(count, low=0.2, high=1.0).sqrt()
    ratio = draws.log_uniform(count, low=0.87, high=1.15)
    wide, high = (size * ratio).clamp(max=1), (size / ratio).clamp(max=1)
    turn = 0.12 * draws.normal(count)
    mirror = 1 - 2 * draws.coins(count, chance=0.5).float()
    across = draws.uniform(count, low=-1, high=1) * (1 - wide)
    down = draws.uniform(count, low=-1, high=1) * (1 - high)
    rows = [
        torch.stack([turn.cos() * wide * mirror, -turn.sin() * high, across], 1),
        torch.stack([turn.sin() * wide * mirror, turn.cos() * high, down], 1),
    ]
    grid = functional.affine_grid(torch.stack(rows, 1), [count, 3, SIDE, SIDE], align_corners=False)
    return functional.grid_sample(found, grid, padding_mode="reflection", align_corners=False)


def _relit(draws: Draws, found: Tensor, light: float) -> Tensor:
    """Four in five are brighter or darker, of more or less contrast and saturation and tinted; one in five is grey."""
    count = len(found)
    often = draws.coins(count, 1, 1, 1, chance=0.8).float()
    brightness, contrast, saturation = (
        1 + often * draws.uniform(count, 1, 1, 1, low=-light, high=light) for _ in range(3)
    )
    found = found * brightness
    middle = found.mean((1, 2, 3), keepdim=True)
    found = (found - middle) * contrast + middle
    grey = found.mean(1, keepdim=True)
    found = (found - grey) * saturation + grey + often * TINT * light * draws.normal(count, 3, 1, 1)
    found = torch.where(draws.coins(count, 1, 1, 1, chance=0.2), found.mean(1, keepdim=True), found)
    blurred = functional.avg_pool2d(functional.pad(found, (1, 1, 1, 1), mode="replicate"), 3, 1)
    found = torch.lerp(found, blurred, draws.coins(count, 1, 1, 1, chance=0.3) * draws.uniform(count, 1, 1, 1))
    return found + 0.03 * draws.uniform(count, 1, 1, 1) * draws.normal(*found.shape)
