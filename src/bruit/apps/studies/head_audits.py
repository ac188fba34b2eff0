"""The audit of private heads over features: a canary that moves the private mean or a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.studies.audit_case import SHARP, Case
from bruit.ledger import Budget, Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, Neighbours

DELTA = 0.05
SIZE = 4
OTHERS = [[0.0, 1.0]] * 3
CANARY, OPPOSITE = [1.0, 0.0], [-1.0, 0.0]


def cases(neighbours: Neighbours, *, epsilon: float = SHARP) -> Iterator[Case]:
    """The private mean alone and one step alone, each with the whole budget or nearly so."""
    without = OTHERS if neighbours is ADD_OR_REMOVE_ONE else [*OTHERS, OPPOSITE]
    pair = (without, [*OTHERS, CANARY])
    for part, seen in (("mean", means_seen), ("step", steps_seen)):
        yield Case(
            "deep.train_head",
            neighbours,
            pair,
            partial(seen, neighbours=neighbours, epsilon=epsilon),
            partial(_trained, part=part, neighbours=neighbours, epsilon=epsilon),
            claimed=epsilon,
            delta=DELTA,
            small=800,
            full=50_000 if part == "mean" else 5_000,
            variant=part,
        )


def means_seen(
    rows: list[list[float]], samples: int, rng: np.random.Generator, *, neighbours: Neighbours, epsilon: float
) -> NDArray[np.float64]:
    """The private mean in the direction of the canary, many times from one stream."""
    from bruit.deep.features.preparation import private_mean, unit

    noises, _, _, stream = _paid("mean", rng, neighbours, epsilon)
    features = unit(_data(rows)[0])
    seen = [float(private_mean(features, float(noises.mean), stream.normal, SIZE)[0]) for _ in range(samples)]
    return np.array(seen)


def steps_seen(
    rows: list[list[float]], samples: int, rng: np.random.Generator, *, neighbours: Neighbours, epsilon: float
) -> NDArray[np.float64]:
    """The weight of the canary's direction after one step, many times; the head starts at zero each time."""
    import torch

    from bruit.deep.features.head import fresh_head, step_training
    from bruit.deep.features.preparation import unit

    noises, loss, charge, stream = _paid("step", rng, neighbours, epsilon)
    features, labels = _data(rows)
    head: Any = fresh_head(2, 2, (), stream)
    recipe = replace(_recipe("step"), steps=samples)
    training = step_training(head, unit(features), labels, recipe, noises, charge, loss, SIZE, None, stream)
    seen = []
    for batch in training:
        training.step(batch)
        seen.append(_weight(head))
        torch.nn.init.zeros_(head[0].weight)
    return np.array(seen)


def _paid(part: str, rng: np.random.Generator, neighbours: Neighbours, epsilon: float) -> tuple[Any, Any, Any, Any]:
    """What `train_head` does before it reads a feature."""
    import torch

    from bruit.deep.features.recipe import calibrated_noises, head_loss
    from bruit.deep.noise import source

    price, recipe = _budget(neighbours, epsilon), _recipe(part)
    noises = calibrated_noises(recipe, price, SIZE)
    loss = head_loss(noises, recipe, SIZE, neighbours)
    charge = price.charge(loss, what="deep.train_head")
    return noises, loss, charge, source(rng, entry=charge.number, stretch=0, device=torch.device("cpu"))


def _trained(
    rows: list[list[float]], rng: np.random.Generator, *, part: str, neighbours: Neighbours, epsilon: float
) -> float:
    """One head by the public callable."""
    from bruit.deep import train_head

    features, labels = _data(rows)
    price = _budget(neighbours, epsilon)
    made: Any = train_head(features, labels, _recipe(part), classes=2, budget=price, size=SIZE, rng=rng).value
    return float(made.preparation.step_0[0]) if part == "mean" else _weight(made.last)


def _recipe(part: str) -> Any:
    from bruit.deep import Recipe

    return Recipe(1, 1.0, 0.1, momentum=0.0, mean_share=0.9999 if part == "mean" else 0.0)


def _data(rows: list[list[float]]) -> tuple[Any, Any]:
    import torch

    return torch.tensor(rows), torch.zeros(len(rows), dtype=torch.int64)


def _budget(neighbours: Neighbours, epsilon: float) -> Budget:
    book = Ledger("audit", epsilon=epsilon, delta=DELTA, neighbours=neighbours, person=EACH_ROW)
    return book.budget(epsilon=epsilon, delta=DELTA)


def _weight(head: Any) -> float:
    """How much the head leans towards the first class in the direction that only the canary has."""
    weight = head[0].weight.detach()
    return float(weight[0, 0] - weight[1, 0])
