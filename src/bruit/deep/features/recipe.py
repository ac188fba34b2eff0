"""The settings of a private head, how the budget is split between its parts, and their total privacy loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import nn

from bruit.core.losses import Composed, Gaussian, Loss, Sampled, Scheme, composed
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.deep.features.preparation import Whitening
from bruit.deep.training.pricing import accounting_of
from bruit.errors import InvalidArgument
from bruit.ledger import Budget
from bruit.privacy import calibrate, epsilon

NUDGE = 1.0005
"""Noises are rounded to six digits; where that made them too small, the level is raised by this."""


@dataclass(frozen=True)
class Recipe:
    """The settings of a head's training; shares are fractions of the squared budget, and the steps take the rest.

    `rate` is the learning rate over the bound `clip`; `average` releases the mean of the second half of the iterates
    instead of the last one. Without `batch_size` every step is over all records.
    """

    steps: int
    rate: float
    clip: float
    momentum: float = 0.9
    adam: bool = False
    average: bool = False
    batch_size: int | None = None
    hidden: tuple[int, ...] = ()
    mean_share: float = 0.0
    whitenings: tuple[Whitening, ...] = ()

    def __post_init__(self) -> None:
        if self.steps < 1 or not self.rate > 0:
            raise InvalidArgument(f"steps={self.steps}, rate={self.rate}: give at least one step and a rate above 0")
        if not (self.mean_share >= 0 and self.steps_share > 0):
            raise InvalidArgument(
                f"the shares of the mean and of the whitenings add up to {1 - self.steps_share:g}: leave something for "
                "the steps"
            )

    @property
    def steps_share(self) -> float:
        """The share of the squared budget that is left for the training steps."""
        return 1 - self.mean_share - sum(each.share for each in self.whitenings)

    @property
    def structure(self) -> tuple[object, ...]:
        """What decides which parts a head has, and not how large its numbers are."""
        kinds = tuple(each.over for each in self.whitenings)
        return (self.adam, self.average, self.batch_size, self.hidden, self.mean_share > 0, kinds)

    def noises(self, level: float, size: int) -> Noises:
        """The noise multipliers of mean, whitenings and steps at a common level: a smaller share gives more noise."""
        rate = 1.0 if self.batch_size is None else self.batch_size / size
        return Noises(
            mean=_digits(level / math.sqrt(self.mean_share)) if self.mean_share else None,
            whitenings=tuple(_digits(level / math.sqrt(each.share)) for each in self.whitenings),
            step=_digits(level * math.sqrt(self.steps / self.steps_share) * rate),
        )

    def optimiser(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        """Adam, or gradient descent with momentum."""
        if self.adam:
            return torch.optim.Adam(parameters, lr=self.rate)
        return torch.optim.SGD(parameters, lr=self.rate / self.clip, momentum=self.momentum)


@dataclass(frozen=True)
class Noises:
    """The noise multipliers of the private mean, each whitening and each step, under add-or-remove neighbours."""

    mean: Fraction | None
    whitenings: tuple[Fraction, ...]
    step: Fraction


def calibrate_noises(recipe: Recipe, price: Budget, size: int) -> Noises:
    """The smallest noise multipliers, in the proportions given by the shares, that the budget pays for."""
    if price.by not in (None, "pld"):
        raise InvalidArgument(f"by={price.by!r}: a head is priced by pld, or as its book adds up; leave by= away")
    asked = {"delta": price.delta, **accounting_of(price)}
    level = calibrate(
        lambda level: head_loss(recipe.noises(float(level), size), recipe, size, price.neighbours),
        epsilon=price.epsilon,
        **asked,
    )
    found = recipe.noises(float(level), size)
    while epsilon(head_loss(found, recipe, size, price.neighbours), **asked) > price.epsilon:
        level = level * Fraction(NUDGE)
        found = recipe.noises(float(level), size)
    return found


def head_loss(noises: Noises, recipe: Recipe, size: int, neighbours: Neighbours) -> Composed:
    """The composed privacy loss of mean, whitenings and steps; replacing a record doubles the sensitivity of a sum."""
    once = [each for each in (noises.mean, *noises.whitenings) if each is not None]
    parts: list[tuple[Loss, int]] = [(_sum(noise, neighbours), 1) for noise in once]
    if recipe.batch_size is None:
        step: Loss = _sum(noises.step, neighbours)
    else:
        there = Gaussian(noises.step, neighbours=ADD_OR_REMOVE_ONE)
        rate = Fraction(recipe.batch_size, size)
        step = Sampled(there, rate=rate, scheme=Scheme.POISSON, neighbours=neighbours)
    return composed([*parts, (step, recipe.steps)])


def _sum(noise: Fraction, neighbours: Neighbours) -> Gaussian:
    return Gaussian(noise if neighbours is ADD_OR_REMOVE_ONE else noise / 2, neighbours=neighbours)


def _digits(value: float) -> Fraction:
    return Fraction(f"{value:.5e}")
