"""Random textures from two processes, spectral noise and coordinate networks, that use no real images.

Fields have the shape (count, channels, side, side), and mean 0 and deviation about 1 in each channel of each picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from bruit.deep.vision_pretraining.draws import Draws

BENDS: tuple[Callable[[Tensor], Tensor], ...] = (
    torch.sin,
    torch.cos,
    torch.tanh,
    torch.abs,
    torch.relu,
    lambda sums: torch.exp(-sums * sums),
    lambda sums: 0.7 * torch.sin(2 * sums).sign(),
    lambda sums: sums,
)
"""What the neurons of a coordinate network may do to their sum."""

BENT_ALIKE = 4
"""Neurons in a row that one of them is drawn for."""

WAVES = 6
"""Random plane waves that a coordinate network is given beside the coordinates."""


def textures(draws: Draws, count: int, side: int) -> Tensor:
    """Three channels for each picture: half coordinate networks, a quarter spectral noise, a quarter sums of both."""
    patterns, clouds = coordinate_networks(draws, count, side), spectral_noise(draws, count, side)
    kind, weight = draws.uniform(count, 1, 1, 1), draws.uniform(count, 1, 1, 1)
    weight = torch.where(kind < 0.5, 1.0, torch.where(kind < 0.75, 0.0, weight))
    return torch.lerp(clouds, patterns, weight)


def spectral_noise(draws: Draws, count: int, side: int) -> Tensor:
    """Clouds: Gaussian noise with the spectrum 1/f^a, a uniform on [0.5, 2.2]; natural scenes have a near 1.

    [Field 1987]
    """
    across, down = torch.fft.rfftfreq(side, device=draws.device), torch.fft.fftfreq(side, device=draws.device)
    frequency = (across.square() + down[:, None].square()).sqrt().clamp(min=1 / side)
    fall = frequency.pow(-draws.uniform(count, 1, 1, 1, low=0.5, high=2.2))
    spectrum = torch.view_as_complex(draws.normal(count, 3, side, len(across), 2)) * fall
    return _standardise(torch.fft.irfft2(spectrum, s=(side, side)), floor=1e-4)


def coordinate_networks(
    draws: Draws, count: int, side: int, *, channels: int = 3, width: int = 16, depth: int = 3
) -> Tensor:
    """Patterns, stripes and rings: a random small network of the coordinates for each picture.     [Stanley 2007]"""
    places = _placed_coordinates(draws, count, side)
    radius = places.square().sum(1, keepdim=True).add(1e-6).sqrt()
    directions = draws.normal(count, WAVES, 2) * (0.7 * draws.normal(count, WAVES, 1)).exp()
    waves = torch.sin(directions @ places + draws.angles(count, WAVES, 1))
    values = torch.cat([places, radius, waves, torch.ones_like(radius)], 1)
    for layer in range(depth):
        values = _random_layer(draws, values, width, skip=layer > 0)
    mixed = 1.5 / math.sqrt(width) * draws.normal(count, channels, width) @ values
    return _standardise(mixed.view(count, channels, side, side), floor=0.1)


def coordinates(side: int, device: torch.device) -> Tensor:
    """Pixel coordinates as (2, side, side): across and down, each from −1 to 1."""
    line = torch.linspace(-1, 1, side, device=device)
    down, across = torch.meshgrid(line, line, indexing="ij")
    return torch.stack([across, down])


def _placed_coordinates(draws: Draws, count: int, side: int) -> Tensor:
    """Coordinates seen through a random turn, zoom, stretch and shift for each picture: (count, 2, side · side)."""
    turn, zoom = draws.angles(count), draws.log_uniform(count, low=0.5, high=6.0)
    stretch = (0.4 * draws.normal(count)).exp()
    across = torch.stack([turn.cos(), -turn.sin()], 1) * (zoom * stretch)[:, None]
    down = torch.stack([turn.sin(), turn.cos()], 1) * (zoom / stretch)[:, None]
    shift = 0.5 * draws.normal(count, 2, 1) * zoom[:, None, None]
    return torch.stack([across, down], 1) @ coordinates(side, draws.device).flatten(1) + shift


def _random_layer(draws: Draws, values: Tensor, width: int, *, skip: bool) -> Tensor:
    """Random sums, bent by drawn functions, in a random order; with `skip` half of the pictures add what came in."""
    count, inputs = values.shape[:2]
    weights = 1.6 / math.sqrt(inputs) * draws.normal(count, width, inputs)
    sums = weights @ values + 0.3 * draws.normal(count, width, 1)
    kinds = draws.integers(len(BENDS), width // BENT_ALIKE).tolist()
    bent = torch.cat([BENDS[kind](part) for kind, part in zip(kinds, sums.split(BENT_ALIKE, 1), strict=True)], 1)
    if skip:
        bent = bent + values * draws.coins(count, 1, 1, chance=0.5)
    return bent[:, draws.permutation(width)]


def _standardise(fields: Tensor, *, floor: float) -> Tensor:
    """Fields less their mean over the picture, over their deviation plus a floor: a constant field becomes zero."""
    return (fields - fields.mean((2, 3), keepdim=True)) / (fields.std((2, 3), keepdim=True) + floor)
