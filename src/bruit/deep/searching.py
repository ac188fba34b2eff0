"""A private search over recipes: the best of a random number of trainings, paid for as one charge.

A run draws a recipe, trains it on some of the records and counts, with noise, how many of the others it gets right.
Only the best run is released; how many there were is never told.        [Liu & Talwar 2019; Papernot & Steinke 2022]
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.core.release import Outcome, Release
from bruit.deep.checks.isolation import NO_ROOM
from bruit.deep.checks.sample_independence import equal_draws
from bruit.deep.dp_sgd import Optimiser, train
from bruit.deep.features.head import FrozenHead, plan_head, train_head
from bruit.deep.features.recipe import Recipe
from bruit.deep.losses import cross_entropy
from bruit.deep.per_sample.clipping import Clipping
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.pricing import require_size_of_cell
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, Payment, Purchase, Quote, ask
from bruit.ledger.best_of_runs import RunPrice, Stopping, price_runs

WHAT = "deep.RecipeSearch"
SCORED_TOGETHER = 1024
"""Records that a head scores together: always so many, so that nobody's place decides with whom."""


@dataclass(frozen=True)
class NetworkRecipe:
    """A network and how `train` shall train it: everything but data and budget.

    `make` gives a fresh network; it must not look at the data.
    """

    make: Callable[[], nn.Module]
    epochs: int
    batch_size: int
    clip: float
    optimiser: Optimiser = torch.optim.Adam
    loss: Loss = cross_entropy
    clipping: Clipping = Clipping.FLAT
    average: float | None = None


@dataclass(frozen=True)
class Trial:
    """How recipes are trained and scored: the price of a run, public numbers, and a source of chance if one was given.

    parts      one of so many parts of the records is held back for the score
    size       the public number of records that are trained on
    channels   that of a head's features, where they are maps
    """

    run: RunPrice
    classes: int
    parts: int
    size: int
    seed: np.random.Generator | None
    channels: int | None = None

    def fit(
        self, recipe: Recipe | NetworkRecipe, inputs: Tensor, targets: Tensor, budget: Budget
    ) -> Release[nn.Module]:
        """A head or a network, trained at the price of one run."""
        if isinstance(recipe, Recipe):
            asked = {"classes": self.classes, "size": self.size, "rng": self.seed, "channels": self.channels}
            return train_head(inputs, targets, recipe, budget=budget, **asked)  # type: ignore[arg-type]
        return train(
            recipe.make(),
            (inputs, targets),
            budget=budget,
            epochs=recipe.epochs,
            batch_size=recipe.batch_size,
            clip=recipe.clip,
            optimiser=recipe.optimiser,
            loss=recipe.loss,
            clipping=recipe.clipping,
            average=recipe.average,
            size=self.size,
            rng=self.seed,
        )

    def rehearse(
        self, recipe: Recipe | NetworkRecipe, inputs: Tensor, targets: Tensor, budget: Budget
    ) -> tuple[nn.Module, bool]:
        """A copy of a model that was trained on made-up records, and whether that took its samples as kept apart.

        What cannot be copied cannot be scored.
        """
        trained = self.fit(recipe, inputs, targets, budget)
        try:
            return copy.deepcopy(trained.value), Assumption.SAMPLES_APART in trained.guarantee.assumes
        except Exception as error:
            raise InvalidArgument(
                f"{WHAT} scores every record with a copy of the network; make= gave one that copy.deepcopy refuses"
            ) from error

    def hold_back(self, records: int, rng: np.random.Generator) -> Tensor:
        """Which records are held back: a die for every record, whatever it holds and whoever else is there."""
        return torch.from_numpy(draw_below(self.parts, records, rng) == 0)

    def score(self, model: nn.Module, inputs: Tensor, targets: Tensor, rng: np.random.Generator) -> float:
        """The noisy number of records that a model gets right; one record moves the exact one by at most one.

        Records are scored one by one, by equal copies of the model and equal draws of torch, NumPy and Python: no
        record, not even one that a model fails on or remembers, moves what another counts, and the model stays as it
        was trained. A head of ours does nothing but scale and multiply each row, so its records are scored together.
        """
        if type(model) is FrozenHead:
            right = self._count_right(model, inputs, targets)
        else:
            seed = draw_seed(rng)
            places = range(len(targets))
            right = sum(self._is_right(model, inputs[place : place + 1], targets[place], seed) for place in places)
        return float((right + self.run.score_noise(1, rng))[0])

    def _count_right(self, head: FrozenHead, features: Tensor, targets: Tensor) -> int:
        """How many records a head gets right, each with finite scores; a last batch is filled up with zeros."""
        right = 0
        with torch.no_grad():
            for part, truth in zip(features.split(SCORED_TOGETHER), targets.split(SCORED_TOGETHER), strict=True):
                filled = torch.zeros(SCORED_TOGETHER, *part.shape[1:], dtype=part.dtype, device=part.device)
                filled[: len(part)] = part
                scores = head(filled)[: len(part)]
                right += int(((scores.argmax(1) == truth) & scores.isfinite().all(1)).sum())
        return right

    def _is_right(self, model: nn.Module, record: Tensor, truth: Tensor, seed: int) -> bool:
        """Whether a model gets one record right; not where it fails or gives no finite score for each class."""
        try:
            with torch.no_grad(), equal_draws(record.device, seed):
                scores = copy.deepcopy(model).eval()(record.clone())  # a view lies in the memory of all records
            scored = scores.numel() == self.classes and bool(scores.isfinite().all())
            return scored and int(scores.argmax()) == int(truth)
        except NO_ROOM:
            raise
        except Exception:  # which records a model fails on is private
            return False


@dataclass(frozen=True, kw_only=True)
class RecipeSearch:
    """Searches recipes privately: `quote` tells the price, `fit` pays, trains and releases the best model.

    A `Recipe` trains a head on features, as `train_head` does; a `NetworkRecipe` a network, as `train` does. Each run
    holds back one of `held_parts` parts of the records, trains on the others and counts, with noise, how many of those
    held back it gets right. All runs together cost about two of them where all recipes are of heads on full batches,
    whose noise is normal; otherwise three, or two where their number is "logarithmic", which more often is one.

    recipes    what is tried, drawn at random for each run
    classes    the number of classes, known beforehand
    budget     pays for everything, with a delta; in a book by "zcdp" sampled batches cost as much as full ones
    tries      the expected number of runs; twice the number of recipes unless given
    channels   that of the features of heads, where these are maps: for whitenings over channels or positions
    size       the public number of records; without it that of the data is taken and assumed public
    """

    recipes: Sequence[Recipe | NetworkRecipe]
    classes: int
    budget: Payment
    tries: int | None = None
    stopping: Stopping = "geometric"
    held_parts: int = 4
    channels: int | None = None
    size: int | None = None
    rng: np.random.Generator | None = None

    def quote(self) -> Quote:
        """The guarantee and the cost of the search, before anything is trained or charged.

        Where `fit` meets a network whose samples are computed in a loop, its guarantee also assumes them kept apart.
        """
        purchase, run = self._price()
        return purchase.quote(run.whole, assumes=_assumptions(purchase, self.size))

    def fit(self, inputs: Tensor, targets: Tensor) -> Release[nn.Module]:
        """The best model of a random number of trainings, which recipe it is of, and its noisy score.

        Every recipe is first trained on made-up records, so that what one refuses is refused before the charge; of
        recipes of heads that differ in numbers alone, one. A record at which model or loss fail moves no step (see
        `train`); a training that diverged, which its noisy steps tell, counts as that on made-up records. Networks
        start from the charge's own chance: a seed given to torch has no part in them.
        """
        purchase, run = self._price()
        _check(inputs, targets, self.classes)
        parts = whole(self.held_parts, "held_parts", least=2)
        known = len(inputs) if self.size is None else whole(self.size, "size")
        trial = Trial(run, self.classes, parts, known - known // parts, self.rng, self.channels)
        made_up = torch.zeros_like(inputs[:parts]), torch.zeros_like(targets[:parts])
        with torch.random.fork_rng(range(torch.cuda.device_count())):  # what torch draws would tell the number of runs
            untrained, apart = self._rehearse(trial, *made_up)
            taken = (Assumption.SAMPLES_APART,) if apart else ()
            charge = purchase.pay(run.whole, assumes=(*_assumptions(purchase, self.size), *taken))
            source, best = charge.generator(), (-inf, 0, untrained[0])
            for number in range(run.draw_runs(source)):
                paid = run.budget(f"{purchase.price.ledger.name} entry {charge.number} try {number}")
                found = self._try(trial, inputs, targets, paid, untrained, source)
                best = max(best, found, key=lambda each: each[0])
        details = {"recipe": best[1], "score": best[0], "epsilon_of_a_run": run.epsilon}
        return charge.finish(Outcome(value=best[2], method="best of a random number of trainings", details=details))

    def _try(
        self,
        trial: Trial,
        inputs: Tensor,
        targets: Tensor,
        paid: Budget,
        untrained: Sequence[nn.Module],
        source: np.random.Generator,
    ) -> tuple[float, int, nn.Module]:
        """One run: its noisy score, the number of its recipe, and its model."""
        held = trial.hold_back(len(inputs), source).to(inputs.device)
        chosen = int(draw_below(len(self.recipes), 1, source)[0])
        torch.manual_seed(draw_seed(source))
        records = inputs[~held], targets[~held]
        try:
            model = trial.fit(self.recipes[chosen], *records, paid).value
        except NO_ROOM:
            raise
        except Exception:  # no record stops a training; noisy steps that diverge do, and are private already
            model = copy.deepcopy(untrained[chosen])
        return trial.score(model, inputs[held], targets[held], source), chosen, model

    def _rehearse(self, trial: Trial, inputs: Tensor, targets: Tensor) -> tuple[list[nn.Module], bool]:
        """A model of each recipe, trained on made-up records, and whether any training assumes samples kept apart.

        Heads of one structure share theirs.
        """
        found: list[nn.Module] = []
        shared: dict[object, tuple[nn.Module, bool]] = {}
        for number, recipe in enumerate(self.recipes):
            key: object = number
            budget = trial.run.budget("rehearsal")
            if isinstance(recipe, Recipe):
                plan_head(recipe, inputs.shape[-1], self.channels, budget, trial.size)
                key = recipe.structure
            if key not in shared:
                shared[key] = trial.rehearse(recipe, inputs, targets, budget)
            found.append(shared[key][0])
        return found, any(apart for _, apart in shared.values())

    def _price(self) -> tuple[Purchase, RunPrice]:
        """What pays for the search, and the price of one of its runs."""
        purchase = ask(self.budget, what=WHAT, person=EACH_ROW, rng=self.rng)
        require_size_of_cell(purchase, self.size)
        if not len(self.recipes) or not all(isinstance(each, Recipe | NetworkRecipe) for each in self.recipes):
            raise InvalidArgument("recipes= must be a list of deep.Recipe or deep.NetworkRecipe, at least one")
        if not purchase.price.delta:
            raise InvalidArgument(f"{WHAT} is paid with budget(epsilon=..., delta=...): Gaussian noise needs a delta")
        tries = 2 * len(self.recipes) if self.tries is None else whole(self.tries, "tries")
        sampled = any(each.batch_size is not None for each in self.recipes)
        return purchase, price_runs(
            purchase, tries=tries, stopping=self.stopping, sampled=sampled, gaussian=not sampled
        )


def _assumptions(purchase: Purchase, size: int | None) -> tuple[Assumption, ...]:
    public = size is None and purchase.price.neighbours is ADD_OR_REMOVE_ONE
    return (Assumption.IDEALISED_ARITHMETIC, *((Assumption.PUBLIC_SIZE,) if public else ()))


def _check(inputs: Tensor, targets: Tensor, classes: int) -> None:
    whole(classes, "classes", least=2, why="the number of classes, known beforehand")
    if not (isinstance(inputs, Tensor) and isinstance(targets, Tensor)) or targets.shape != (len(inputs),):
        raise InvalidArgument(f"{WHAT} takes a tensor of inputs and a tensor of one whole number for each of them")


def draw_below(sides: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Exact uniform draws from 0 to sides - 1; loaded here, so that training alone needs no compiled samplers."""
    from bruit.randomness import uniform_below

    return uniform_below(sides, size, rng=rng)


def draw_seed(rng: np.random.Generator) -> int:
    """A seed for the generators of torch, NumPy and Python; NumPy's takes 32 bits."""
    return int(rng.integers(2**32))
