"""Trainings with correlated noise, of the tests."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from deep.books import halves, ledger
from torch import nn

import bruit
from bruit.deep import Banded, Training, privatise


def started(bands: int = 3, *, model: nn.Module | None = None, **changed: Any) -> Training:
    settings = {
        "budget": ledger().budget(epsilon=8.0, delta=1e-5),
        "epochs": 2,
        "batch_size": 64,
        "clip": 1.0,
        "correlation": Banded(bands),
        "rng": np.random.default_rng(1),
        "data": halves(),
    } | changed
    torch.manual_seed(4)
    model = nn.Linear(4, 2) if model is None else model
    data = settings.pop("data")
    return privatise(model, torch.optim.SGD(model.parameters(), lr=0.1), data, **settings)  # type: ignore[arg-type]


def taken(training: Training, steps: int = 100) -> list[np.ndarray]:
    """Takes steps and gives the places of their batches."""
    places = []
    for batch, _ in zip(training, range(steps), strict=False):
        training.step(batch)
        places.append(batch.places)
    return places


def resumable(book: bruit.Ledger, file: Path, *, seed: int | None = None, bands: int = 4) -> Training:
    """Twenty steps, with stretches of six that are made whole rounds of four."""
    rng = None if seed is None else np.random.default_rng(seed)
    asked: dict[str, Any] = {"budget": book.budget(epsilon=2.0, delta=1e-5), "epochs": 5, "rng": rng}
    return started(bands, checkpoint=file, every=6, **asked)
