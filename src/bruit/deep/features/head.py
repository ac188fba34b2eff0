"""A private classifier head over frozen features; its feature statistics and all training steps are one charge."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption
from bruit.core.losses import Composed, Scheme
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.core.release import Outcome, Release
from bruit.deep.features.preparation import Normal, Preparation, private_covariance, private_mean, unit, whitener
from bruit.deep.features.recipe import Noises, Recipe, calibrate_noises, head_loss
from bruit.deep.losses import cross_entropy
from bruit.deep.noise.sources import Source, source
from bruit.deep.per_sample.clipping import Clipping
from bruit.deep.per_sample.precision import in_precision
from bruit.deep.training.dataset import Records
from bruit.deep.training.preparation import Settings, prepare_engine
from bruit.deep.training.pricing import require_size_of_cell
from bruit.deep.training.training import Training
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, Charge, ask
from bruit.privacy import TrainingPlan


class FrozenHead(nn.Module):
    """A released head: normalises features, then scores the classes; scores of several views of a record are averaged.

    The guarantee covers every iterate, so both the last one and the mean of the second half may be used.
    """

    def __init__(self, preparation: Preparation, last: nn.Module, averaged: nn.Module, *, average: bool) -> None:
        super().__init__()
        self.preparation, self.last, self.averaged, self.average = preparation, last, averaged, average

    def using(self, *, average: bool) -> FrozenHead:
        """The same head, scoring with the averaged iterate or with the last one."""
        return FrozenHead(self.preparation, self.last, self.averaged, average=average)

    def forward(self, features: Tensor) -> Tensor:
        """One score for each class, from (records, features) or (records, views, features)."""
        head = self.averaged if self.average else self.last
        scores: Tensor = head(self.preparation(features))
        return scores.mean(1) if features.dim() == 3 else scores


def train_head(
    features: Tensor,
    labels: Tensor,
    recipe: Recipe,
    *,
    classes: int,
    budget: Budget | None,
    channels: int | None = None,
    size: int | None = None,
    at_once: int | None = None,
    strong_noise: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
    rng: np.random.Generator | None = None,
) -> Release[nn.Module]:
    """Trains a linear or dense head on cached features by noisy gradient descent on full or Poisson-sampled batches.

    Features are (records, features), or (records, views, features) where a record is seen several ways, its gradient
    being the mean over the views. The private mean, the whitenings and all steps are charged as one loss, composed by
    `pld` or as the book adds up, before a feature is read. The value maps features, as they were given, to scores.
    """
    purchase = ask(budget, what="deep.train_head", person=EACH_ROW, rng=rng)
    require_size_of_cell(purchase, size)
    price = purchase.price
    _check(features, labels, classes)
    known = len(features) if size is None else whole(size, "size", why="the public number of records, or left out")
    noises = plan_head(recipe, features.shape[-1], channels, price, known, at_once)
    loss = head_loss(noises, recipe, known, price.neighbours)
    charge = purchase.pay(loss, assumes=_assumptions(price, size=size))
    stream = source(rng, entry=charge.number, stretch=0, device=features.device, strong=strong_noise)
    preparation, rows = prepare(features, recipe, noises, stream.normal, size=known, channels=channels)
    head = fresh_head(features.shape[-1], classes, recipe.hidden, stream).to(features.device)
    training = step_training(head, rows, labels, recipe, noises, charge, loss, known, at_once, stream)
    averaged = _take_steps(training, on_progress)
    details: dict[str, Any] = {
        "steps": recipe.steps,
        "noise": float(noises.step),
        "mean_noise": None if noises.mean is None else float(noises.mean),
        "whitening_noises": list(map(float, noises.whitenings)),
        "clip": recipe.clip,
        "generator": stream.name,
    }
    value = FrozenHead(preparation, head, averaged, average=recipe.average)
    return charge.finish(Outcome(value=value, method="DP gradient descent on features", details=details))


def plan_head(
    recipe: Recipe, width: int, channels: int | None, price: Budget, size: int, at_once: int | None = None
) -> Noises:
    """The noises that a budget pays for; refuses settings that are out of range, before any charge."""
    Settings(recipe.clip, Clipping.FLAT, at_once)
    Preparation(width, channels).require(each.over for each in recipe.whitenings)
    return calibrate_noises(recipe, price, size)


def prepare(
    features: Tensor, recipe: Recipe, noises: Noises, normal: Normal, *, size: int, channels: int | None
) -> tuple[Preparation, Tensor]:
    """The preparation with its private mean and whitenings, and the features transformed by it."""
    preparation = Preparation(features.shape[-1], channels)
    with torch.no_grad(), in_precision(features.device):
        rows = unit(features.float())
        if noises.mean is not None:
            preparation.add(None, private_mean(rows, float(noises.mean), normal, size))
            rows = preparation.latest(rows)
        for each, noise in zip(recipe.whitenings, noises.whitenings, strict=True):
            covariance = private_covariance(preparation.grams(rows, each.over), float(noise), normal, size)
            preparation.add(each.over, whitener(covariance, floor=each.floor, power=each.power).float())
            rows = preparation.latest(rows)
    return preparation, rows


def _assumptions(price: Budget, *, size: int | None) -> tuple[Assumption, ...]:
    public = (Assumption.PUBLIC_SIZE,) if size is None and price.neighbours is ADD_OR_REMOVE_ONE else ()
    return (Assumption.IDEALISED_ARITHMETIC, *public)


def fresh_head(width: int, classes: int, hidden: Sequence[int], stream: Source) -> nn.Module:
    """A head of dense layers whose last layer starts at zero, so that a linear head needs no random initialisation."""
    layers: list[nn.Module] = []
    for units in hidden:
        layer = nn.Linear(width, units)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(stream.rng.standard_normal(layer.weight.shape)) * (2 / width) ** 0.5)
            layer.bias.zero_()
        layers += [layer, nn.ReLU()]
        width = units
    last = nn.Linear(width, classes, bias=bool(hidden))
    for parameter in last.parameters():
        nn.init.zeros_(parameter)
    return nn.Sequential(*layers, last)


def step_training(
    head: nn.Module,
    rows: Tensor,
    labels: Tensor,
    recipe: Recipe,
    noises: Noises,
    charge: Charge,
    loss: Composed,
    size: int,
    at_once: int | None,
    stream: Source,
) -> Training:
    """The `Training` of a head on prepared features, for the steps that are already charged."""
    planned = TrainingPlan(
        size=size,
        batch_size=recipe.batch_size or size,
        noise_multiplier=float(noises.step),
        epochs=1,
        delta=float(charge.guarantee.delta),
        neighbours=charge.guarantee.neighbours,
        by=charge.guarantee.by,
        scheme=Scheme.POISSON,
        steps=recipe.steps,
        rate=(recipe.batch_size or size) / size,
        epsilon=float(charge.guarantee.epsilon),
        order=None,
        weak=False,
        loss=loss,
        assumes=charge.guarantee.assumes,
    )
    records = Records((rows, labels))
    engine = prepare_engine(head, records, _over_views, Settings(recipe.clip, Clipping.FLAT))
    optimiser = recipe.optimiser(list(head.parameters()))
    return Training(
        engine=engine,
        optimiser=optimiser,
        records=records,
        planned=planned,
        charge=charge,
        stream=stream,
        at_once=at_once,
    )


def _over_views(scores: Tensor, labels: Tensor) -> Tensor:
    """The usual loss, averaged over the views of a record."""
    if scores.dim() == 2:
        return cross_entropy(scores, labels)
    views = scores.shape[1]
    losses = cross_entropy(scores.flatten(0, 1), labels.repeat_interleave(views))
    return losses.view(-1, views).mean(1)


def _take_steps(training: Training, on_progress: Callable[[int, int], None] | None) -> nn.Module:
    """Takes all steps and returns the mean of the second half of the iterates."""
    averaged = copy.deepcopy(training.model)
    for batch in training:
        training.step(batch)
        after = training.done - training.steps // 2
        if after > 0:
            with torch.no_grad():
                for mean, now in zip(averaged.parameters(), training.model.parameters(), strict=True):
                    mean.lerp_(now, 1 / after)
        if on_progress is not None:
            on_progress(training.done, training.steps)
    return averaged


def _check(features: Tensor, labels: Tensor, classes: int) -> None:
    if features.dim() not in (2, 3) or not features.is_floating_point():
        raise InvalidArgument(
            f"features of shape {tuple(features.shape)} and {features.dtype}: give floats as (records, features) or "
            "(records, views, features)"
        )
    if labels.shape != (len(features),) or labels.is_floating_point():
        raise InvalidArgument(f"labels of shape {tuple(labels.shape)}: give one whole number for each record")
    whole(classes, "classes", least=2, why="the number of classes, known beforehand")
