"""GPU memory of training steps: forecast from shapes, measured, and by the thesis's formulas.

[docs/spec.md S2.17]
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files as packaged
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars
import torch

from bruit import sweeps
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.apps.networks import NETWORKS, FrozenVGG, without_values
from bruit.apps.studies.memory.document import MEASURED_BYTES, MEASURED_UNITS, document_adds
from bruit.deep.memory import STAGES, Forecast, forecast
from bruit.errors import BruitError

MEBI = 2**20
OPTIMISERS: Mapping[str, Any] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    "adam": torch.optim.Adam,
}
UNITS = {"small": [26, 128], "full": [1, *range(8, 1025, 8)]}
EVERY = {"small": 8, "full": 1}
"""A small study compares every eighth of the measured rows."""

GRID: Mapping[Size, tuple[Sequence[int], Sequence[int], Sequence[int]]] = {
    "small": ([26], [16], [2, 4]),
    "full": ([26, 64, 128, 256, 512, 1024], [16, 32, 64, 128, 256], [1, 2, 4]),
}
"""The thesis's grid: hidden units, batch sizes, and factors that images are reduced by."""

SWEEP: Mapping[str, Sequence[str | int | bool]] = {
    "model": ["vgg16-head", "vit-s16", "wrn-16-4", "mobile"],
    "batch_size": [32, 128],
    "private": [False, True],
}
"""What is measured, each in a process of its own, where there is a card."""


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Writes forecasts beside measurements, memory against hidden units, and the thesis's formulas."""
    folder.mkdir(parents=True, exist_ok=True)
    compared = compare(read_measurements().gather_every(EVERY[size]), on_progress)
    units = against_units(UNITS[size])
    stages = beside_the_thesis()
    tables = {"compared": compared, "hidden_units": units, "thesis": stages, "grid": over_grid(*GRID[size])}
    if size == "full" and torch.cuda.is_available():
        file = folder / "sweep.jsonl"
        tables["measured_here"] = sweeps.run(measure_apart, SWEEP, repeats=1, rng=rng, file=file)
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv")
    figures = headline(compared)
    written = tuple(folder / f"{name}.csv" for name in tables)
    return Findings(summarise(figures), (*written, *plot_findings(folder, compared, units)), figures)


def predict_memory(cell: Mapping[str, Any]) -> Forecast:
    """The forecast for one measured configuration."""
    with torch.device("meta"):
        name = cell["model"]
        model = FrozenVGG(cell["hidden_units"]) if name == "vgg16-head" else NETWORKS[name][0]()
    colours = NETWORKS[name][1][0]
    return forecast(
        model,
        (colours, cell["side"], cell["side"]),
        batch_size=cell["batch_size"],
        private=cell["private"],
        optimiser=OPTIMISERS[cell["optimiser"]],
    )


def read_measurements() -> polars.DataFrame:
    """The memory measured on an H200 with torch 2.11: one row per configuration, each in a fresh process."""
    return polars.read_csv(packaged("bruit.apps.studies.memory").joinpath("measured.csv").read_bytes())


def compare(cells: polars.DataFrame, on_progress: Callable[[int, int], None] | None = None) -> polars.DataFrame:
    """Forecast and measured peaks side by side, with their difference in percent."""
    found = []
    for number, cell in enumerate(cells.iter_rows(named=True)):
        told_ = predict_memory(cell)
        ends = {f"forecast_{name}": told_.stage(name).allocated for name in STAGES}
        found.append(cell | {"forecast_peak": told_.peak, "forecast_reserved": told_.reserved} | ends)
        if on_progress is not None:
            on_progress(number + 1, len(cells))
    apart = 100 * (polars.col("forecast_peak") / polars.col("peak") - 1)
    return polars.DataFrame(found).with_columns(percent_apart=apart)


def against_units(units: list[int], *, batch_size: int = 64, reduction: int = 2) -> polars.DataFrame:
    """The memory of VGG16 against head size: requested, allocated, by the thesis's formula, and the peak."""
    rows = []
    side = 224 // reduction
    for hidden in units:
        for private in (False, True):
            with torch.device("meta"):
                model = FrozenVGG(hidden)
            asked = sum(4 * each.numel() for each in model.parameters())
            told_ = forecast(model, (3, side, side), batch_size=batch_size, private=private)
            document = document_adds(
                "model", hidden_units=hidden, batch_size=batch_size, reduction=reduction, private=private
            )
            counted = told_.stage("model").allocated
            rows.append((hidden, private, asked, counted, document, told_.peak, told_.reserved))
    names = ["hidden_units", "private", "asked", "allocated", "thesis", "peak", "reserved"]
    return polars.DataFrame(rows, names, orient="row")


def beside_the_thesis(*, hidden_units: int = 512, batch_size: int = 64, reduction: int = 2) -> polars.DataFrame:
    """The memory that each stage adds: our forecast, and by the thesis's formulas."""
    return over_grid([hidden_units], [batch_size], [reduction]).drop("hidden_units", "batch_size", "reduction")


def over_grid(units: Sequence[int], batches: Sequence[int], reductions: Sequence[int]) -> polars.DataFrame:
    """The same for every cell of hidden units, batch size and reduction, with and without privacy."""
    rows = []
    for hidden, batch, reduction, private in itertools.product(units, batches, reductions, (False, True)):
        with torch.device("meta"):
            model = FrozenVGG(hidden)
        side = 224 // reduction
        told_ = forecast(model, (3, side, side), batch_size=batch, private=private)
        before = 0
        for name in STAGES:
            said = document_adds(name, hidden_units=hidden, batch_size=batch, reduction=reduction, private=private)
            now = told_.stage(name)
            rows.append((hidden, batch, reduction, name, private, now.allocated - before, now.peak, now.reserved, said))
            before = now.allocated
    names = ["hidden_units", "batch_size", "reduction", "stage", "private", "adds", "peak", "reserved", "thesis_adds"]
    return polars.DataFrame(rows, names, orient="row", infer_schema_length=None)


def measure_apart(*, rng: np.random.Generator, model: str, batch_size: int, private: bool) -> Mapping[str, float]:  # noqa: ARG001
    """Measures one step in a fresh process: memory allocated after each stage, the peak, and memory reserved."""
    asked = [sys.executable, "-m", "bruit.apps.studies.memory.isolated", model, str(batch_size), str(int(private))]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BruitError(f"{model} with {batch_size} samples could not be measured: {done.stderr[-300:]}")
    stages = cast(list[dict[str, Any]], json.loads(done.stdout))
    ends = {f"{stage['name']}_bytes": stage["allocated"] for stage in stages[: len(STAGES)]}
    shape = NETWORKS[model][1]
    told_ = forecast(without_values(model), shape, batch_size=batch_size, private=private)
    peaks = {name: max(stage[name] for stage in stages) for name in ("peak", "reserved")}
    return ends | peaks | {"forecast_peak": told_.peak}


def headline(compared: polars.DataFrame) -> dict[str, float]:
    """The error of the forecasts, and the thesis's measured row."""
    with torch.device("meta"):
        small = FrozenVGG(MEASURED_UNITS)
    loaded = forecast(small, (3, 224, 224), batch_size=1, private=False).stage("model").allocated
    worst = compared.group_by("model").agg(polars.col("percent_apart").abs().max()).sort("model")
    return {f"worst_percent_{model}": value for model, value in worst.iter_rows()} | {
        "bytes_of_the_thesis": float(MEASURED_BYTES),
        "forecast_of_that_row": float(loaded),
    }


def summarise(figures: dict[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    worst = ", ".join(
        f"{name.removeprefix('worst_percent_')} {value:.2f} %"
        for name, value in figures.items()
        if name.startswith("worst_percent_")
    )
    return (
        f"Peaks forecast from shapes against an H200's counters, the worst cell of each network: {worst}. The thesis "
        f"measured {figures['bytes_of_the_thesis']:.0f} bytes after loading a head of {MEASURED_UNITS} units; the "
        f"forecast is {figures['forecast_of_that_row']:.0f}: blocks that are too small to be cut are counted "
        "whole, which makes the jumps."
    )


def plot_findings(folder: Path, compared: polars.DataFrame, units: polars.DataFrame) -> list[Path]:
    """Plots forecast against measured peaks, and memory against hidden units."""
    networks = sorted(compared["model"].unique())
    series = []
    for name in networks:
        part = compared.filter(polars.col("model") == name).sort("peak")
        series.append(plots.Series(name, part["peak"] / MEBI, part["peak"] * (1 + part["percent_apart"] / 100) / MEBI))
    ends = [float(compared["peak"].min() or 0) / MEBI, float(compared["peak"].max() or 0) / MEBI]  # type: ignore[arg-type]
    first = plots.curves(
        folder / "compared.png",
        [*series, plots.Series("equal", ends, ends, dashed=True)],
        title="Peak memory: forecast against measured",
        x="measured, MiB",
        y="forecast, MiB",
        x_scale="log",
        y_scale="log",
    )
    plain = units.filter(~polars.col("private")).sort("hidden_units")
    lines = [
        plots.Series(label, plain["hidden_units"], (plain[column] - plain["asked"]) / MEBI, dashed=dashed)
        for label, column, dashed in (
            ("counted by the allocator", "allocated", False),
            ("by the thesis's line", "thesis", True),
        )
    ]
    second = plots.curves(
        folder / "hidden_units.png",
        lines,
        title="VGG16 and a head, loaded: memory beyond what was asked for",
        x="hidden units",
        y="beyond what was asked for, MiB",
    )
    return [first, second]
