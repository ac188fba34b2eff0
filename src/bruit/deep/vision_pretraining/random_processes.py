"""Random noise pictures: coloured textures cut to soft-edged shapes and laid over each other (dead leaves).

No photograph is behind any of it. Leaves that hide each other are what gives natural scenes their edges and their
statistics of all sizes.                                                                            [Lee et al. 2001]
"""

from __future__ import annotations

import torch
from torch import Tensor

from bruit.deep.vision_pretraining.draws import Draws
from bruit.deep.vision_pretraining.textures import coordinate_networks, coordinates, textures

PICTURE_SIDE = 48
"""Pixels of a side: views are cropped from it."""

LEAVES = 7
"""The most leaves in a picture; from none to all are equally likely."""


def pictures(draws: Draws, count: int, side: int) -> Tensor:
    """Random noise pictures of shape (count, 3, side, side) with values within [0, 1]."""
    painted = colour(draws, textures(draws, count, side))
    found, leaves = painted, draws.integers(LEAVES + 1, count, 1, 1, 1)
    for number in range(LEAVES):
        mask = leaf_masks(draws, count, side)
        leaf = painted[draws.permutation(count)] * draws.uniform(count, 1, 1, 1, low=0.7, high=1.3)
        leaf = leaf + draws.uniform(count, 3, 1, 1, low=-0.25, high=0.25)  # a shade of its own
        found = torch.where(number < leaves, torch.lerp(found, leaf, mask), found)
    return found.clamp(0, 1)


def colour(draws: Draws, fields: Tensor) -> Tensor:
    """Colours textures around a random colour, with randomly mixed and partly desaturated channels.

    In natural scenes most of the variation is common to the three colours.
    """
    count = len(fields)
    axes = draws.normal(count, 3, 3)
    mixed = torch.einsum("nij,njhw->nihw", axes / axes.norm(dim=2, keepdim=True), fields)
    common = 1.5 * mixed.mean(1, keepdim=True)
    varied = torch.lerp(common, mixed, draws.uniform(count, 1, 1, 1))
    return draws.uniform(count, 3, 1, 1) + draws.uniform(count, 1, 1, 1, low=0.03, high=0.38) * varied


def leaf_masks(draws: Draws, count: int, side: int) -> Tensor:
    """Masks of (count, 1, side, side), 1 inside and 0 outside: superellipses, half of them frayed by a random pattern.

    |x|^p + |y|^p < 1 in turned, stretched and shifted coordinates, with an edge of a drawn softness.
    """
    turn = draws.angles(count, 1, 1)
    radii = draws.log_uniform(count, 2, 1, 1, low=0.12, high=0.9)
    x, y = (coordinates(side, draws.device) - draws.uniform(count, 2, 1, 1, low=-1, high=1)).unbind(1)
    along = (turn.cos() * x + turn.sin() * y) / radii[:, 0]
    aside = (turn.cos() * y - turn.sin() * x) / radii[:, 1]
    power = draws.log_uniform(count, 1, 1, low=0.8, high=6.0)
    level = along.abs().add(1e-4).pow(power) + aside.abs().add(1e-4).pow(power)
    frayed = 0.5 * draws.coins(count, 1, 1, chance=0.5)
    level = level + frayed * coordinate_networks(draws, count, side, channels=1, width=8, depth=2)[:, 0]
    sharpness = draws.uniform(count, 1, 1, low=1.5, high=4.0).exp()
    return torch.sigmoid(sharpness * (1 - level))[:, None]


class Pool:
    """A pool of pictures stored as bytes, the oldest replaced now and then, since drawing a picture is slow."""

    def __init__(self, draws: Draws, *, size: int, side: int, at_once: int) -> None:
        self._draws, self._at_once, self._oldest = draws, at_once, 0
        self._kept = torch.empty(size, 3, side, side, dtype=torch.uint8, device=draws.device)
        for _ in range(size // at_once):
            self.renew()

    def renew(self) -> None:
        """Replaces the `at_once` oldest pictures by new ones."""
        drawn = pictures(self._draws, self._at_once, self._kept.shape[-1])
        self._kept[self._oldest : self._oldest + self._at_once] = (255 * drawn).round().to(torch.uint8)
        self._oldest = (self._oldest + self._at_once) % len(self._kept)

    def batch(self, count: int) -> Tensor:
        """`count` pictures chosen at random from the pool, with values within [0, 1]."""
        return self._kept[self._draws.integers(len(self._kept), count)].float() / 255
