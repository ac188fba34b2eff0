"""102 flowers: private heads over a network pretrained on noise images only, never on a photograph."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars
import torch
from torch import Tensor
from torch.nn import functional

from bruit import sweeps
from bruit.apps.findings import Size
from bruit.apps.studies.images.device import best_device
from bruit.apps.studies.images.flowers_features import images
from bruit.apps.studies.images.frozen_features import Features, trial
from bruit.apps.studies.images.stand_ins import images_used, marked
from bruit.deep import eye_features
from bruit.deep.features import Over, Recipe, Whitening

DELTA = 1e-4
"""The thesis's, weak for 6 552 flowers."""

RECIPE = Recipe(40, 16, 0.2, mean_share=0.04, whitenings=(Whitening(0.1, 0.003, 0.5, Over.CHANNELS),))
"""The first that was tried: nothing was chosen on flowers."""

QUICK = Recipe(5, 16, 0.2, mean_share=0.04)
CHANNELS = 1344
SIDES: Mapping[Size, int] = {"small": 16, "full": 48}
"""Pixels that flowers are scaled down to."""

EPSILONS: Mapping[Size, tuple[float, ...]] = {"small": (8.3,), "full": (1.0, 4.0, 8.3)}
REPEATS: Mapping[Size, int] = {"small": 2, "full": 5}


def run(folder: Path, *, size: Size, rng: np.random.Generator | None = None) -> tuple[Path, ...]:
    """Trains a head at each budget on several seeds and writes the accuracies."""
    points = [{"epsilon": epsilon, "size": size} for epsilon in EPSILONS[size]]
    rows = sweeps.run(train_once, points, repeats=REPEATS[size], rng=rng, file=folder / f"eyes_{size}.jsonl")
    table = (
        sweeps.summary(rows, by=["epsilon"], within=(0, 1)).filter(polars.col("quantity") == "accuracy").sort("epsilon")
    )
    marked(table, images_used(images(size), size)).write_csv(folder / "eyes.csv")
    return (folder / "eyes.csv",)


def train_once(*, rng: np.random.Generator, epsilon: float, size: Size) -> Mapping[str, float]:
    """Trains one private head and returns its accuracy on the test flowers."""
    recipe = RECIPE if size == "full" else QUICK
    return {"accuracy": trial(features(size), recipe, epsilon=epsilon, delta=DELTA, rng=rng).last}


@lru_cache(maxsize=2)
def features(size: Size) -> Features:
    """The noise-pretrained network's features of each downscaled flower; the validation images are left out."""
    data, device = images(size), best_device()
    kept = len(data.train) - data.held_out
    train, test = (_look(torch.from_numpy(part), SIDES[size], device) for part in (data.train[:kept], data.test))
    labels, test_labels = (torch.from_numpy(part).to(device) for part in (data.labels[:kept], data.test_labels))
    return Features(train, labels, test, test_labels, data.classes, 0, CHANNELS)


def _look(pixels: Tensor, side: int, device: torch.device, *, at_once: int = 500) -> Tensor:
    """Features in half precision, of some images at a time."""
    scaled = torch.cat([functional.interpolate(part / 255, size=side, mode="area") for part in pixels.split(at_once)])
    return eye_features(scaled.to(device), at_once=100).flatten(1).half()
