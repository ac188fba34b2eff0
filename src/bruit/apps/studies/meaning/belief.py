"""What may be believed after an answer: the thesis's table and its two figures.

[docs/spec.md S2.5]
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars

from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.local import two_coins
from bruit.privacy.beliefs import belief, belief_table, premium

PRINTED = (
    (1.01, 1.05, 1.10, 1.22, 1.64, 2.67, 6.95, 16.87),
    (2.02, 2.10, 2.21, 2.43, 3.26, 5.26, 13.10, 29.07),
    (5.05, 5.24, 5.50, 6.04, 7.98, 12.52, 28.00, 51.39),
    (10.09, 10.46, 10.94, 11.95, 15.48, 23.20, 45.09, 69.06),
    (25.19, 25.95, 26.92, 28.93, 35.47, 47.54, 71.12, 87.00),
    (50.25, 51.25, 52.50, 54.98, 62.25, 73.11, 88.08, 95.26),
    (75.19, 75.93, 76.83, 78.56, 83.18, 89.08, 95.68, 98.37),
    (90.09, 90.44, 90.86, 91.66, 93.69, 96.07, 98.52, 99.45),
    (95.05, 95.23, 95.45, 95.87, 96.91, 98.10, 99.29, 99.74),
    (98.02, 98.10, 98.19, 98.36, 98.78, 99.25, 99.72, 99.90),
    (99.01, 99.05, 99.09, 99.18, 99.39, 99.63, 99.86, 99.95),
)
"""The thesis's table in percent: a row for each prior, a column for each ε."""

ONE = 1.0
MANY = (0.1, 0.5, 1.0, 2.0, 3.0)
POINTS = {"small": 21, "full": 201}
FAIR, SMALL = 2000, "0.01"
"""The thesis's insurance premium, and its ε."""


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,  # noqa: ARG001  nothing is drawn
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Writes the table beside the printed one, and the bounds of the belief as two figures."""
    folder.mkdir(parents=True, exist_ok=True)
    table = belief_table().with_columns(printed=polars.Series(np.ravel(PRINTED)))
    table.write_csv(folder / "belief.csv")
    priors = np.linspace(0, 1, POINTS[size] + 1)[1:-1].tolist()
    files = (folder / "belief.csv", plot_range(folder / "one_epsilon.png", priors), plot_most(folder, priors))
    if on_progress is not None:
        on_progress(1, 1)
    figures = headline(table)
    return Findings(summarise(figures), files, figures)


def headline(table: polars.DataFrame) -> dict[str, float]:
    """How far the table is from the printed one, what Warner's coin attains, and the premium."""
    apart = np.abs(100 * table["high"].to_numpy() - table["printed"].to_numpy())
    return {
        "cells": float(len(table)),
        "largest_difference_in_percentage_points": float(apart.max()),
        "even_odds_after_epsilon_1": belief("1/2", ONE).high,
        "even_odds_after_two_coins": float(two_coins().chance),
        "most_that_two_coins_allow": belief("1/2", "ln 3").high,
        "premium_of_2000_at_0.01": premium(FAIR, SMALL),
    }


def summarise(figures: dict[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"All {figures['cells']:.0f} cells of the thesis's table agree within "
        f"{figures['largest_difference_in_percentage_points']:.3f} percentage points, which is its rounding. Even odds "
        f"become at most {figures['even_odds_after_epsilon_1']:.1%} after an answer of ε = 1; two coins (ε = ln 3) "
        f"attain their bound of {figures['most_that_two_coins_allow']:.1%}. A premium of 2000 grows to at most "
        f"{figures['premium_of_2000_at_0.01']:.2f} at ε = 0.01."
    )


def plot_range(path: Path, priors: list[float]) -> Path:
    """Where the belief may lie after an answer of one ε, against the belief before."""
    table = belief_table(priors, [ONE])
    series = [
        plots.Series("at most", priors, table["high"], dashed=True),
        plots.Series("at least", priors, table["low"], dashed=True),
        plots.Series("nothing learned", [0, 1], [0, 1], dashed=True),
    ]
    title = f"Belief after an answer of ε = {ONE:g}"
    return plots.curves(path, series, title=title, x="belief before", y="belief after")


def plot_most(folder: Path, priors: list[float]) -> Path:
    """The strongest belief after answers of several ε."""
    series = [plots.Series(f"ε = {each:g}", priors, belief_table(priors, [each])["high"], dashed=True) for each in MANY]
    title = "The strongest belief that an answer can lead to"
    return plots.curves(folder / "many_epsilons.png", series, title=title, x="belief before", y="belief after, at most")
