"""102 flowers: varies one setting of a private dense head at a time, as the thesis did.

[docs/spec.md S2.16]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars

from bruit import sweeps
from bruit.apps import plots
from bruit.apps.findings import Size
from bruit.apps.studies.images.flowers_features import images, reduce_features
from bruit.apps.studies.images.frozen_features import trial
from bruit.apps.studies.images.stand_ins import images_used, marked, titled
from bruit.deep.features import Recipe

DELTA = 1e-4
BASE: dict[str, float | str] = {
    "epsilon": 4.0,
    "hidden": 512,
    "second": 0,
    "optimiser": "sgd",
    "batch_size": 64,
    "epochs": 30,
    "clip": 1.0,
    "rate": 0.5,
    "reduction": 1,
}
"""A head of 512 units at the thesis's batch and δ; rates of gradient descent are those over the bound `clip`."""

LISTS: dict[str, tuple[float | str, ...]] = {
    "epsilon": (1.0, 2.0, 4.0, 8.3),
    "hidden": (0, 64, 128, 512, 1024),
    "second": (0, 128, 512),
    "optimiser": ("sgd", "adam"),
    "batch_size": (16, 64, 256, 1024),
    "epochs": (10, 30, 100),
    "clip": (0.1, 1.0, 10.0),
    "rate": (0.05, 0.15, 0.5, 1.5),
    "reduction": (1, 2, 4),
}
"""What is tried for each setting while the others stay."""

ADAM_RATE = 0.002
REPEATS: Mapping[Size, int] = {"small": 1, "full": 3}
NAMES = {
    "epsilon": "ε",
    "hidden": "hidden units",
    "second": "units of a second layer",
    "optimiser": "optimiser",
    "batch_size": "batch size",
    "epochs": "epochs",
    "clip": "bound of gradients",
    "rate": "learning rate",
    "reduction": "images reduced by",
}


def points(size: Size) -> list[dict[str, Any]]:
    """The grid: the base settings, and every other value of each setting; the small study takes only the extremes."""
    found = [{"setting": "base", **BASE}]
    for name, values in LISTS.items():
        others = [each for each in values if each != BASE[name]]
        found += [{"setting": name, **BASE, name: each} for each in (others if size == "full" else others[-1:])]
    return [point | {"size": size} for point in found]


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Path, Path]:
    """Writes each setting's mean validation accuracy, and a figure."""
    rows = sweeps.run(
        train_once,
        points(size),
        repeats=REPEATS[size],
        rng=rng,
        file=folder / f"settings_{size}.jsonl",
        on_progress=on_progress,
    )
    found = sweeps.summary(rows, by=["setting", *BASE], within=(0, 1)).filter(polars.col("quantity") == "accuracy")
    used = images_used(images(size), size)
    marked(found, used).write_csv(folder / "settings.csv")
    return folder / "settings.csv", _plot(folder, found, used)


def train_once(*, rng: np.random.Generator, setting: str, size: Size, **values: Any) -> Mapping[str, float]:
    """Trains once with privacy and returns the accuracy on the validation flowers."""
    del setting  # a name for the row
    data = reduce_features(size, int(values["reduction"])).chosen_on()
    recipe = _recipe(values, len(data.train), epochs=values["epochs"] if size == "full" else 1)
    found = trial(data, recipe, epsilon=values["epsilon"], delta=DELTA, rng=rng)
    return {"accuracy": found.last}


def _recipe(values: Mapping[str, Any], size: int, *, epochs: float) -> Recipe:
    batch = min(int(values["batch_size"]), size)
    adam = values["optimiser"] == "adam"
    return Recipe(
        max(round(epochs * size / batch), 1),
        ADAM_RATE if adam else values["rate"],
        values["clip"],
        momentum=0.0,
        adam=adam,
        batch_size=batch,
        hidden=tuple(int(units) for units in (values["hidden"], values["second"]) if units),
    )


def _plot(folder: Path, found: polars.DataFrame, used: str) -> Path:
    """One bar a setting and value, the base first."""
    labels = []
    for row in found.iter_rows(named=True):
        name = row["setting"]
        value = row.get(name)
        labels.append(
            "base" if name == "base" else f"{NAMES[name]} {value if isinstance(value, str) else f'{value:g}'}"
        )
    bars = plots.Bars("accuracy", 100 * found["mean"], 100 * found["low"], 100 * found["high"])
    title = titled("102 flowers at ε = 4: one setting changed", used)
    return plots.bars(folder / "settings.png", labels, [bars], title=title, y="percent, validation")
