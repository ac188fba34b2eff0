"""CIFAR-10 by the thesis's networks: its small one, and VGG16 from scratch, frozen, or with all weights trained.

Nothing was chosen on these images: the settings are the first that were tried.                [docs/spec.md S2.16]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars
import torch
from torch import Tensor, nn

from bruit import sweeps
from bruit.apps.data.images import Images, cifar10, stand_in
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

REPEATS = {"small network": 5, "VGG16 from scratch": 3, "VGG16, frozen": 3, "VGG16, all weights": 3}
"""Seeds at full size."""

NEEDS_A_GPU = (
    "The thesis's networks were not trained on CIFAR-10 here: that takes a GPU. A small study shows that they run."
)


@dataclass(frozen=True)
class Effort:
    """How long is trained, and how wide VGG16 is."""

    epochs: int
    batch_size: int
    narrow: int
    epsilons: tuple[float, ...]


EFFORTS: Mapping[Size, Effort] = {
    "small": Effort(1, 8, 16, (8.0,)),
    "full": Effort(20, 1000, 1, (1.0, 3.0, 8.0)),
}


def run(
    folder: Path, data: Images, *, size: Size, rng: np.random.Generator | None = None
) -> tuple[tuple[Path, ...], str]:
    """Trains every network at every ε and writes the accuracies; at full size where there is or was a GPU."""
    kinds = [kind for kind in kinds_here(size) if size == "small" or _is_trained_here(folder, kind)]
    if not kinds:
        return (), NEEDS_A_GPU
    rows = [
        sweeps.run(
            train_once,
            points(kind, size),
            repeats=repeats(kind, size),
            rng=rng,
            file=sweep_file(folder, kind, size),
        )
        for kind in kinds
    ]
    found = sweeps.summary(polars.concat(rows), by=["kind", "epsilon"], within=(0, 1))
    found = found.filter(polars.col("quantity") == "accuracy")
    marked(found.sort("kind", "epsilon"), images_used(data, size)).write_csv(folder / "networks.csv")
    return (folder / "networks.csv",), _summary(found, kinds) if not images_used(data, size) else ""


def kinds_here(size: Size) -> tuple[str, ...]:
    """The kinds that can be trained: those that start from ImageNet's weights only where these are."""
    return KINDS[:2] if size == "small" or vgg_weights() is None else KINDS


def points(kind: str, size: Size) -> list[dict[str, str | float]]:
    """The grid of one kind."""
    return [{"kind": kind, "epsilon": epsilon, "size": size} for epsilon in EFFORTS[size].epsilons]


def repeats(kind: str, size: Size) -> int:
    """The number of seeds."""
    return REPEATS[kind] if size == "full" else 1


def sweep_file(folder: Path, kind: str, size: Size) -> Path:
    """Where the trainings of a kind are kept."""
    return folder / f"networks_{kind.replace(',', '').replace(' ', '-')}_{size}.jsonl"


def _is_trained_here(folder: Path, kind: str) -> bool:
    """Whether there is a GPU, or a file of trainings that a GPU has ended."""
    file = sweep_file(folder, kind, "full")
    wanted = repeats(kind, "full") * len(EFFORTS["full"].epsilons) + 1
    return best_device().type == "cuda" or (file.is_file() and len(file.read_text().splitlines()) >= wanted)


def train_once(*, rng: np.random.Generator, kind: str, epsilon: float, size: Size) -> Mapping[str, float]:
    """Trains a network privately and gives its accuracy on the test images."""
    inputs, labels, test, truth = _tensors(size)
    torch.manual_seed(int(rng.integers(2**31)))  # the start of the network
    model = network(kind, EFFORTS[size].narrow).to(inputs.device)
    _fit(model, (inputs, labels), epsilon, EFFORTS[size], rng)
    return {"accuracy": accuracy(model, test, truth, at_once=500)}


def images(size: Size) -> Images:
    """The CIFAR-10 images; the small study uses a few digits instead."""
    return cifar10() if size == "full" else stand_in(32, colours=3, classes=10).first(40, 20)


@lru_cache(maxsize=1)
def _tensors(size: Size) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Images with the colours that the networks know, and their classes: for training, and for the test."""
    data, device = images(size), best_device()
    inputs, test = (
        torch.cat(
            [scaled_images(some.to(device), SIDE) for some in torch.from_numpy(np.ascontiguousarray(each)).split(500)]
        )
        for each in (data.train, data.test)
    )
    labels, truth = (torch.from_numpy(each).to(device) for each in (data.labels, data.test_labels))
    return inputs, labels, test, truth


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
    on_card = data[0].device.type == "cuda"
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
        precision=torch.bfloat16 if on_card else None,
        rng=rng,
    )


def _summary(found: polars.DataFrame, kinds: Sequence[str]) -> str:
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
    seeds = ", ".join(f"{REPEATS[kind]} ({kind})" for kind in kinds)
    left = [kind for kind in KINDS if kind not in kinds]
    others = f" Not trained here: {'; '.join(left)}." if left else ""
    return f"The thesis's networks, trained privately, seeds {seeds}: {'; '.join(parts)}.{others}"
