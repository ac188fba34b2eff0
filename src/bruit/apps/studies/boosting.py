"""The lecture's regression tree and gradient boosting: one tree, then many that each mend the errors of those before.

[docs/spec.md S1.1, S1.2]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import sweeps
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.apps.plots.style import COLOURS
from bruit.apps.plots.trees import tree as draw_tree
from bruit.ledger import WITHOUT_PRIVACY

if TYPE_CHECKING:
    from sklearn.ensemble import GradientBoostingRegressor

    from bruit.learning import BoostedTrees, DecisionTree

HELD_OUT, RATE, LEAST, SUBSAMPLE = 0.25, 0.1, 10, 0.5
"""A quarter is held out; each tree mends a tenth of the errors, has ten rows a leaf and sees half of the rows."""

LEAVES, SEED = 8, 0
TREES = {"small": [1, 20], "full": [1, 2, 5, 10, 20, 50, 100, 200]}
DEPTHS = {"small": [1, 3], "full": [1, 2, 3, 4, 5, 6, 8]}
REPEATS = {"small": 2, "full": 10}
SHOWN = {"small": (1, 10), "full": (1, 10, 100)}
"""Numbers of trees whose curves over one column are drawn."""

COLUMN = "bmi"


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Errors of one tree by its depth, of boosting by its trees, beside scikit-learn; a tree and the steps drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    points: list[dict[str, str | int]] = [{"model": "one tree", "depth": depth, "trees": 1} for depth in DEPTHS[size]]
    points += [{"model": name, "depth": 0, "trees": trees} for name in BOOSTED for trees in TREES[size]]
    rows = sweeps.run(
        split_once, points, repeats=REPEATS[size], rng=rng, file=folder / f"sweep_{size}.jsonl", on_progress=on_progress
    )
    table = sweeps.summary(rows, by=["model", "depth", "trees"], within=(0, np.inf))
    table.write_csv(folder / "errors.csv")
    seed = SEED if rng is None else int(rng.integers(2**31))
    drawn = (plot_trees(folder, table), plot_depths(folder, table), plot_steps(folder, SHOWN[size], seed))
    figures = headline(table)
    return Findings(summarise(figures), (folder / "errors.csv", *drawn, draw(folder, seed)), figures)


@cache
def patients() -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]:
    """442 patients with diabetes: ten measurements, and how far the disease went within a year.  [Efron et al. 2004]"""
    from sklearn.datasets import load_diabetes

    found = load_diabetes(scaled=False)
    return found.data, found.target, list(found.feature_names)


def one_tree(depth: int, seed: int) -> DecisionTree:
    """An exact regression tree by squared error."""
    from bruit.learning import DecisionTree

    return DecisionTree(
        criterion="squared_error", max_depth=depth, min_samples_leaf=LEAST, budget=WITHOUT_PRIVACY, random_state=seed
    )


def boosted(trees: int, seed: int) -> BoostedTrees:
    """Exact gradient boosting for numbers, each tree on half of the rows."""
    from bruit.learning import BoostedTrees

    return BoostedTrees(
        loss="squared_error",
        n_estimators=trees,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=LEAST,
        subsample=SUBSAMPLE,
        budget=WITHOUT_PRIVACY,
        random_state=seed,
    )


def peer(trees: int, seed: int) -> GradientBoostingRegressor:
    """scikit-learn's boosting with the same settings."""
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(
        n_estimators=trees,
        learning_rate=RATE,
        max_depth=None,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=LEAST,
        subsample=SUBSAMPLE,
        random_state=seed,
    )


BOOSTED: Mapping[str, Callable[[int, int], Any]] = {"boosting": boosted, "scikit-learn": peer}


def split_once(*, rng: np.random.Generator, model: str, depth: int, trees: int) -> Mapping[str, float]:
    """The root mean square error on a random quarter, and on the rest."""
    from sklearn.model_selection import train_test_split

    X, y, _ = patients()
    seed = int(rng.integers(2**31))
    X_seen, X_held, y_seen, y_held = train_test_split(X, y, test_size=HELD_OUT, random_state=seed)
    made = one_tree(depth, seed) if model == "one tree" else BOOSTED[model](trees, seed)
    fitted = made.fit(X_seen, y_seen)
    parts = {"held out": (X_held, y_held), "seen": (X_seen, y_seen)}
    return {name: float(np.sqrt(((fitted.predict(x) - t) ** 2).mean())) for name, (x, t) in parts.items()}


def draw(folder: Path, seed: int) -> Path:
    """A small regression tree of all patients."""
    X, y, names = patients()
    title = "Diabetes after a year, score: a regression tree by squared error"
    return draw_tree(folder / "tree.png", one_tree(2, seed).fit(X, y), names=names, title=title, seen=(X, y))


def plot_steps(folder: Path, shown: Sequence[int], seed: int) -> Path:
    """One column: the patients, and what few and many trees say."""
    X, y, names = patients()
    column = X[:, [names.index(COLUMN)]]
    line = np.linspace(column.min(), column.max(), 300)[:, None]
    with plots.save_figure(folder / "steps.png") as axes:
        axes.scatter(column, y, s=8, color="#BBBBBB", label="patients")
        for number, trees in enumerate(shown):
            words = f"{trees} tree" if trees == 1 else f"{trees} trees"
            axes.plot(line, boosted(trees, seed).fit(column, y).predict(line), color=COLOURS[number], label=words)
        title = "Boosting, one column: trees are added"
        axes.set(title=title, xlabel="body mass index, kg/m²", ylabel="progression after a year, score")
        plots.legend_above(axes)
    return folder / "steps.png"


def plot_trees(folder: Path, table: polars.DataFrame) -> Path:
    """Error against the number of trees, on what was seen and on what was held out."""
    series = [
        _series(table.filter(polars.col("model") == model), "trees", quantity, f"{model}, {quantity}")
        for model in BOOSTED
        for quantity in ("held out", "seen")
    ]
    title = "Diabetes: gradient boosting"
    return plots.curves(
        folder / "trees.png", series, title=title, x="trees", y="root mean square error, score", x_scale="log"
    )


def plot_depths(folder: Path, table: polars.DataFrame) -> Path:
    """Error of one tree against its depth."""
    part = table.filter(polars.col("model") == "one tree")
    series = [_series(part, "depth", quantity, quantity) for quantity in ("held out", "seen")]
    return plots.curves(
        folder / "depths.png",
        series,
        title="Diabetes: one regression tree",
        x="depth",
        y="root mean square error, score",
    )


def _series(part: polars.DataFrame, x: str, quantity: str, label: str) -> plots.Series:
    one = part.filter(polars.col("quantity") == quantity).sort(x)
    return plots.Series(label, one[x], one["mean"], one["low"], one["high"])


def headline(table: polars.DataFrame) -> dict[str, float]:
    """The least mean error on what was held out: of one tree, of boosting, of scikit-learn's."""
    held = table.filter(polars.col("quantity") == "held out")
    found = {}
    for model in ("one tree", *BOOSTED):
        best = held.filter(polars.col("model") == model).sort("mean").row(0, named=True)
        found[f"{model}: error"], found[f"{model}: standard deviation"] = best["mean"], best["deviation"] or 0.0
        found[f"{model}: depth" if model == "one tree" else f"{model}: trees"] = float(best["depth"] or best["trees"])
    return found


def summarise(figures: Mapping[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    tree, ours, theirs = (figures[f"{model}: error"] for model in ("one tree", *BOOSTED))
    return (
        f"How far the disease of 442 patients went: the best single tree (depth {figures['one tree: depth']:.0f}) is "
        f"off by {tree:.1f}, boosting by {ours:.1f} with {figures['boosting: trees']:.0f} trees, scikit-learn with "
        f"the same settings by {theirs:.1f} with {figures['scikit-learn: trees']:.0f} (root mean square on a held-out "
        f"quarter; one split strays by {figures['boosting: standard deviation']:.1f}). Depth and trees are the best of "
        "those tried on the same held-out quarters, for all three alike. More trees go on mending errors of what was "
        "seen long after they mend anything else."
    )
