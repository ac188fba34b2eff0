"""Draws the figures of docs/fr from the tables of the book, with French words: `python scripts/french_figures.py`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars
from scipy import stats

from bruit.apps import plots

DOCS = Path(__file__).parents[1] / "docs"
BOOK, FOLDER = DOCS / "results", DOCS / "fr"
SURVEYS = 1000
"""Of the study krr-marital at full size."""

WAYS = {
    "forest": "forêt (celle du projet)",
    "naive_bayes": "Bayes naïf, démêlé",
    "logistic": "logistique, perte directe",
    "tree": "arbre, démêlé",
    "noised_majority": "majorité bruitée",
}
LINES = {"forest_without_noise": "forêt sans bruit", "majority": "majorité"}


def draw_dispersion(folder: Path) -> Path:
    """The standard deviation of estimated shares beside the formula."""
    table = polars.read_csv(BOOK / "krr-marital" / "marital.csv")
    measured = table["deviation"].to_numpy()
    low, high = measured * np.sqrt((SURVEYS - 1) / stats.chi2.ppf([[0.975], [0.025]], SURVEYS - 1))
    groups = [
        plots.Bars("théorie", table["deviation_in_theory"]),
        plots.Bars(f"{SURVEYS} enquêtes", measured, low, high),
    ]
    names, title = table["status"].to_list(), "De combien s’écarte une enquête"
    return plots.bars(
        folder / "dispersion.png", names, groups, title=title, y="écart type d’une proportion", commas=True
    )


def draw_same_reports(folder: Path) -> Path:
    """How often models are right that were fitted on the same reports, against ε."""
    table = polars.read_csv(BOOK / "krr-learning" / "accuracy.csv").sort("epsilon")
    figures = json.loads((BOOK / "krr-learning" / "findings.json").read_text(encoding="utf-8"))["figures"]
    series = []
    for way, name in WAYS.items():
        part = table.filter(polars.col("quantity") == way)
        mean, spread = part["mean"].to_numpy(), part["deviation"].to_numpy()
        low, high = np.clip([mean - spread, mean + spread], 0, 1)
        series.append(plots.Series(name, part["epsilon"], mean, low, high))
    ends = np.asarray(table["epsilon"])[[0, -1]]
    series += [plots.Series(name, ends, [figures[line]] * 2, dashed=True) for line, name in LINES.items()]
    return plots.curves(
        folder / "same_reports.png",
        series,
        title="La situation matrimoniale, à partir des mêmes rapports",
        x="ε d’une réponse",
        y="part de prédictions justes",
        x_scale="log",
        commas=True,
    )


def main(folder: Path = FOLDER) -> None:
    """Writes both figures."""
    draw_dispersion(folder)
    draw_same_reports(folder)


if __name__ == "__main__":
    main()
