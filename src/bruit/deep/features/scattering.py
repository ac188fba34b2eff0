"""Scattering features of small images: wavelets, moduli and averages, with nothing learned from any data."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from bruit.errors import InvalidArgument

SIGMA, FREQUENCY = 0.8, 0.75 * math.pi
"""Width and frequency of the finest wavelet."""

MARGIN = 6
"""Pixels that an image is continued by, mirrored, on each side."""


class Scattering(nn.Module):
    """Two layers of scattering of square images: x*φ, |x*ψ|*φ, ||x*ψ|*ψ'|*φ.        [Bruna & Mallat 2013]

    From (images, colours, side, side) to (images, colours · (1 + J L + L² J(J−1)/2), side/2^J, side/2^J) for J scales
    and L angles: 81 maps of 7 by 7 for a digit.
    """

    def __init__(self, side: int, *, scales: int = 2, angles: int = 8) -> None:
        super().__init__()
        if side % 2**scales or side <= MARGIN or not 1 <= scales <= 2:
            raise InvalidArgument(
                f"side={side}, scales={scales}: give one or two scales, and images whose side is a multiple of "
                f"{2**scales} above {MARGIN}; pad or crop them first"
            )
        self.side, self.scales, self.angles = side, scales, angles
        whole = side + 2 * MARGIN
        waves = [
            [
                _morlet(whole, SIGMA * 2**j, math.pi * turn / angles, FREQUENCY / 2**j, 4 / angles)
                for turn in range(angles)
            ]
            for j in range(scales)
        ]
        self.waves: Tensor
        self.low: Tensor
        self.register_buffer("waves", torch.stack([torch.stack([_hat(wave) for wave in row]) for row in waves]))
        self.register_buffer("low", _hat(_gabor(whole, SIGMA * 2 ** (scales - 1), 0.0, 0.0, 1.0)))

    def forward(self, images: Tensor) -> Tensor:
        """The scattering coefficient maps of each image."""
        spectrum = torch.fft.fft2(functional.pad(images, (MARGIN,) * 4, mode="reflect"))
        found = [self._average(spectrum)]
        for scale in range(self.scales):
            for wave in self.waves[scale]:
                first = torch.fft.fft2(_filter(spectrum, wave).abs())
                found.append(self._average(first))
                found += [
                    self._average(torch.fft.fft2(_filter(first, second).abs()))
                    for coarser in range(scale + 1, self.scales)
                    for second in self.waves[coarser]
                ]
        return torch.stack(found, 2).flatten(1, 2)

    def _average(self, spectrum: Tensor) -> Tensor:
        """Low-pass filters and subsamples by 2^J in both directions; in the spectrum, subsampling is folding."""
        step = 2**self.scales
        short = spectrum.shape[-1] // step
        folded = (spectrum * self.low).unflatten(-1, (step, short)).unflatten(-3, (step, short)).mean((-4, -2))
        begin = -(-MARGIN // step)
        inside = slice(begin, begin + self.side // step)
        maps: Tensor = torch.fft.ifft2(folded).real
        return maps[..., inside, inside]


def scattering_features(images: Tensor, *, at_once: int = 1000, scales: int = 2, angles: int = 8) -> Tensor:
    """The scattering features of many images, computed in batches on the device they are on."""
    maps = Scattering(images.shape[-1], scales=scales, angles=angles).to(images.device)
    with torch.no_grad():
        return torch.cat([maps(part) for part in images.split(at_once)])


def _filter(spectrum: Tensor, filter_: Tensor) -> Tensor:
    filtered: Tensor = torch.fft.ifft2(spectrum * filter_)
    return filtered


def _gabor(whole: int, sigma: float, turn: float, frequency: float, slant: float) -> NDArray[np.complex128]:
    """A Gabor wave: a wave under an elliptic Gaussian, in the middle of a square."""
    places = np.arange(whole) - whole // 2
    x, y = np.meshgrid(places, places, indexing="ij")
    along, across = x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn)
    bell = np.exp(-(along**2 + (slant * across) ** 2) / (2 * sigma**2) + 1j * frequency * along)
    return np.asarray(bell * slant / (2 * math.pi * sigma**2))


def _morlet(whole: int, sigma: float, turn: float, frequency: float, slant: float) -> NDArray[np.complex128]:
    """A Morlet wavelet: a Gabor wave corrected so that its sum is zero."""
    wave, bell = _gabor(whole, sigma, turn, frequency, slant), _gabor(whole, sigma, turn, 0.0, slant)
    return np.asarray(wave - wave.sum() / bell.sum() * bell)


def _hat(values: NDArray[np.complex128]) -> Tensor:
    return torch.from_numpy(np.fft.fft2(np.fft.ifftshift(values))).to(torch.complex64)
