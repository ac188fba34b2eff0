"""The ε of a training run against every one of its parameters, as figures and tidy tables.

[docs/spec.md S2.11, S2.12]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars

from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.privacy import curve, order_curve, plan, training_loss

REFERENCE: dict[str, Any] = {"size": 60_000, "batch_size": 64, "noise_multiplier": 1.0, "epochs": 15, "delta": 1e-5}
"""The run of the thesis, which costs ε = 1.17 at order 13 by its own accountant."""

ACCOUNTANTS = {
    "rdp-simple": "Rényi orders, as in the thesis",
    "rdp": "better conversion",
    "pld": "whole distribution of the loss",
}
"""What prices a run, and how it is called in the figures."""

POINTS = {"small": 3, "full": 15}
RANGES: dict[str, tuple[float, float]] = {
    "size": (2_000, 90_000),
    "batch_size": (16, 4096),
    "noise_multiplier": (0.6, 4.0),
    "noise_multiplier and batch_size": (32, 2048),
    "epochs": (1, 100),
    "delta": (1e-9, 1e-5),
}
WHOLE = ("size", "batch_size", "epochs")
AXES = {
    "size": "records",
    "batch_size": "batch size",
    "noise_multiplier": "noise over the clipping bound",
    "noise_multiplier and batch_size": "batch size, with noise = batch size / 64",
    "epochs": "epochs",
    "delta": "δ",
    "order": "Rényi order",
}


TITLES = {
    "size": "the number of records",
    "batch_size": "the batch size",
    "noise_multiplier": "the noise",
    "noise_multiplier and batch_size": "noise and batch size together",
    "epochs": "the number of epochs",
    "delta": "δ",
}


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,  # noqa: ARG001  nothing is drawn
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Writes a table and a figure of ε against each parameter of a run, and against the Rényi order."""
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for number, name in enumerate(RANGES):
        table = along(name, POINTS[size])
        table.write_csv(folder / f"{_file(name)}.csv")
        files += [folder / f"{_file(name)}.csv", plot_findings(folder, name, table)]
        if on_progress is not None:
            on_progress(number + 1, len(RANGES) + 1)
    orders = order_curve(training_loss(**_without("delta"), neighbours=ADD_OR_REMOVE_ONE), delta=REFERENCE["delta"])
    orders.write_csv(folder / "order.csv")
    files += [folder / "order.csv", plot_orders(folder, orders)]
    figures = headline()
    return Findings(summarise(figures), tuple(files), figures)


def along(name: str, points: int) -> polars.DataFrame:
    """ε along the values of one parameter, one row per value and accountant; the rest as in the reference run."""
    values = _values(name, points)
    if name != "noise_multiplier and batch_size":
        return curve(**REFERENCE | {name: values}, neighbours=ADD_OR_REMOVE_ONE, by=tuple(ACCOUNTANTS))
    parts = [
        curve(
            **REFERENCE | {"batch_size": int(each), "noise_multiplier": each / 64},
            neighbours=ADD_OR_REMOVE_ONE,
            by=tuple(ACCOUNTANTS),
        )
        for each in values
    ]
    return polars.concat(parts)


def plot_findings(folder: Path, name: str, table: polars.DataFrame) -> Path:
    """Plots ε against one parameter, one curve per accountant."""
    column = "batch_size" if name == "noise_multiplier and batch_size" else name
    series = []
    for by, label in ACCOUNTANTS.items():
        part = table.filter(polars.col("by") == by).sort(column)
        series.append(plots.Series(label, part[column], part["epsilon"]))
    return plots.curves(
        folder / f"{_file(name)}.png",
        series,
        title=f"ε of a training against {TITLES[name]}",
        x=AXES[name],
        y="ε",
        x_scale="linear" if name in ("noise_multiplier", "epochs") else "log",
        y_scale="log"
        if name in ("size", "batch_size", "noise_multiplier", "noise_multiplier and batch_size")
        else "linear",
    )


def plot_orders(folder: Path, orders: polars.DataFrame) -> Path:
    """Plots ε at each Rényi order by both conversions; the smallest counts."""
    names = {"simple": "as in the thesis", "improved": "better conversion"}
    series = [plots.Series(label, orders["order"], orders[name]) for name, label in names.items()]
    title = "ε of a training against the Rényi order: the smallest counts"
    return plots.curves(folder / "order.png", series, title=title, x=AXES["order"], y="ε", x_scale="log", y_scale="log")


def headline() -> dict[str, float]:
    """The ε of the reference run by each accountant."""
    return {by: plan(**REFERENCE, neighbours=ADD_OR_REMOVE_ONE, by=by).epsilon for by in ACCOUNTANTS}


def summarise(figures: dict[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"60 000 records, batches of 64, noise 1, 15 epochs, δ = 1e-5 (weak for so many records): "
        f"ε = {figures['rdp-simple']:.2f} by the thesis's accountant, {figures['rdp']:.2f} by the better conversion "
        f"of Rényi orders, {figures['pld']:.2f} by the whole distribution of the loss. ε falls about as one over the "
        "noise and one over the size, grows about as the root of the epochs, and hardly moves with δ; with noise in "
        "proportion to the batch, larger batches cost less."
    )


def _values(name: str, points: int) -> Sequence[Any]:
    low, high = RANGES[name]
    found = np.geomspace(low, high, points)
    return sorted({round(each) for each in found}) if name in WHOLE else [float(f"{each:.3g}") for each in found]


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in REFERENCE.items() if key != name}


def _file(name: str) -> str:
    return name.replace(" and ", "_and_").replace("noise_multiplier", "noise")
