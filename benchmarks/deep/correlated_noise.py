"""Trains a linear layer on digits with independent and with banded noise: `python -m benchmarks.deep.correlated_noise`.

Each image is scaled to norm 1. The number of bands is the one of the least expected error, which asks for no data; the
batch size and the learning rate of either way are the best on images that are neither trained on nor tested. Prints one
line of JSON for each ε and way, with the accuracies on the test images.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bruit.apps.data.images import mnist
from bruit.deep import Banded, train
from bruit.ledger import Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW

SIZE, HELD_OUT = 20_000, 5_000
DELTA, CLIP = 1e-5, 1.0
EPOCHS = 5
EPSILONS, BANDS, SEEDS = (1, 3, 8), (2, 4, 8, 16), range(5)
BATCHES, RATES = (200, 800), (4, 8, 16, 32, 64, 128)

Data = tuple[Tensor, Tensor]


def features(images: np.ndarray, labels: np.ndarray) -> Data:
    return nn.functional.normalize(torch.from_numpy(images).flatten(1) / 255), torch.from_numpy(labels)


def accuracy(data: Data, seen: Data, *, bands: int, epsilon: float, batch_size: int, rate: float, seed: int) -> float:
    """The share of images that a model of one run names right."""
    inputs, labels = data
    model = nn.Linear(inputs.shape[1], 10, bias=False)
    nn.init.zeros_(model.weight)
    book = Ledger("digits", epsilon=epsilon, delta=DELTA, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    train(
        model,
        (inputs, labels),
        budget=book.budget(epsilon=epsilon, delta=DELTA),
        epochs=EPOCHS,
        batch_size=batch_size,
        clip=CLIP,
        correlation=Banded(bands),
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=rate),
        rng=np.random.default_rng(seed),
    )
    with torch.no_grad():
        return float((model(seen[0]).argmax(1) == seen[1]).float().mean())


def expected(bands: int, epsilon: float, batch_size: int) -> float:
    run: dict[str, Any] = {
        "size": SIZE,
        "batch_size": batch_size,
        "epochs": EPOCHS,
        "delta": DELTA,
        "target_epsilon": epsilon,
    }
    return Banded(bands).expected_error(Banded(bands).plan(**run, neighbours=ADD_OR_REMOVE_ONE))


def ways(epsilon: float) -> dict[str, list[dict[str, Any]]]:
    """The settings to choose from, with independent and with banded noise."""
    best = {batch: min(BANDS, key=lambda bands: expected(bands, epsilon, batch)) for batch in BATCHES}
    tried = list(itertools.product(BATCHES, RATES))
    return {
        "independent": [{"bands": 1, "batch_size": batch, "rate": rate} for batch, rate in tried],
        "banded": [{"bands": best[batch], "batch_size": batch, "rate": rate} for batch, rate in tried],
    }


def main() -> None:
    digits = mnist()
    data = features(digits.train[:SIZE], digits.labels[:SIZE])
    held_out = features(digits.train[-HELD_OUT:], digits.labels[-HELD_OUT:])
    test = features(digits.test, digits.test_labels)
    for epsilon in EPSILONS:
        for way, settings in ways(epsilon).items():
            found = [accuracy(data, held_out, epsilon=epsilon, seed=100, **each) for each in settings]
            chosen = settings[int(np.argmax(found))]
            right = [accuracy(data, test, epsilon=epsilon, seed=seed, **chosen) for seed in SEEDS]
            line = {"epsilon": epsilon, "way": way, **chosen, "mean": np.mean(right), "spread": np.std(right, ddof=1)}
            print(json.dumps(line | {"all": right}), flush=True)


if __name__ == "__main__":
    main()
