"""Draws docs/eyes.svg: accuracy of private heads against ε, and the loss while the network learned.

The accuracies are those of the table in docs/eyes.md, the loss that of docs/eyes_loss.csv, measured on one H200.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bruit.apps.plots import legend_above
from bruit.apps.plots.style import COLOURS, MARKERS, STYLE

DOCS = Path(__file__).parents[1] / "docs"
EPSILONS = (1, 3, 8)
OURS = {
    "eyes at three sizes": ((76.81, 80.24, 82.31), (0.21, 0.28, 0.22)),
    "eyes at one size": ((76.30, 80.01, 81.86), (0.26, 0.07, 0.19)),
    "scattering": ((65.5, 69.61, 70.6), None),
}
"""Per cent right with a private linear head, and the deviation over five seeds."""

PUBLISHED = {"Tang 2023": (1, 72.3), "Tramèr 2021": (3, 69.3), "Klause 2022": (8, 82.5), "De 2022": (8, 81.4)}
"""Published figures without photographs."""


def plot_accuracy(axes: Axes) -> None:
    """Per cent right against ε, beside what others published."""
    for number, (name, (right, spread)) in enumerate(OURS.items()):
        axes.errorbar(
            EPSILONS, right, spread, label=name, color=COLOURS[number], marker=MARKERS[number], markersize=5, capsize=3
        )
    for number, (name, (epsilon, reached)) in enumerate(PUBLISHED.items(), start=3):
        axes.plot([epsilon], [reached], MARKERS[number], color="#555555", markersize=6, label=name)
    axes.set(title="CIFAR-10, δ = 1e-5", xlabel="ε", ylabel="right answers, %", xscale="log")
    axes.set_xticks(EPSILONS, [f"{each}" for each in EPSILONS])
    axes.minorticks_off()
    legend_above(axes, columns=2)


def plot_loss(axes: Axes) -> None:
    """The loss of contrast against the minutes of training."""
    told = polars.read_csv(DOCS / "eyes_loss.csv")
    axes.plot(told["minutes"], told["loss"], color=COLOURS[0])
    axes.set(
        title="While the eyes learned", xlabel="minutes on one GPU", ylabel="loss on noise pictures", ylim=(0, None)
    )


def main() -> None:
    """Writes the picture."""
    look: dict[Any, Any] = {**STYLE, "svg.hashsalt": "bruit", "svg.fonttype": "none", "axes.titlesize": 11}
    with mpl.rc_context(look):
        figure = Figure(figsize=(9.6, 4.0), layout="constrained")
        left, right = figure.subplots(1, 2)
        plot_accuracy(left)
        plot_loss(right)
        figure.savefig(DOCS / "eyes.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
