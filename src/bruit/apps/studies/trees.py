"""The lecture's decision trees: entropy, cross-validation on the wine data, and a drawn tree.

[docs/spec.md S1.1]
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
from bruit.apps.plots.trees import tree as draw_tree
from bruit.ledger import WITHOUT_PRIVACY

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

DEPTH, SPLITS, HELD_OUT, SEED, ROW = 5, 5, 0.2, 0, 10
"""The lecture: entropy, depth 5, five stratified shuffles that hold out a fifth, seed 0, and row 10 predicted."""

VECTORS = ((6, 6), (4, 10), (9,))
DEPTHS = {"small": [1, 5], "full": [1, 2, 3, 4, 5, 6, 8]}
REPEATS = {"small": 2, "full": 20}
CRITERIA = ("gini", "entropy")
TREE_SEEDS = {"small": 3, "full": 50}
"""Seeds of the tree alone, on the same shuffles: how much its ties decide."""


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Repeats the lecture's example beside scikit-learn's tree, sweeps the depth, and draws the tree."""
    folder.mkdir(parents=True, exist_ok=True)
    seed = SEED if rng is None else int(rng.integers(2**31))
    figures = {**lecture(seed), **tie_spread(TREE_SEEDS[size]), **entropies()}
    grid: dict[str, Sequence[str | int]] = {"criterion": list(CRITERIA), "depth": DEPTHS[size]}
    rows = sweeps.run(
        split_once, grid, repeats=REPEATS[size], rng=rng, file=folder / f"sweep_{size}.jsonl", on_progress=on_progress
    )
    rows.write_csv(folder / "repeats.csv")
    table = sweeps.summary(rows, by=["criterion", "depth"], within=(0, 1))
    table.write_csv(folder / "depths.csv")
    X, y, names, classes = wine()
    drawing = draw_tree(
        folder / "tree.png",
        exact_tree("entropy", DEPTH, seed).fit(X, y),
        names=names,
        classes=classes,
        title="Wine by entropy: shares of class 0, 1 and 2 in each node",
    )
    files = (folder / "depths.csv", folder / "repeats.csv", plot_findings(folder / "depths.png", rows), drawing)
    return Findings(summarise(figures), files, figures)


@cache
def wine() -> tuple[Any, Any, list[str], list[str]]:
    """178 Italian wines of three growers, thirteen measurements each."""
    from sklearn.datasets import load_wine

    data = load_wine()
    return data.data, data.target, list(data.feature_names), [str(name) for name in data.target_names]


def exact_tree(criterion: str, depth: int, seed: int) -> Any:
    """An exact tree; of equally good splits its seed decides."""
    from bruit.learning import DecisionTree

    return DecisionTree(criterion=criterion, max_depth=depth, budget=WITHOUT_PRIVACY, random_state=seed)


def shuffled_scores(model: ClassifierMixin) -> NDArray[np.float64]:
    """The accuracy of a model in each of the lecture's shuffles."""
    from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score

    X, y, *_ = wine()
    shuffles = StratifiedShuffleSplit(n_splits=SPLITS, test_size=HELD_OUT, random_state=SEED)
    return np.asarray(cross_val_score(model, X, y, cv=shuffles))


def lecture(seed: int) -> dict[str, float]:
    """Mean and deviation over the shuffles, ours and scikit-learn's, and what row 10 is predicted to be."""
    from sklearn.tree import DecisionTreeClassifier

    X, y, *_ = wine()
    ours = shuffled_scores(exact_tree("entropy", DEPTH, seed))
    other = DecisionTreeClassifier(criterion="entropy", max_depth=DEPTH, random_state=SEED)
    theirs = shuffled_scores(other)
    model = exact_tree("entropy", DEPTH, seed).fit(X, y)
    return {
        "accuracy": float(ours.mean()),
        "deviation": float(ours.std()),
        "scikit_learn_accuracy": float(theirs.mean()),
        "scikit_learn_deviation": float(theirs.std()),
        "row_10_predicted": float(model.predict(X[ROW : ROW + 1])[0]),
        "row_10_true": float(y[ROW]),
    }


def tie_spread(seeds: int) -> dict[str, float]:
    """The least and the largest mean accuracy over seeds of the tree, which only break ties."""
    means = [float(shuffled_scores(exact_tree("entropy", DEPTH, seed)).mean()) for seed in range(seeds)]
    return {"tree_seeds": float(seeds), "least_over_tree_seeds": min(means), "largest_over_tree_seeds": max(means)}


def entropies() -> dict[str, float]:
    """The entropy of the lecture's vectors of counts, 0 log 0 being 0."""
    found = {}
    for counts in VECTORS:
        share = np.array(counts) / sum(counts)
        found[f"entropy_{'_'.join(map(str, counts))}"] = float(-(share * np.log2(share)).sum()) + 0.0
    return found


def split_once(*, rng: np.random.Generator, criterion: str, depth: int) -> Mapping[str, float]:
    """The accuracy on a random fifth of the wines, and on the rest."""
    from sklearn.model_selection import train_test_split

    X, y, *_ = wine()
    seed = int(rng.integers(2**31))
    X_seen, X_held, y_seen, y_held = train_test_split(X, y, test_size=HELD_OUT, stratify=y, random_state=seed)
    model = exact_tree(criterion, depth, seed).fit(X_seen, y_seen)
    return {"held_out": model.score(X_held, y_held), "seen": model.score(X_seen, y_seen)}


def plot_findings(path: Path, rows: polars.DataFrame) -> Path:
    """Plots accuracy against depth."""
    series = []
    for criterion in CRITERIA:
        for column, words in (("held_out", "held out"), ("seen", "seen")):
            part = (
                rows.filter(polars.col("criterion") == criterion)
                .group_by("depth")
                .agg(polars.col(column).mean().alias("mean"), polars.col(column).std().alias("deviation"))
                .sort("depth")
            )
            mean, reach = part["mean"].to_numpy(), part["deviation"].fill_null(0.0).to_numpy()
            low, high = np.clip([mean - reach, mean + reach], 0, 1)
            series.append(plots.Series(f"{criterion}, {words}", part["depth"], mean, low, high))
    return plots.curves(path, series, title="Wine: accuracy of one tree", x="depth", y="share of right classes")


def summarise(figures: Mapping[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"A tree of depth {DEPTH} by entropy tells the grower of a wine with accuracy {figures['accuracy']:.3f} ± "
        f"{figures['deviation']:.3f} over five shuffles; scikit-learn's, which breaks ties by its seed, "
        f"{figures['scikit_learn_accuracy']:.3f} ± {figures['scikit_learn_deviation']:.3f}. Ties alone move ours from "
        f"{figures['least_over_tree_seeds']:.3f} to {figures['largest_over_tree_seeds']:.3f} over "
        f"{figures['tree_seeds']:.0f} seeds of the tree on the same shuffles. Row {ROW} is predicted "
        f"to be class {figures['row_10_predicted']:.0f} and is class {figures['row_10_true']:.0f}."
    )
