"""A gallery of attacks, each with its defence and an audit of it: linkage, traces, stealing and inversion of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars

from bruit import sweeps
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.apps.studies.attacks.counts import DRAWS, tell_member
from bruit.apps.studies.attacks.linkage import link_once
from bruit.apps.studies.attacks.mobility import match_once
from bruit.apps.studies.attacks.models import invert_once, steal_once

PEOPLE = {"small": 500, "full": 10_000}
TARGETS = {"small": 30, "full": 400}
FITS = {"small": 1, "full": 10}
ROWS = {"small": 2000, "full": None}
KNOWN = {"small": [1, 4], "full": [1, 2, 3, 4, 6, 8]}
GRIDS = ((1, 1), (4, 1), (4, 6))
"""Kilometres and hours of a square."""

CELLS, EPSILONS = 8, (0.5, 1.0, 2.0)
"""Cells of counts that one person is in, and the ε of all of them together."""

QUERIES, DIGITS, MODEL_EPSILON = {"small": [6], "full": [6, 12, 50, 200]}, (12, 2, 1), 1.0


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Runs every attack before and after its defence; writes a table and a figure for each."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, polars.DataFrame] = {}
    for number, (name, (attack, points, repeats)) in enumerate(attacks(size).items()):
        rows = sweeps.run(attack, points, repeats=repeats, rng=rng, file=folder / f"{name}_{size}.jsonl")
        found[name] = sweeps.summary(rows, by=list(points[0]), within=(0, 1))
        found[name].write_csv(folder / f"{name}.csv")
        if on_progress is not None:
            on_progress(number + 1, len(attacks(size)))
    figures = headline(found)
    files = (*(folder / f"{name}.csv" for name in found), *plot_findings(folder, found))
    used = f"only {PEOPLE[size]} invented people and {ROWS[size]} real ones" if size == "small" else ""
    return Findings(summarise(figures, PEOPLE[size]), files, figures, used)


def attacks(size: Size) -> Mapping[str, tuple[Callable[..., Mapping[str, float]], list[dict[str, Any]], int]]:
    """Every attack with its points and its repeats."""
    people, known = PEOPLE[size], KNOWN[size]
    return {
        "linkage": (
            link_once,
            [{"people": people, "known": k, "coarse": coarse} for coarse in (False, True) for k in known],
            TARGETS[size],
        ),
        "traces": (
            match_once,
            [{"people": people, "known": k, "kilometres": km, "hours": h} for km, h in GRIDS for k in known],
            TARGETS[size],
        ),
        "counts": (tell_member, [{"epsilon": e, "cells": CELLS, "draws": DRAWS[size]} for e in EPSILONS], 1),
        "stealing": (
            steal_once,
            [
                {"digits": d, "queries": q, "epsilon": e, "rows": ROWS[size]}
                for e in (0.0, MODEL_EPSILON)
                for d in DIGITS
                for q in QUERIES[size]
            ],
            FITS[size],
        ),
        "inversion": (invert_once, [{"epsilon": e, "rows": ROWS[size]} for e in (0.0, MODEL_EPSILON)], FITS[size]),
    }


def headline(found: Mapping[str, polars.DataFrame]) -> dict[str, float]:
    """The share of people that each attack finds, before and after its defence."""

    def mean(name: str, quantity: str, **where: float) -> float:
        one = found[name].filter(polars.col("quantity") == quantity, **where)
        return float(one["mean"][0])

    least_queries = min(found["stealing"]["queries"].to_list())
    return {
        "linkage: named rightly from 4 ratings": mean("linkage", "right", known=4, coarse=False),
        "linkage: named rightly without days and stars": mean("linkage", "right", known=4, coarse=True),
        "traces: alone with 4 points of 1 km and 1 h": mean("traces", "alone", known=4, kilometres=1, hours=1),
        "traces: alone with 4 points of 4 km and 6 h": mean("traces", "alone", known=4, kilometres=4, hours=6),
        "counts: advantage at ε = 1": mean("counts", "advantage", epsilon=1.0),
        "counts: most that ε = 1 allows": mean("counts", "bound", epsilon=1.0),
        "stealing: agreement from 6 exact answers": mean(
            "stealing", "agrees", digits=12, epsilon=0.0, queries=least_queries
        ),
        "stealing: the same, model trained at ε = 1": mean(
            "stealing", "agrees", digits=12, epsilon=1.0, queries=least_queries
        ),
        "stealing: answers of one digit": mean("stealing", "agrees", digits=1, epsilon=0.0, queries=least_queries),
        "inversion: guessing": mean("inversion", "guessing", epsilon=0.0),
        "inversion: people seen": mean("inversion", "seen", epsilon=0.0),
        "inversion: people never seen": mean("inversion", "never seen", epsilon=0.0),
        "inversion: people seen, at ε = 1": mean("inversion", "seen", epsilon=1.0),
    }


def summarise(figures: Mapping[str, float], people: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    get = {name: f"{value:.1%}" for name, value in figures.items()}
    return (
        f"Among {people} invented people, four ratings known within a star and a fortnight name "
        f"{get['linkage: named rightly from 4 ratings']} of them rightly in a table without names; without days and "
        f"stars {get['linkage: named rightly without days and stars']}. Four places of a kilometre and an hour leave "
        f"{get['traces: alone with 4 points of 1 km and 1 h']} alone, of four kilometres and six hours still "
        f"{get['traces: alone with 4 points of 4 km and 6 h']}. From noised counts at ε = 1 the best attack tells "
        f"whether somebody is in them {get['counts: advantage at ε = 1']} better than guessing (at most "
        f"{get['counts: most that ε = 1 allows']} is possible). On UCI Adult six exact answers steal a linear model "
        f"(agreement {get['stealing: agreement from 6 exact answers']}; trained at ε = 1, "
        f"{get['stealing: the same, model trained at ε = 1']}): privacy of records does not hide a model. Who is "
        f"married is read out of the model for {get['inversion: people seen']} of the people that it saw and "
        f"{get['inversion: people never seen']} of those it never saw (guessing: {get['inversion: guessing']}), at ε = "
        f"1 for {get['inversion: people seen, at ε = 1']}: what leaks is a law of all, which no ε hides."
    )


def plot_findings(folder: Path, found: Mapping[str, polars.DataFrame]) -> tuple[Path, ...]:
    """One figure an attack: how many are found, before and after the defence."""
    return (
        plot_linkage(folder, found["linkage"].filter(polars.col("quantity") == "right")),
        plot_traces(folder, found["traces"]),
        plot_stealing(folder, found["stealing"].filter(polars.col("epsilon") == 0)),
        plot_counts(folder, found["counts"]),
        plot_inversion(folder, found["inversion"]),
    )


def plot_linkage(folder: Path, table: polars.DataFrame) -> Path:
    """Who is named rightly from a few ratings, in a fine and in a coarse table."""
    words = {False: "days and stars published", True: "only whether it was liked"}
    series = [_series(table.filter(polars.col("coarse") == coarse), "known", told) for coarse, told in words.items()]
    title = "Invented people named from a few ratings"
    return plots.curves(
        folder / "linkage.png", series, title=title, x="ratings that are known", y="share named rightly"
    )


def plot_traces(folder: Path, table: polars.DataFrame) -> Path:
    """Who is alone with a few places and hours, by how fine they are."""
    series = []
    for km, hours in GRIDS:
        part = table.filter(polars.col("kilometres") == km, polars.col("hours") == hours)
        series.append(_series(part, "known", f"{km} km, {hours} h"))
    title = "Invented people alone with a few places"
    return plots.curves(folder / "traces.png", series, title=title, x="places known", y="share alone")


def plot_stealing(folder: Path, table: polars.DataFrame) -> Path:
    """How alike a stolen model is, by the digits of the answers."""
    series = []
    for digits in DIGITS:
        told = f"answers of {digits} digit{'s' if digits > 1 else ''}"
        series.append(_series(table.filter(polars.col("digits") == digits), "queries", told))
    return plots.curves(
        folder / "stealing.png",
        series,
        title="How often a stolen model answers like the original",
        x="questions asked",
        y="share of equal answers on other people",
        x_scale="log",
    )


def plot_counts(folder: Path, table: polars.DataFrame) -> Path:
    """What the best attack on noised counts gains, beside what ε allows."""
    parts = {name: table.filter(polars.col("quantity") == name).sort("epsilon") for name in ("advantage", "bound")}
    series = [
        plots.Series("best attack on noised counts", parts["advantage"]["epsilon"], parts["advantage"]["mean"]),
        plots.Series("most that ε allows", parts["bound"]["epsilon"], parts["bound"]["mean"], dashed=True),
    ]
    title = "Who is in noised counts: the best attack, and what ε allows"
    return plots.curves(folder / "counts.png", series, title=title, x="ε", y="advantage over guessing")


def plot_inversion(folder: Path, table: polars.DataFrame) -> Path:
    """How many are told rightly to be married, of people seen and never seen."""
    names, groups = ("guessing", "seen", "never seen"), []
    for epsilon, words in ((0.0, "model without privacy"), (MODEL_EPSILON, f"model at ε = {MODEL_EPSILON:g}")):
        part = table.filter(polars.col("epsilon") == epsilon)
        groups.append(plots.Bars(words, [part.filter(polars.col("quantity") == name)["mean"][0] for name in names]))
    return plots.bars(
        folder / "inversion.png", names, groups, title="Who is married, read out of a model", y="share told rightly"
    )


def _series(part: polars.DataFrame, x: str, label: str) -> plots.Series:
    one = part.sort(x)
    ends = (None, None) if one["low"].null_count() else (one["low"], one["high"])
    return plots.Series(label, one[x], one["mean"], *ends)
