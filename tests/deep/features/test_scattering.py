"""Scattering features: their shapes, what they do not see, and convolutions computed directly."""

import numpy as np
import pytest
import torch

from bruit.deep.features import Scattering, scattering_features
from bruit.deep.features.scattering import MARGIN, _gabor, _morlet
from bruit.errors import InvalidArgument


def test_a_digit_has_81_maps_of_7_by_7() -> None:
    assert scattering_features(torch.rand(2, 1, 28, 28), at_once=1).shape == (2, 81, 7, 7)
    assert scattering_features(torch.rand(1, 3, 32, 32)).shape == (1, 243, 8, 8)


def test_a_flat_image_has_only_its_level() -> None:
    maps = scattering_features(torch.full((1, 1, 16, 16), 0.5))[0]
    torch.testing.assert_close(maps[0], torch.full((4, 4), 0.5), atol=2e-2, rtol=0)
    assert maps[1:].abs().max() < 1e-5


def test_the_first_order_is_a_modulus_averaged() -> None:
    image = np.random.default_rng(0).random((16, 16))
    padded = np.pad(image, MARGIN, mode="reflect")
    whole = len(padded)
    kernel = np.fft.ifftshift(_morlet(whole, 0.8, 0.0, 0.75 * np.pi, 0.5))
    low = np.fft.ifftshift(_gabor(whole, 1.6, 0.0, 0.0, 1.0))
    wave = np.abs(_around(padded, kernel))
    expected = _around(wave, low).real[8:24:4, 8:24:4]
    found = Scattering(16)(torch.from_numpy(image).float()[None, None])[0, 1]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


def _around(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """A cyclic convolution, by its definition."""
    whole = len(image)
    found = np.zeros((whole, whole), complex)
    for x in range(whole):
        for y in range(whole):
            found += kernel[x, y] * np.roll(image, (x, y), (0, 1))
    return found


def test_sides_that_do_not_divide_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="multiple of 4"):
        Scattering(30)
