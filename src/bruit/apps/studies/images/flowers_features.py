"""102 flowers as features of frozen networks, kept in the user's cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bruit.apps.data.files import cache
from bruit.apps.data.images import Images, flowers102, stand_in
from bruit.apps.findings import Size
from bruit.apps.studies.images.device import best_device
from bruit.apps.studies.images.frozen_features import Features
from bruit.apps.studies.images.pretrained import NETWORKS, lite_features
from bruit.deep.features.preparation import unit

SIZES = (176, 224, 272)
CELLS = 12
"""A small study cuts images into so many squares each way, whose mean colours are its features."""


@lru_cache(maxsize=2)
def images(size: Size) -> Images:
    """The flower images; the small study uses a few digits instead."""
    return flowers102() if size == "full" else stand_in(144, colours=3, classes=102).first(300, 100)


@lru_cache(maxsize=2)
def features(size: Size) -> Features:
    """Square roots of the features of three networks at three image sizes, each network's rows scaled to norm one."""
    return _features(size, NETWORKS, SIZES, CELLS)


@lru_cache(maxsize=4)
def reduce_features(size: Size, reduction: int) -> Features:
    """Features of one network on images of 224 pixels reduced by a factor."""
    return _features(size, NETWORKS[:1], (224 // reduction,), CELLS // reduction)


def _features(size: Size, networks: Sequence[str], sizes: Sequence[int], cells: int) -> Features:
    data, device = images(size), best_device()
    pixels = torch.from_numpy(np.concatenate([data.train, data.test]))
    if size == "full" and not data.note:
        parts = [_cached(name, sizes, partial(lite_features, pixels, name, sizes, device=device)) for name in networks]
    else:
        parts = [functional.adaptive_avg_pool2d(pixels / 255, cells).flatten(1)]
    rows = torch.cat([unit(part.to(device).float().clamp(min=0).sqrt()) for part in parts], 1)
    labels, test_labels = (torch.from_numpy(part).to(device) for part in (data.labels, data.test_labels))
    cut = len(data.train)
    return Features(rows[:cut], labels, rows[cut:], test_labels, data.classes, data.held_out)


def _cached(network: str, sizes: Sequence[int], make: Callable[[], Tensor]) -> Tensor:
    """Features from the user's cache, or made and put there."""
    path = cache() / "flowers102" / f"{network}-{'-'.join(map(str, sizes))}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npy")
        np.save(part, make().half().cpu().numpy())
        part.replace(path)  # a killed run leaves no half of a file behind
    return torch.from_numpy(np.load(path))
