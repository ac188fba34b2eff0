"""102 flowers with VGG16: the rows of the thesis's table 1 trained again, convolutions frozen, and all weights trained.

[docs/spec.md S2.16]
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars
import torch
from torch import Tensor, nn

from bruit import sweeps
from bruit.apps.findings import Size
from bruit.apps.networks import FrozenVGG
from bruit.apps.studies.images import flowers_document
from bruit.apps.studies.images.device import best_device
from bruit.apps.studies.images.flowers_features import images
from bruit.apps.studies.images.frozen_features import accuracy
from bruit.apps.studies.images.pretrained import load_vgg, scaled_images, vgg_features, vgg_weights
from bruit.apps.studies.images.stand_ins import images_used
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import train
from bruit.ledger import Ledger

REDUCTION, UNITS = 2, 512
"""Of the table: images of 112 by 112, hidden units of the head."""

NARROW, SHAPE_UNITS, SHAPE_REDUCTION, SHAPE_IMAGES, SHAPE_BATCH = 16, 16, 7, 24, 8
"""Of a run that shows the shape alone: widths over 16, images of 32 by 32."""

FINE_TUNED = (0, 12)
"""Rows of the table that are trained with all weights, too: those of the largest and of the least ε."""

AT_ONCE = 32
REPEATS: Mapping[Size, int] = {"small": 1, "full": 5}
RANDOM_WEIGHTS = (
    "VGG16's weights are not here (bruit data fetch vgg16): widths over 16 with random weights and a few images show "
    "that the experiment runs, and their figures stand beside nobody's."
)


def run(folder: Path, *, size: Size, rng: np.random.Generator | None) -> tuple[tuple[Path, ...], str]:
    """Writes the accuracy of each row; beside the thesis's in `table1.csv` where images and weights are the same."""
    real = is_real(size)
    rows = sweeps.run(
        train_once,
        points(size),
        repeats=REPEATS[size] if real else 1,
        rng=rng,
        file=folder / f"vgg16_{size}{'' if real else '_random'}.jsonl",
    )
    found = sweeps.summary(rows, by=["row", "trained"], within=(0, 1)).filter(polars.col("quantity") == "accuracy")
    settings = polars.DataFrame(flowers_document.TABLE, flowers_document.COLUMNS, orient="row").with_row_index("row")
    shown = settings if real else settings.drop("said_epsilon", "said_accuracy")
    table = shown.cast({"row": polars.Int64}).join(found.drop("quantity"), on="row").sort("trained", "row")
    used = images_used(images(size), size)
    table.with_columns(
        weights=polars.lit("ImageNet" if real else "random"), data=polars.lit(used or "102 flowers")
    ).write_csv(folder / "vgg16.csv")
    return (folder / "vgg16.csv",), _summary(table) if real else RANDOM_WEIGHTS


def is_real(size: Size) -> bool:
    """Whether the flowers and the weights of the thesis are here."""
    return size == "full" and not images(size).stands_in and _weights() is not None


def points(size: Size) -> list[dict[str, Any]]:
    """Each row of the table over frozen convolutions, and two with all weights; a few for the shape alone."""
    frozen = range(len(flowers_document.TABLE)) if is_real(size) else FINE_TUNED[1:]
    tuned = FINE_TUNED if is_real(size) else FINE_TUNED[1:]
    chosen = [("head", row) for row in frozen] + [("all weights", row) for row in tuned]
    return [{"row": row, "trained": trained, "size": size} for trained, row in chosen]


def train_once(*, rng: np.random.Generator, row: int, trained: str, size: Size) -> Mapping[str, float]:
    """Trains once with a row's settings, at the ε that they cost by pld, and gives the accuracy on test flowers."""
    batch_size, _, clip, rate, epochs, *_ = flowers_document.TABLE[row]
    real = is_real(size)
    inputs, labels, test, truth = _pictures(size) if trained == "all weights" else _features(size)
    network = _network(size)
    model: nn.Module = network.requires_grad_() if trained == "all weights" else network.head
    price = flowers_document.row_epsilon(flowers_document.TABLE[row], "pld")
    book = Ledger("flowers", epsilon=price, delta=flowers_document.DELTA, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    train(
        model.to(inputs.device),
        (inputs, labels),
        budget=book.budget(epsilon=price, delta=flowers_document.DELTA),
        epochs=int(epochs) if real else 1,
        batch_size=int(batch_size) if real else SHAPE_BATCH,
        clip=clip,
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=rate),
        at_once=AT_ONCE if trained == "all weights" else None,
        rng=rng,
    )
    return {"accuracy": accuracy(model, test, truth, at_once=AT_ONCE)}


def _network(size: Size) -> FrozenVGG:
    if not is_real(size):
        return FrozenVGG(SHAPE_UNITS, narrow=NARROW)
    state = _weights()
    assert state is not None
    return load_vgg(FrozenVGG(UNITS), state)


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, Tensor] | None:
    return vgg_weights()


@lru_cache(maxsize=1)
def _features(size: Size) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What the frozen convolutions give, computed once, with labels, for training and for the test."""
    train_images, labels, test_images, truth = _bytes(size)
    device = best_device()
    reduction = REDUCTION if is_real(size) else SHAPE_REDUCTION
    network = _network(size)
    inputs, test = (vgg_features(each, network, reduction, device=device) for each in (train_images, test_images))
    return inputs, labels.to(device), test, truth.to(device)


@lru_cache(maxsize=1)
def _pictures(size: Size) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The images themselves, reduced."""
    train_images, labels, test_images, truth = _bytes(size)
    device = best_device()
    side = 224 // (REDUCTION if is_real(size) else SHAPE_REDUCTION)
    inputs, test = (
        torch.cat([scaled_images(part.to(device), side) for part in each.split(256)])
        for each in (train_images, test_images)
    )
    return inputs, labels.to(device), test, truth.to(device)


def _bytes(size: Size) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The 6 552 flowers to train on, without those for validation, and the test flowers; a few for the shape alone."""
    data = images(size)
    kept = len(data.train) - data.held_out
    parts = (data.train[:kept], data.labels[:kept], data.test, data.test_labels)
    some = None if is_real(size) else SHAPE_IMAGES
    train_images, labels, test, truth = (torch.from_numpy(np.ascontiguousarray(part[:some])) for part in parts)
    return train_images, labels, test, truth


def _summary(table: polars.DataFrame) -> str:
    apart = (100 * table["mean"] - table["said_accuracy"]).filter(table["trained"] == "head").to_list()
    tuned = ", ".join(
        f"{100 * mean:.1f} % for {said:g} %"
        for mean, said in table.filter(polars.col("trained") == "all weights").select("mean", "said_accuracy").rows()
    )
    return (
        f"VGG16 frozen, table 1's settings trained again: {min(apart):+.1f} to {max(apart):+.1f} points from "
        f"the thesis's accuracies; with all weights trained {tuned}."
    )
