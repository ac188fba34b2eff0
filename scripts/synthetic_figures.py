"""Draws the pictures of docs/synthetic.md: a marginal with its intervals, and coverage over many questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import polars

import bruit
from bruit.apps.plots import legend_above
from bruit.apps.plots.style import COLOURS, STYLE
from bruit.synthetic import SyntheticTable, synthesise
from bruit.tables import Domain, among, within

DOCS = Path(__file__).parents[1] / "docs"
WARDS = ("heart", "bones", "children", "birth", "lungs")
GREY = "#d0d4dc"


def patients(rows: int = 20_000) -> polars.DataFrame:
    """People who do not exist, whose ward depends on their age."""
    rng = np.random.default_rng(7)
    age = np.clip(rng.normal(45, 24, rows), 0, 99).astype(np.int64)
    weights = np.stack(
        [age / 30, np.full(rows, 1.0), 6.0 * (age < 16), 2.0 * ((age > 18) & (age < 45)), 0.3 + age / 60], 1
    )
    sums = np.cumsum(weights / weights.sum(1, keepdims=True), 1)
    ward = (rng.random((rows, 1)) > sums).sum(1)
    days = np.minimum(rng.geometric(1 / (2 + age / 25)), 30)
    return polars.DataFrame({"age": age, "ward": np.array(WARDS, object)[ward], "days": days}).with_columns(
        polars.col("ward").cast(polars.String)
    )


def make(table: polars.DataFrame, epsilon: float) -> SyntheticTable:
    """The synthetic table at a price."""
    book = bruit.Ledger(
        "page", epsilon=epsilon, delta="1e-5", neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW
    )
    columns: dict[str, Domain] = {
        "age": within(0, 99, grid=1, missing=0),
        "ward": among(WARDS),
        "days": within(1, 30, grid=1, missing=1),
    }
    return synthesise(
        bruit.tables.read(table, person=bruit.EACH_ROW),
        columns,
        edges={"age": list(range(10, 100, 10)), "days": [2, 3, 5, 8, 15]},
        budget=book.budget(epsilon=epsilon, delta="1e-5"),
        rng=np.random.default_rng(3),
    ).value


def plot_marginal(table: polars.DataFrame, made: SyntheticTable) -> None:
    """One ward by age: the true counts, and the synthetic ones with their intervals."""
    found = made.marginal("ward", "age")
    assert found.interval is not None
    shape = found.value.shape
    low, high = (ends.reshape(shape)[0] for ends in (found.interval.low, found.interval.high))
    value, decades = found.value[0], np.arange(10)
    hearts = table.filter(polars.col("ward") == "heart")["age"].to_numpy() // 10
    figure, axes = plt.subplots(figsize=(6.4, 3.2))
    axes.bar(decades, np.bincount(hearts, minlength=10), color=GREY, label="true table")
    axes.errorbar(
        decades, value, [value - low, high - value], fmt="o", ms=4, color=COLOURS[1], capsize=3, label="synthetic, 95 %"
    )
    axes.set(xticks=decades, xticklabels=[f"{10 * d}s" for d in decades], ylabel="stays", xlabel="age")
    axes.set_title("Stays in the heart ward by age, ε = 1")
    legend_above(axes)
    figure.savefig(DOCS / "synthetic_marginal.svg", metadata={"Date": None})


def plot_prices(table: polars.DataFrame) -> None:
    """How the half-widths of answers shrink as the price grows."""
    prices = (0.25, 0.5, 1.0, 2.0, 4.0)
    questions: dict[str, dict[str, object]] = {
        "one column, measured": {"ward": "heart"},
        "two columns, measured": {"ward": "heart", "age": (60, 79)},
        "three columns, not measured": {"ward": "heart", "age": (60, 79), "days": (5, 7)},
    }
    made = [make(table, price) for price in prices]
    figure, axes = plt.subplots(figsize=(6.4, 3.2))
    for (name, where), colour in zip(questions.items(), COLOURS[:3], strict=True):
        found = [each.count(where).interval for each in made]  # type: ignore[arg-type]
        axes.plot(
            prices, [float(each.high - each.low) / 2 for each in found if each], "o-", ms=4, color=colour, label=name
        )
    axes.set(xscale="log", yscale="log", xlabel="price ε", ylabel="half-width, rows", xticks=prices)
    axes.set_xticklabels([f"{price:g}" for price in prices])
    axes.set_yticks([5, 10, 20, 50], ["5", "10", "20", "50"])
    axes.minorticks_off()
    axes.set_title("How far off a count may be, by its price")
    legend_above(axes)
    figure.savefig(DOCS / "synthetic_prices.svg", metadata={"Date": None})


def main() -> None:
    """Writes both pictures."""
    look: dict[Any, Any] = {**STYLE, "svg.hashsalt": "bruit", "svg.fonttype": "none"}
    mpl.rcParams.update(look)
    table = patients()
    plot_marginal(table, make(table, 1.0))
    plot_prices(table)


if __name__ == "__main__":
    main()
