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
from bruit.deep.checks.sample_independence import equal_draws
from bruit.deep.dp_sgd import Optimiser, train
from bruit.deep.features.head import train_head
from bruit.deep.features.recipe import Recipe
from bruit.deep.losses import cross_entropy
from bruit.deep.per_sample.clipping import Clipping
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.pricing import require_size_of_cell
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, Payment, Purchase, Quote, ask
from bruit.ledger.best_of_runs import RunPrice, Stopping, price_runs

WHAT = "deep.RecipeSearch"


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

    parts   one of so many parts of the records is held back for the score
    size    the public number of records that are trained on
    """

    run: RunPrice
    classes: int
    parts: int
    size: int
    seed: np.random.Generator | None

    def fit(self, recipe: Recipe | NetworkRecipe, inputs: Tensor, targets: Tensor, budget: Budget) -> nn.Module:
        """A head or a network, trained at the price of one run."""
        if isinstance(recipe, Recipe):
            asked = {"classes": self.classes, "size": self.size, "rng": self.seed}
            return train_head(inputs, targets, recipe, budget=budget, **asked).value  # type: ignore[arg-type]
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
        ).value

    def rehearse(self, recipe: Recipe | NetworkRecipe, inputs: Tensor, targets: Tensor, budget: Budget) -> nn.Module:
        """A copy of a model that was trained on made-up records; what cannot be copied cannot be scored."""
        model = self.fit(recipe, inputs, targets, budget)
        try:
            return copy.deepcopy(model)
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
        was trained.
        """
        seed = draw_seed(rng)
        places = range(len(targets))
        right = sum(self._is_right(model, inputs[place : place + 1], targets[place], seed) for place in places)
        return float((right + self.run.score_noise(1, rng))[0])

    def _is_right(self, model: nn.Module, record: Tensor, truth: Tensor, seed: int) -> bool:
        """Whether a model gets one record right; not where it fails or gives no finite score for each class."""
        try:
            with torch.no_grad(), equal_draws(record.device, seed):
                scores = copy.deepcopy(model).eval()(record)
            scored = scores.numel() == self.classes and bool(scores.isfinite().all())
            return scored and int(scores.argmax()) == int(truth)
        except Exception:  # which records a model fails on is private
            return False


@dataclass(frozen=True, kw_only=True)
class RecipeSearch:
    """Searches recipes privately: `quote` tells the price, `fit` pays, trains and releases the best model.

    A `Recipe` trains a head on features, as `train_head` does; a `NetworkRecipe` a network, as `train` does. Each run
    holds back one of `held_parts` parts of the records, trains on the others and counts, with noise, how many of those
    held back it gets right. All runs together cost three of them, or two where their number is "logarithmic", which
    more often is one.

    recipes    what is tried, drawn at random for each run
    classes    the number of classes, known beforehand
    budget     pays for everything, with a delta; in a book by "zcdp" sampled batches cost as much as full ones
    tries      the expected number of runs; twice the number of recipes unless given
    size       the public number of records; without it that of the data is taken and assumed public
    """

    recipes: Sequence[Recipe | NetworkRecipe]
    classes: int
    budget: Payment
    tries: int | None = None
    stopping: Stopping = "geometric"
    held_parts: int = 4
    size: int | None = None
    rng: np.random.Generator | None = None

    def quote(self) -> Quote:
        """The guarantee and the cost of the search, before anything is trained or charged."""
        purchase, run = self._price()
        return purchase.quote(run.whole, assumes=_assumptions(purchase, self.size))

    def fit(self, inputs: Tensor, targets: Tensor) -> Release[nn.Module]:
        """The best model of a random number of trainings, which recipe it is of, and its noisy score.

        Every recipe is first trained on made-up records, so that what one refuses is refused before the charge. A
        record at which model or loss fail moves no step (see `train`); a training that diverged, which its noisy steps
        tell, counts as that on made-up records. Networks start from the charge's own chance: a seed given to torch has
        no part in them.
        """
        purchase, run = self._price()
        _check(inputs, targets, self.classes)
        parts = whole(self.held_parts, "held_parts", least=2)
        known = len(inputs) if self.size is None else whole(self.size, "size")
        trial = Trial(run, self.classes, parts, known - known // parts, self.rng)
        made_up = torch.zeros_like(inputs[:parts]), torch.zeros_like(targets[:parts])
        with torch.random.fork_rng(range(torch.cuda.device_count())):  # what torch draws would tell the number of runs
            untrained = [trial.rehearse(each, *made_up, run.budget("rehearsal")) for each in self.recipes]
            charge = purchase.pay(run.whole, assumes=_assumptions(purchase, self.size))
            source, best = charge.generator(), (-inf, 0, untrained[0])
            for number in range(run.draw_runs(source)):
                held = trial.hold_back(len(inputs), source).to(inputs.device)
                chosen = int(draw_below(len(self.recipes), 1, source)[0])
                paid = run.budget(f"{purchase.price.ledger.name} entry {charge.number} try {number}")
                torch.manual_seed(draw_seed(source))
                try:
                    model = trial.fit(self.recipes[chosen], inputs[~held], targets[~held], paid)
                except Exception:  # no record stops a training; noisy steps that diverge do, and are private already
                    model = copy.deepcopy(untrained[chosen])
                score = trial.score(model, inputs[held], targets[held], source)
                best = max(best, (score, chosen, model), key=lambda found: found[0])
        details = {"recipe": best[1], "score": best[0], "epsilon_of_a_run": float(run.terms.epsilon)}
        return charge.finish(Outcome(value=best[2], method="best of a random number of trainings", details=details))

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
        return purchase, price_runs(purchase, tries=tries, stopping=self.stopping, sampled=sampled)


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
