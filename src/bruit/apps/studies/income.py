"""Predicts income above 50 000 on UCI Adult: the AUC of private models against epsilon, beside published ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars

from bruit import sweeps
from bruit.apps import data, plots
from bruit.apps.data.census_categories import CATEGORIES
from bruit.apps.findings import Findings, Size
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.ledger import Ledger
from bruit.tables import Domain, among, within

DELTA = 1e-5
MODELS = ("AdditiveModel", "BoostedTrees", "Forest", "DecisionTree")
EPSILONS = {"small": [1.0], "full": [0.1, 0.3, 0.5, 1.0, 3.0, 10.0]}
REPEATS = {"small": 1, "full": 20}
ROWS = {"small": 4000, "full": None}
BOUNDS = {
    "age": (17, 90),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4_356),
    "hours-per-week": (1, 99),
}
CATEGORICAL = ("workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country")
PEERS = {
    "DP-EBM, tuned": {0.5: 0.901, 1.0: 0.905, 3.0: 0.907},
    "DP-EBM, defaults": {0.5: 0.881, 1.0: 0.887, 3.0: 0.890},
    "diffprivlib logistic": {0.5: 0.776, 1.0: 0.811, 3.0: 0.865},
    "diffprivlib forest, defaults": {0.5: 0.660, 1.0: 0.661, 3.0: 0.661},
}
"""AUC of the peers at the same δ and neighbours, as measured; `python -m benchmarks learning` measures them again."""


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Fits every model at every epsilon several times; writes all results, their summary, and the curves."""
    folder.mkdir(parents=True, exist_ok=True)
    grid: dict[str, Sequence[str | float | None]] = {
        "model": list(MODELS),
        "epsilon": EPSILONS[size],
        "rows": [ROWS[size]],
    }
    file = folder / f"sweep_{size}.jsonl"
    rows = sweeps.run(fit_once, grid, repeats=REPEATS[size], rng=rng, file=file, on_progress=on_progress)
    rows.write_csv(folder / "repeats.csv")
    table = sweeps.summary(rows, by=["model", "epsilon"], within=(0, 1))
    table.write_csv(folder / "income.csv")
    figures = headline(rows)
    files = (folder / "income.csv", folder / "repeats.csv", plot_findings(folder / "income.png", rows, size))
    used = f"only the first {ROWS[size]} people" if ROWS[size] else ""
    return Findings(summarise(figures, size), files, figures, used)


@cache
def people() -> tuple[polars.DataFrame, Any, polars.DataFrame, Any, dict[str, Domain]]:
    """The training and test tables with their labels, and the public domains of the columns."""
    training, test = data.adult("training"), data.adult("test")
    columns = [*BOUNDS, *CATEGORICAL]
    domain: dict[str, Domain] = {name: within(*bounds, grid=1) for name, bounds in BOUNDS.items()}
    domain |= {name: among(CATEGORIES[name]) for name in CATEGORICAL}
    rich = [(each["income"] == ">50K").to_numpy().astype(int) for each in (training, test)]
    return training.select(columns), rich[0], test.select(columns), rich[1], domain


def fit_once(*, rng: np.random.Generator, model: str, epsilon: float, rows: int | None) -> Mapping[str, float]:
    """The test AUC and accuracy of one private fit on the training file."""
    from sklearn.metrics import roc_auc_score

    from bruit import learning

    X, y, asked, truth, domain = people()
    X, y = (X, y) if rows is None else (X.head(rows), y[:rows])
    book = Ledger("census", epsilon=epsilon, delta=DELTA, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    price = book.budget(epsilon=epsilon, delta=DELTA)
    fitted = getattr(learning, model)(domain=domain, size=len(y), budget=price, random_state=rng).fit(X, y)
    scores = fitted.predict_proba(asked)[:, 1]
    return {"auc": float(roc_auc_score(truth, scores)), "accuracy": float(((scores > 0.5) == truth).mean())}


def _means(rows: polars.DataFrame) -> polars.DataFrame:
    kept = rows.group_by("model", "epsilon").agg(
        polars.col("auc").mean().alias("mean"), polars.col("auc").std().fill_null(0.0).alias("deviation")
    )
    return kept.sort("model", "epsilon")


def headline(rows: polars.DataFrame) -> dict[str, float]:
    """The mean AUC of every model at every epsilon."""
    return {f"{row['model']}_{row['epsilon']:g}": row["mean"] for row in _means(rows).iter_rows(named=True)}


def plot_findings(path: Path, rows: polars.DataFrame, size: Size) -> Path:
    """AUC against epsilon, ours with the deviation of one fit; the peers dashed, where all people are learned from."""
    series = []
    for (name,), part in _means(rows).group_by("model", maintain_order=True):
        mean, reach = part["mean"].to_numpy(), part["deviation"].to_numpy()
        low, high = np.clip([mean - reach, mean + reach], 0, 1)
        series.append(plots.Series(str(name), part["epsilon"], mean, low, high))
    for name, reached in PEERS.items() if size == "full" else ():
        series.append(plots.Series(name, list(reached), list(reached.values()), dashed=True))
    title = "Income on UCI Adult, δ = 1e-5" + (f" (only {ROWS[size]} people)" if ROWS[size] else "")
    return plots.curves(path, series, title=title, x="ε", y="AUC", x_scale="log")


def summarise(figures: Mapping[str, float], size: Size) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    reached = ", ".join(f"{name.replace('_', ' at ε = ')}: {value:.3f}" for name, value in figures.items())
    told = "AUC of private models on the test file of UCI Adult (δ = 1e-5, one row added or removed, "
    if size == "small":
        return f"{told}learned once from the first {ROWS[size]} people only): {reached}."
    return (
        f"{told}{REPEATS[size]} fits each): {reached}. A tuned DP-EBM reaches .901, .905 and .907 at ε = .5, 1 and 3."
    )
