"""The audit of DP-SGD: a canary of known gradient, and an attacker who sees every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.audits.case import SHARP, Case, fresh_budget
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, Neighbours
from bruit.ledger import Budget

DELTA = 0.05
SIZE, BATCH, CLIP = 4, 2, 1.0
"""Half of the records a step, so that one epoch takes two."""

BOOKS: dict[str, str | tuple[str, int]] = {"": "basic", "zcdp": "zcdp", "rdp": ("rdp", 4)}
"""How the book of a search adds up."""

KINDS = ("people", "views", "adaptive clip")
"""Trainings in which a person owns several records, a record has several views, or the bound follows the norms."""

RECORDS, COUNTED, VIEWS = 6, 3, 3
"""The records of the person who is looked for, all canaries, those that count in a step, and the views of a record."""

OTHERS = [[0.0, 5.0]] * 3
CANARY, OPPOSITE = [9.0, 0.0], [-9.0, 0.0]
"""Gradients in a direction of their own, clipped to the bound."""


def cases(neighbours: Neighbours, *, epsilon: float = SHARP) -> Iterator[Case]:
    """Cases of a training in one call, of one step by step and of a search; none where torch is not installed."""
    if find_spec("torch") is None:
        return
    without = OTHERS if neighbours is ADD_OR_REMOVE_ONE else [*OTHERS, OPPOSITE]
    pair = (without, [*OTHERS, CANARY])
    for name, once in (("deep.train", _train_in_one_call), ("deep.privatise", _train_by_steps)):
        yield Case(
            name,
            neighbours,
            pair,
            partial(epochs_seen, neighbours=neighbours, epsilon=epsilon),
            partial(once, neighbours=neighbours, epsilon=epsilon),
            claimed=epsilon,
            delta=DELTA,
            small=600,
            full=5_000,
        )
    for kind in KINDS:
        yield Case(
            "deep.privatise",
            neighbours,
            pair,
            partial(epochs_seen, neighbours=neighbours, epsilon=epsilon, kind=kind),
            claimed=epsilon,
            delta=DELTA,
            small=600,
            full=5_000,
            variant=kind,
        )
    for variant, by in BOOKS.items():
        yield Case(
            "deep.RecipeSearch",
            neighbours,
            pair,
            partial(scores_seen, neighbours=neighbours, epsilon=epsilon, by=by),
            claimed=epsilon,
            delta=DELTA,
            small=600,
            full=5_000,
            variant=variant,
        )


def scores_seen(
    rows: list[list[float]],
    samples: int,
    rng: np.random.Generator,
    *,
    neighbours: Neighbours,
    epsilon: float,
    by: str | tuple[str, int] = "basic",
) -> NDArray[np.float64]:
    """Many released scores of a search of one run, of a model that gets the canary right and nobody else.

    Trainings have cases of their own: here the network stays what it is, and what shows is who was held back.
    """
    import torch

    from bruit.deep.searching import Trial
    from bruit.ledger import ask
    from bruit.ledger.best_of_runs import price_runs

    budget = fresh_budget(neighbours, epsilon, DELTA, by=by)
    purchase = ask(budget, what="deep.RecipeSearch", person=EACH_ROW, rng=rng)
    trial = Trial(price_runs(purchase, tries=1, stopping="geometric", sampled=True), 2, 2, SIZE, rng)
    inputs = torch.tensor(rows)
    targets, model = (inputs[:, 0] <= 0).long(), torch.nn.Linear(2, 2)
    with torch.no_grad():
        model.weight.zero_()
        model.bias.copy_(torch.tensor([1.0, 0.0]))
    helds = [trial.hold_back(len(rows), rng) for _ in range(samples)]
    return np.array([trial.score(model, inputs[held], targets[held], rng) for held in helds])


def epochs_seen(
    rows: list[list[float]],
    samples: int,
    rng: np.random.Generator,
    *,
    neighbours: Neighbours,
    epsilon: float,
    kind: str = "",
) -> NDArray[np.float64]:
    """The sum of what each of many epochs' noisy steps tells of the canary; the model is never updated."""
    budget = fresh_budget(neighbours, epsilon, DELTA, person="owner" if kind == "people" else EACH_ROW)
    model, training = _start_training(rows, rng, budget, kind)
    epoch, start = training.steps, training.engine
    training.paid = replace(training.paid, steps=samples * epoch)
    seen = []
    for batch in training:
        if batch.number % epoch == 0:
            training.engine = start  # every epoch begins with the same bound
        before = training.engine.bound
        training.step(batch)
        seen.append(_along(model) if training.adaptive is None else _with_bound(training, before))
    sums: NDArray[np.float64] = np.array(seen).reshape(samples, -1).sum(1)
    return sums


def _with_bound(training: Any, before: float) -> float:
    """The likelihood ratio of one step with a bound that adapts: a clipped canary adds 1 bound and −½ to the count."""
    adaptive, noise, size = training.adaptive, training.paid.noise, training.paid.batch_size
    share = adaptive.quantile - np.log(training.engine.bound / before) / adaptive.rate
    gradient = _along(training.model) * size / before / adaptive.gradient_noise(noise, size) ** 2
    return float(gradient - 0.5 * (share - 0.5) * size / adaptive.deviation(noise, size) ** 2)


def _train_by_steps(
    rows: list[list[float]], rng: np.random.Generator, *, neighbours: Neighbours, epsilon: float
) -> float:
    """One epoch, step by step."""
    model, training = _start_training(rows, rng, fresh_budget(neighbours, epsilon, DELTA))
    return float(np.sum([_along(model, training.step(batch)) for batch in training]))


def _train_in_one_call(
    rows: list[list[float]], rng: np.random.Generator, *, neighbours: Neighbours, epsilon: float
) -> float:
    """One epoch, in one call."""
    import torch

    from bruit.deep import train

    seen: list[float] = []
    model = _model()
    train(
        model,
        _data(rows),
        budget=fresh_budget(neighbours, epsilon, DELTA),
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=0.0),
        on_progress=lambda *_: seen.append(_along(model)),
        rng=rng,
        **_settings(),
    )
    return float(np.sum(seen))


def _start_training(
    rows: list[list[float]], rng: np.random.Generator, budget: Budget, kind: str = ""
) -> tuple[Any, Any]:
    import torch

    from bruit.deep import AdaptiveClip, Views, privatise

    how: dict[str, Any] = {}
    if kind == "people":
        owned = [RECORDS if place >= len(OTHERS) else 1 for place in range(len(rows))]
        rows = [row for row, count in zip(rows, owned, strict=True) for _ in range(count)]
        how = {"person": np.repeat(np.arange(len(owned)), owned), "records_per_person": COUNTED}
    elif kind == "views":
        how = {"views": Views(VIEWS, lambda record: record + 0.1 * torch.randn_like(record))}
    elif kind == "adaptive clip":
        how = {"clip": AdaptiveClip(start=CLIP)}
    model = _model()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.0)
    return model, privatise(model, optimiser, _data(rows), budget=budget, rng=rng, **_settings() | how)


def _settings() -> dict[str, Any]:
    """Settings with a loss whose gradient, for each sample, is that sample's input."""
    how = {"epochs": 1, "batch_size": BATCH, "clip": CLIP, "size": SIZE}
    return {**how, "loss": lambda outputs, targets: outputs[:, 0] + 0 * targets}


def _model() -> Any:
    from torch import nn

    return nn.Linear(2, 1, bias=False)


def _data(rows: list[list[float]]) -> Any:
    import torch

    return torch.tensor(rows), torch.zeros(len(rows))


def _along(model: Any, _step: None = None) -> float:
    """The released gradient in the direction of the canary."""
    return float(model.weight.grad[0, 0])
