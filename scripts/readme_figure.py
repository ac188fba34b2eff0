"""Draws docs/result.svg for the top of the README: a survey through a coin, and deciles that were paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import bruit
from bruit.apps.data import people
from bruit.apps.plots.style import COLOURS, STYLE

PICTURE = Path(__file__).parents[1] / "docs" / "result.svg"
BLUE, RED, GREY = COLOURS[0], COLOURS[1], "#b8bfc7"
RESPONDENTS, YES = 1000, 300


def plot_survey(axes: Axes, rng: np.random.Generator) -> None:
    """The share that holds yes, the share that sent yes, and the estimate with its interval."""
    survey = bruit.local.KRR(["yes", "no"], epsilon=1.0)
    reports = survey.randomise(np.repeat(["yes", "no"], [YES, RESPONDENTS - YES]), rng=rng)
    tally = survey.tally(reports)
    _, share, low, high, _ = survey.estimate(tally).frame().row(0)
    heights = [YES / RESPONDENTS, float(tally.counts[0]) / RESPONDENTS, share]
    axes.bar(["true", "as sent", "estimated"], heights, color=[GREY, GREY, BLUE], width=0.6)
    axes.errorbar([2], [share], [[share - low], [high - share]], color="black", capsize=4)
    for place, height in enumerate(heights):
        axes.annotate(f"{height:.1%}", (place, 0.02), ha="center", color="white" if place == 2 else "black")
    axes.set(title=f"{RESPONDENTS} people answer through a coin, ε = 1", ylabel="share of yes", ylim=(0, 0.55))


def plot_deciles(axes: Axes, rng: np.random.Generator) -> None:
    """The deciles of an invented table beside those released from it."""
    table = people(2000)
    book = bruit.Ledger("page", epsilon=1, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
    read = bruit.tables.read(table, person="id").limit(rows=1)["income"].within(0, 200_000, grid=100)
    levels = np.arange(1, 10) / 10
    released = bruit.central.quantiles(read, levels.tolist(), budget=book.budget(epsilon=1), rng=rng).value
    truth = np.quantile(table["income"].to_numpy(), levels)
    axes.plot(100 * levels, truth / 1000, color=GREY, linewidth=4, label="true")
    axes.plot(100 * levels, np.asarray(released) / 1000, "o", color=RED, label="released")
    axes.set(
        title="Nine deciles of 2000 incomes, ε = 1 in all", xlabel="per cent earn less", ylabel="income, thousands"
    )
    axes.legend(loc="upper left", frameon=False)  # inside, so that both titles stand on one line


def main() -> None:
    """Writes the picture."""
    look: dict[Any, Any] = {**STYLE, "svg.hashsalt": "bruit", "svg.fonttype": "none", "axes.titlesize": 11}
    with mpl.rc_context(look):
        figure = Figure(figsize=(9.6, 3.3), layout="constrained")
        left, right = figure.subplots(1, 2)
        rng = np.random.default_rng(1)
        plot_survey(left, rng)
        plot_deciles(right, rng)
        figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
