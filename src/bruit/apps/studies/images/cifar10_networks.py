"""CIFAR-10 by the thesis's networks: its small one, and VGG16 from scratch, frozen, or with all weights trained.

Nothing was chosen on these images: the settings are the first that were tried.                [docs/spec.md S2.16]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars
import torch
from torch import Tensor, nn

from bruit import sweeps
from bruit.apps.data.images import Images
from bruit.apps.findings import Size
from bruit.apps.networks import DigitsNetwork, FrozenVGG
from bruit.apps.studies.images.device import best_device
from bruit.apps.studies.images.frozen_features import accuracy
from bruit.apps.studies.images.pretrained import load_vgg, scaled_images, vgg_weights
from bruit.apps.studies.images.stand_ins import images_used, marked
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import train
from bruit.ledger import Ledger

DELTA, CLIP, RATE, SIDE = 1e-5, 1.0, 0.5, 32
KINDS = ("small network", "VGG16 from scratch", "VGG16, frozen", "VGG16, all weights")
"""The last two start from ImageNet's weights, and are left out where these are not here."""

NEEDS_A_GPU = (
    "The thesis's networks were not trained on CIFAR-10 here: that takes a GPU. A small study shows that they run."
)


@dataclass(frozen=True)
class Effort:
    """How long is trained, and how wide VGG16 is."""

    epochs: int
    batch_size: int
    repeats: int
    narrow: int
    epsilons: tuple[float, ...]


EFFORTS: Mapping[Size, Effort] = {
    "small": Effort(1, 8, 1, 16, (8.0,)),
    "full": Effort(20, 1000, 5, 1, (1.0, 3.0, 8.0)),
}


def run(
    folder: Path, data: Images, *, size: Size, rng: np.random.Generator | None = None
) -> tuple[tuple[Path, ...], str]:
    """Trains every network at every ε and writes the accuracies; at full size where there is a GPU."""
    if size == "full" and best_device().type != "cuda":
        return (), NEEDS_A_GPU
    effort = EFFORTS[size]
    kinds = KINDS[:2] if size == "small" or vgg_weights() is None else KINDS
    grid: list[dict[str, str | float]] = [
        {"kind": kind, "epsilon": epsilon, "size": size} for kind in kinds for epsilon in effort.epsilons
    ]
    device = best_device()
    parts = [
        torch.cat(
            [scaled_images(some.to(device), SIDE) for some in torch.from_numpy(np.ascontiguousarray(each)).split(500)]
        )
        for each in (data.train, data.test)
    ]
    labels, truth = (torch.from_numpy(each).to(device) for each in (data.labels, data.test_labels))

    def train_once(*, rng: np.random.Generator, kind: str, epsilon: float, size: Size) -> Mapping[str, float]:
        model = network(kind, EFFORTS[size].narrow).to(device)
        _fit(model, (parts[0], labels), epsilon, EFFORTS[size], rng)
        return {"accuracy": accuracy(model, parts[1], truth, at_once=500)}

    file = folder / f"networks_{size}.jsonl"
    rows = sweeps.run(train_once, grid, repeats=effort.repeats, rng=rng, file=file)
    found = sweeps.summary(rows, by=["kind", "epsilon"], within=(0, 1)).filter(polars.col("quantity") == "accuracy")
    marked(found.sort("kind", "epsilon"), images_used(data, size)).write_csv(folder / "networks.csv")
    return (folder / "networks.csv",), _summary(found, kinds) if not images_used(data, size) else ""


def network(kind: str, narrow: int) -> nn.Module:
    """An untrained network of a kind, or one that starts from ImageNet's weights."""
    if kind == "small network":
        return DigitsNetwork(3, SIDE)
    model = FrozenVGG(512 // narrow, 10, narrow=narrow)
    state = None if kind == "VGG16 from scratch" else vgg_weights()
    if state is not None:
        load_vgg(model, state)
    return model if kind == "VGG16, frozen" else model.requires_grad_()


def _fit(
    model: nn.Module, data: tuple[Tensor, Tensor], epsilon: float, effort: Effort, rng: np.random.Generator
) -> None:
    book = Ledger("cifar10", epsilon=epsilon, delta=DELTA, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    train(
        model,
        data,
        budget=book.budget(epsilon=epsilon, delta=DELTA),
        epochs=effort.epochs,
        batch_size=effort.batch_size,
        clip=CLIP,
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=RATE),
        at_once=250,
        rng=rng,
    )


def _summary(found: polars.DataFrame, kinds: tuple[str, ...]) -> str:
    parts = [
        f"{kind}: "
        + ", ".join(
            f"{100 * mean:.1f} ± {100 * deviation:.1f} % at ε = {epsilon:g}"
            for epsilon, mean, deviation in found.filter(polars.col("kind") == kind)
            .sort("epsilon")
            .select("epsilon", "mean", "deviation")
            .rows()
        )
        for kind in kinds
    ]
    return f"The thesis's networks, trained privately, {EFFORTS['full'].repeats} seeds: {'; '.join(parts)}."
