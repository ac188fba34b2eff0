"""Recipes of private heads searched at a price: the best of a random number of runs, with the search in its epsilon.

A recipe is drawn from those that were chosen on the other data sets, which tell nothing of this one. [docs/choosing.md]
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars

from bruit import sweeps
from bruit.apps.findings import Size
from bruit.apps.studies.images.frozen_features import Features, accuracy
from bruit.apps.studies.images.recipes import chosen_elsewhere
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import RecipeSearch
from bruit.deep.features import Over, Recipe
from bruit.ledger import Ledger

TRIES: Mapping[Size, int] = {"small": 1, "full": 12}
"""Runs on average; their number is geometric and never told."""

HELD_PARTS = 10
"""A run is trained on nine tenths of the records and scored on the last."""

QUICK = [Recipe(5, 8, 0.2, mean_share=0.03), Recipe(5, 1, 0.2, mean_share=0.03)]


def search_once(
    name: str, data: Features, *, epsilon: float, delta: float, size: Size, rng: np.random.Generator
) -> dict[str, float | str]:
    """The accuracy on the test images of the model that one search found, at a price that covers the whole search."""
    book = Ledger("study", epsilon=epsilon, delta=delta, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    over = Over.ALL if data.channels is None else Over.CHANNELS
    recipes = chosen_elsewhere(name, over) if size == "full" else QUICK
    found = RecipeSearch(
        recipes=recipes,
        classes=data.classes,
        budget=book.budget(epsilon=epsilon, delta=delta),
        tries=TRIES[size],
        held_parts=HELD_PARTS,
        channels=data.channels,
        rng=rng,
    ).fit(data.train, data.labels)
    return {
        "accuracy": accuracy(found.value, data.test, data.test_labels),
        "epsilon_of_a_run": float(found.details["epsilon_of_a_run"]),
        "recipe": str(recipes[found.details["recipe"]]),
    }


def write(rows: polars.DataFrame, file: Path) -> polars.DataFrame:
    """Writes every search with its recipe, and gives the mean accuracy at each budget."""
    rows.write_csv(file)
    found = sweeps.summary(rows, by=["epsilon"], within=(0, 1))
    return found.filter(polars.col("quantity") == "accuracy").sort("epsilon")


def summarise(table: polars.DataFrame, delta: float) -> str:
    """The accuracies of the searches as a sentence."""
    parts = ", ".join(
        f"{100 * mean:.2f} ± {100 * deviation:.2f} % at ε = {epsilon:g}"
        for epsilon, mean, deviation in table.select("epsilon", "mean", "deviation").rows()
    )
    return (
        f"With the search paid for, the best of a geometric number of runs, {TRIES['full']} on average, of recipes "
        f"that were chosen on other images, all of it at δ = {delta:g}: {parts}."
    )


def figures(table: polars.DataFrame) -> dict[str, float]:
    """The mean accuracies by name, for the findings."""
    return {f"searched ε={epsilon:g}": mean for epsilon, mean in table.select("epsilon", "mean").rows()}


def points(epsilons: tuple[float, ...], size: Size) -> list[dict[str, Any]]:
    """The grid of a study's searches; the small one takes the largest budget only."""
    return [{"epsilon": each, "size": size} for each in (epsilons if size == "full" else epsilons[-1:])]
