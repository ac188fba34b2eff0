"""Private heads over frozen features: chooses a recipe on validation data, then tests it on several seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from bruit.core.best_of import BestOf
from bruit.core.losses import Gaussian
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep.features import FrozenHead, Recipe, train_head
from bruit.ledger import Ledger
from bruit.privacy import calibrate, epsilon


@dataclass(frozen=True, eq=False)
class Features:
    """Cached features with labels; the last `held_out` training records are for validation."""

    train: Tensor
    labels: Tensor
    test: Tensor
    test_labels: Tensor
    classes: int
    held_out: int
    channels: int | None = None

    def without_held_out(self) -> Features:
        """The same features without the validation records."""
        kept = len(self.train) - self.held_out
        return replace(self, train=self.train[:kept], labels=self.labels[:kept], held_out=0)

    def chosen_on(self) -> Features:
        """The same features with the validation records as the test set."""
        kept = len(self.train) - self.held_out
        return replace(
            self,
            train=self.train[:kept],
            labels=self.labels[:kept],
            test=self.train[kept:],
            test_labels=self.labels[kept:],
        )


@dataclass(frozen=True)
class Trial:
    """The test accuracies of one recipe at one budget: of its last and of its averaged iterate."""

    recipe: Recipe
    last: float
    averaged: float

    @property
    def best(self) -> float:
        """The better of the two accuracies."""
        return max(self.last, self.averaged)

    @property
    def choice(self) -> Recipe:
        """The recipe, with averaging on or off as was better."""
        return replace(self.recipe, average=self.averaged > self.last)


def trial(data: Features, recipe: Recipe, *, epsilon: float, delta: float, rng: np.random.Generator) -> Trial:
    """Trains once and measures the accuracy of the last and of the averaged iterate."""
    book = Ledger("study", epsilon=epsilon, delta=delta, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    price = book.budget(epsilon=epsilon, delta=delta)
    release = train_head(
        data.train, data.labels, recipe, classes=data.classes, budget=price, channels=data.channels, rng=rng
    )
    head = cast(FrozenHead, release.value)
    last, averaged = (accuracy(head.using(average=each), data.test, data.test_labels) for each in (False, True))
    return Trial(recipe, last, averaged)


def choose_recipe(
    data: Features,
    recipes: Iterable[Recipe],
    *,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
    on_trial: Callable[[Trial], None] | None = None,
) -> Recipe:
    """The recipe with the best validation accuracy, averaged or not; the test set is not used."""
    best: Trial | None = None
    part = data.chosen_on()
    for recipe in recipes:
        found = trial(part, recipe, epsilon=epsilon, delta=delta, rng=rng)
        if on_trial is not None:
            on_trial(found)
        if best is None or found.best > best.best:
            best = found
    assert best is not None
    return best.choice


def accuracy(model: nn.Module, inputs: Tensor, labels: Tensor, *, at_once: int = 4096) -> float:
    """The share of right predictions of a model."""
    with torch.no_grad():
        pairs = zip(inputs.split(at_once), labels.split(at_once), strict=True)
        right = sum(int((model(part).argmax(1) == truth).sum()) for part, truth in pairs)
    return right / len(labels)


def epsilon_with_search(amount: float, delta: float, trials: int) -> float:
    """The ε if every trial of the search had been paid for too, by Gaussian composition."""
    total = Gaussian(float(_noise_of(amount, delta)) / math.sqrt(trials + 1), neighbours=ADD_OR_REMOVE_ONE)
    return float(epsilon(total, delta=delta, by="pld"))


def epsilon_of_best(amount: float, delta: float, trials: int) -> float:
    """The ε of the best of a random number of runs, `trials` on average, where a run costs `amount`.

    The number is geometric, and only the best run is released.            [docs/choosing.md, Theorems 3 and 4]
    """
    run = Gaussian(_noise_of(amount, delta), neighbours=ADD_OR_REMOVE_ONE)
    best = BestOf(run, shape=1, stop=Fraction(1, trials))
    return min(float(epsilon(best, delta=delta, by=each)) for each in ("rdp", "pld"))


def _noise_of(amount: float, delta: float) -> Fraction:
    """The noise multiplier of a Gaussian of so much ε."""
    return calibrate(lambda noise: Gaussian(noise, neighbours=ADD_OR_REMOVE_ONE), epsilon=amount, delta=delta, by="pld")
