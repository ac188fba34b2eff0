"""The audit of private linear heads: a canary that moves the private mean, the whitening or one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.audits.case import SHARP, Case, fresh_budget
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours

Rows = list[list[float]]
DELTA = 0.05
SIZE = 4
NEARLY_ALL = 0.9999
"""The share of the budget given to the part under audit (mean or whitening); the training step has the rest."""

OTHERS = [[0.0, 1.0]] * 3
CANARY, OPPOSITE, ASIDE = [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]
"""The canary's direction; its worst replacement for a mean; and for a covariance, which does not see signs."""


def cases(neighbours: Neighbours, *, epsilon: float = SHARP) -> Iterator[Case]:
    """The private mean, one step and the whitening, each with all or nearly all of the budget."""
    without = OTHERS if neighbours is ADD_OR_REMOVE_ONE else [*OTHERS, OPPOSITE]
    sizes: dict[str, Any]
    for part, seen, small, full in (("mean", means_seen, 5_000, 50_000), ("step", steps_seen, 500, 5_000)):
        sizes = {"claimed": epsilon, "small": small, "full": full}
        yield _case(part, neighbours, without, seen, **sizes)
    without = OTHERS if neighbours is ADD_OR_REMOVE_ONE else [*OTHERS, ASIDE]
    sizes = {"claimed": epsilon, "small": 3_000, "full": 50_000}
    yield _case("whitening", neighbours, without, whitenings_seen, **sizes)


def _case(part: str, neighbours: Neighbours, without: Rows, seen: Callable[..., Any], **sizes: Any) -> Case:
    how: dict[str, Any] = {"neighbours": neighbours, "epsilon": sizes["claimed"]}
    once = partial(_train_head, part=part, **how)
    pair = (without, [*OTHERS, CANARY])
    return Case("deep.train_head", neighbours, pair, partial(seen, **how), once, delta=DELTA, variant=part, **sizes)


def means_seen(
    rows: Rows, samples: int, rng: np.random.Generator, *, neighbours: Neighbours, epsilon: float
) -> NDArray[np.float64]:
    """Many draws of the private mean along the canary's direction."""
    from bruit.deep.features.preparation import private_mean, unit

    noises, _, _, stream = _pay_for_head("mean", rng, neighbours, epsilon)
    features = unit(_data(rows)[0])
    seen = [float(private_mean(features, float(noises.mean), stream.normal, SIZE)[0]) for _ in range(samples)]
    return np.array(seen)


def whitenings_seen(
    rows: Rows, samples: int, rng: np.random.Generator, *, neighbours: Neighbours, epsilon: float
) -> NDArray[np.float64]:
    """Many draws of how the private whitening scales the canary's direction."""
    from bruit.deep.features.preparation import Over, Preparation, unit

    head: Any = import_module("bruit.deep.features.head")  # what it calls, whoever puts something in its place
    noises, _, _, stream = _pay_for_head("whitening", rng, neighbours, epsilon)
    (each,), noise = _recipe("whitening").whitenings, float(noises.whitenings[0])
    gram = Preparation(2, None).grams(unit(_data(rows)[0]), Over.ALL)
    found = []
    for _ in range(samples):
        covariance = head.private_covariance(gram, noise, stream.normal, SIZE)
        found.append(_stretch(head.whitener(covariance, floor=each.floor, power=each.power).float()))
    return np.array(found)


def steps_seen(
    rows: Rows, samples: int, rng: np.random.Generator, *, neighbours: Neighbours, epsilon: float
) -> NDArray[np.float64]:
    """Many draws of the weight along the canary's direction after one step from a head of zeros."""
    import torch

    from bruit.deep.features.head import fresh_head, step_training
    from bruit.deep.features.preparation import unit

    noises, loss, charge, stream = _pay_for_head("step", rng, neighbours, epsilon)
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


def _pay_for_head(
    part: str, rng: np.random.Generator, neighbours: Neighbours, epsilon: float
) -> tuple[Any, Any, Any, Any]:
    """Calibrates and charges as `train_head` does before reading a feature: noises, loss, charge and source."""
    import torch

    from bruit.deep.features.recipe import calibrate_noises, head_loss
    from bruit.deep.noise.sources import source

    price, recipe = fresh_budget(neighbours, epsilon, DELTA), _recipe(part)
    noises = calibrate_noises(recipe, price, SIZE)
    loss = head_loss(noises, recipe, SIZE, neighbours)
    charge = price.charge(loss, what="deep.train_head")
    return noises, loss, charge, source(rng, entry=charge.number, stretch=0, device=torch.device("cpu"))


def _train_head(rows: Rows, rng: np.random.Generator, *, part: str, neighbours: Neighbours, epsilon: float) -> float:
    """One head by the public callable."""
    from bruit.deep import train_head

    features, labels = _data(rows)
    price = fresh_budget(neighbours, epsilon, DELTA)
    made: Any = train_head(features, labels, _recipe(part), classes=2, budget=price, size=SIZE, rng=rng).value
    return SEEN[part](made)


def _recipe(part: str) -> Any:
    from bruit.deep import Recipe, Whitening

    whitenings = (Whitening(NEARLY_ALL, 0.1, power=1.0),) if part == "whitening" else ()
    mean = NEARLY_ALL if part == "mean" else 0.0
    return Recipe(1, 1.0, 0.1, momentum=0.0, mean_share=mean, whitenings=whitenings)


def _data(rows: Rows) -> tuple[Any, Any]:
    import torch

    return torch.tensor(rows), torch.zeros(len(rows), dtype=torch.int64)


def _stretch(matrix: Any) -> float:
    """How much a whitening scales the canary's own direction, relative to the other rows' directions."""
    return float(matrix[0, 0] - matrix[1, 1])


def _weight(head: Any) -> float:
    """How much the head leans towards the first class in the direction that only the canary has."""
    weight = head[0].weight.detach()
    return float(weight[0, 0] - weight[1, 0])


SEEN: dict[str, Callable[[Any], float]] = {
    "mean": lambda made: float(made.preparation.step_0[0]),
    "whitening": lambda made: _stretch(made.preparation.step_0),
    "step": lambda made: _weight(made.last),
}
"""Where the canary shows in a released head."""
