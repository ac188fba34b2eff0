"""Noise pictures and their views: shapes, ranges, seeds, and the laws that their names promise."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch

from bruit.deep.vision_pretraining import Draws, pictures, view
from bruit.deep.vision_pretraining.random_processes import Pool, leaf_masks
from bruit.deep.vision_pretraining.textures import coordinate_networks, spectral_noise, textures


@pytest.mark.parametrize("process", [textures, spectral_noise, coordinate_networks])
def test_a_texture_has_mean_zero_and_deviation_at_most_one(process: Callable[..., Any]) -> None:
    fields = process(Draws(1), 12, 32)
    assert fields.shape == (12, 3, 32, 32)
    if process is not textures:  # sums of two are less even
        assert fields.std((2, 3)).max() <= 1.001
    torch.testing.assert_close(fields.mean((2, 3)), torch.zeros(12, 3), atol=1e-5, rtol=0)


def test_the_spectrum_of_clouds_falls_as_a_power_between_its_bounds() -> None:
    fields = spectral_noise(Draws(2), 64, 64)
    power = torch.fft.rfft2(fields).abs().square().mean((0, 1))[0, 1:33]
    octaves = [power[low : 2 * low].mean() for low in (1, 2, 4, 8, 16)]
    falls = [float(first / second) for first, second in pairwise(octaves)]
    assert all(2 ** (2 * 0.5) < fall < 2 ** (2 * 2.2) for fall in falls)


def test_masks_lie_within_zero_and_one_and_have_an_inside_and_an_outside() -> None:
    masks = leaf_masks(Draws(3), 64, 32)
    assert masks.shape == (64, 1, 32, 32)
    assert 0 <= float(masks.min()) < 0.01
    assert 0.99 < float(masks.max()) <= 1
    assert 0.05 < float(masks.mean()) < 0.5


def test_a_seed_gives_its_pictures_again_and_another_seed_others() -> None:
    first, again, other = (pictures(Draws(seed), 6, 24) for seed in (4, 4, 5))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert first.shape == (6, 3, 24, 24)
    assert 0 <= float(first.min()) < float(first.max()) <= 1


def test_drawing_leaves_torchs_own_generator_alone() -> None:
    before = torch.get_rng_state()
    view(Draws(6), pictures(Draws(6), 4, 24), light=0.4)
    assert torch.equal(torch.get_rng_state(), before)


def test_two_views_of_a_picture_are_nearer_than_views_of_two_pictures() -> None:
    draws = Draws(7)
    found = pictures(draws, 64, 48)
    first, second = (view(draws, found, light=0.4) for _ in range(2))
    assert first.shape == (64, 3, 32, 32)
    own = (first - second).square().mean((1, 2, 3))
    others = (first - second.roll(1, 0)).square().mean((1, 2, 3))
    assert (own < others).float().mean() > 0.7


def test_a_pool_renews_its_oldest_pictures() -> None:
    pool = Pool(Draws(8), size=12, side=16, at_once=4)
    before = pool._kept.clone()
    pool.renew()
    changed = (pool._kept != before).flatten(1).any(1)
    assert changed.tolist() == [True] * 4 + [False] * 8
    assert pool.batch(5).shape == (5, 3, 16, 16)
