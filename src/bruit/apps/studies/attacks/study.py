"""A gallery of attacks, each with its defence and an audit of it: linkage, traces, stealing and inversion of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars
from scipy import stats

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
AUDITS = {"small": 1, "full": 5}
ROWS = {"small": 2000, "full": None}
KNOWN = {"small": [1, 4], "full": [1, 2, 3, 4, 6, 8]}
GRIDS = ((1, 1), (4, 1), (4, 6))
"""Kilometres and hours of a square."""

CELLS, EPSILONS = 8, (0.5, 1.0, 2.0)
"""Cells of counts that one person is in, and the ε of all of them together."""

OF_TARGETS = ("linkage", "traces")
"""Attacks that are tried on one person after another."""

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
        table = sweeps.summary(rows, by=list(points[0]), within=(0, 1))
        found[name] = exact_intervals(table) if name in OF_TARGETS else table
        found[name].write_csv(folder / f"{name}.csv")
        if on_progress is not None:
            on_progress(number + 1, len(attacks(size)))
    figures = headline(found)
    files = (*(folder / f"{name}.csv" for name in found), *plot_findings(folder, found))
    used = f"only {PEOPLE[size]} invented people and {ROWS[size]} real ones" if size == "small" else ""
    return Findings(summarise(found, figures, PEOPLE[size]), files, figures, used)


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
        "counts": (tell_member, [{"epsilon": e, "cells": CELLS, "draws": DRAWS[size]} for e in EPSILONS], AUDITS[size]),
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


def exact_intervals(table: polars.DataFrame) -> polars.DataFrame:
    """The table with exact intervals, where each repeat is one target who is found or not.  [Clopper & Pearson 1934]"""
    seen = table.select(polars.col("mean") * polars.col("repeats"), "repeats").iter_rows()
    ends = [stats.binomtest(round(found), targets).proportion_ci() for found, targets in seen]
    return table.with_columns(low=polars.Series([end.low for end in ends]), high=polars.Series([e.high for e in ends]))


def one_row(table: polars.DataFrame, quantity: str, **where: float) -> dict[str, Any]:
    """The mean of one measured quantity at one setting, with its interval."""
    return table.filter(polars.col("quantity") == quantity, **where).row(0, named=True)


def headline(found: Mapping[str, polars.DataFrame]) -> dict[str, float]:
    """The share of people that each attack finds, before and after its defence."""

    def mean(name: str, quantity: str, **where: float) -> float:
        return float(one_row(found[name], quantity, **where)["mean"])

    least_queries = min(found["stealing"]["queries"].to_list())
    return {
        "linkage: named rightly from 4 ratings": mean("linkage", "right", known=4, coarse=False),
        "linkage: named rightly without days and stars": mean("linkage", "right", known=4, coarse=True),
        "traces: alone with 4 points of 1 km and 1 h": mean("traces", "alone", known=4, kilometres=1, hours=1),
        "traces: alone with 4 points of 4 km and 6 h": mean("traces", "alone", known=4, kilometres=4, hours=6),
        "counts: advantage at ε = 1": mean("counts", "advantage", epsilon=1.0),
        "counts: the same, exactly": mean("counts", "exact", epsilon=1.0),
        "counts: most that ε = 1 allows": mean("counts", "bound", epsilon=1.0),
        "counts: share of ε = 1 that an audit proves": mean("counts", "proved", epsilon=1.0),
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


def summarise(found: Mapping[str, polars.DataFrame], figures: Mapping[str, float], people: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    get = {name: f"{value:.1%}" for name, value in figures.items()}
    fine, coarse = (_with_interval(found["linkage"], "right", known=4, coarse=each) for each in (False, True))
    advantage = _with_interval(found["counts"], "advantage", epsilon=1.0)
    near, far = (
        _with_interval(found["traces"], "alone", known=4, kilometres=km, hours=h) for km, h in ((1, 1), (4, 6))
    )
    return (
        f"Among {people} invented people, four ratings known within a star and a fortnight name {fine} of them rightly "
        f"in a table without names; without days and stars {coarse}. Four places of a kilometre and an hour leave "
        f"{near} alone, of four kilometres and six hours still {far}: coarser records do not defend; noised counts do. "
        f"At ε = 1 the best attack tells whether somebody is in them {advantage} better than guessing "
        f"({get['counts: the same, exactly']} exactly; with any answer of this ε "
        f"{get['counts: most that ε = 1 allows']} at most), and an audit proves from the outputs alone that "
        f"{get['counts: share of ε = 1 that an audit proves']} of that ε, or more, is spent. On UCI Adult six exact "
        f"answers steal a linear model (agreement {get['stealing: agreement from 6 exact answers']}; trained at ε = 1, "
        f"{get['stealing: the same, model trained at ε = 1']}): privacy of records does not hide a model. Who is "
        f"married is read out of the model for {get['inversion: people seen']} of the people that it saw and "
        f"{get['inversion: people never seen']} of those it never saw (guessing: {get['inversion: guessing']}), at ε = "
        f"1 for {get['inversion: people seen, at ε = 1']}: what leaks is a law of all, which no ε hides."
    )


def _with_interval(table: polars.DataFrame, quantity: str, **where: float) -> str:
    """A share with its 95 % interval, where there is one."""
    row = one_row(table, quantity, **where)
    ends = "" if row["low"] is None else f" ({row['low']:.1%} to {row['high']:.1%})"
    return f"{row['mean']:.1%}{ends}"


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
    parts = {
        name: table.filter(polars.col("quantity") == name).sort("epsilon") for name in ("advantage", "exact", "bound")
    }
    series = [
        _series(parts["advantage"], "epsilon", "best attack on noised counts"),
        plots.Series("the same, exactly", parts["exact"]["epsilon"], parts["exact"]["mean"], dashed=True),
        plots.Series("most that ε allows", parts["bound"]["epsilon"], parts["bound"]["mean"], dashed=True),
    ]
    title = "Who is in noised counts: the best attack, and what ε allows"
    return plots.curves(folder / "counts.png", series, title=title, x="ε", y="advantage over guessing")


def plot_inversion(folder: Path, table: polars.DataFrame) -> Path:
    """How many are told rightly to be married, of people seen and never seen."""
    names, groups = ("guessing", "seen", "never seen"), []
    for epsilon, words in ((0.0, "model without privacy"), (MODEL_EPSILON, f"model at ε = {MODEL_EPSILON:g}")):
        rows = [one_row(table, name, epsilon=epsilon) for name in names]
        ends = [[row[end] for row in rows] for end in ("low", "high")] if rows[0]["low"] is not None else (None, None)
        groups.append(plots.Bars(words, [row["mean"] for row in rows], *ends))
    return plots.bars(
        folder / "inversion.png", names, groups, title="Who is married, read out of a model", y="share told rightly"
    )


def _series(part: polars.DataFrame, x: str, label: str) -> plots.Series:
    one = part.sort(x)
    ends = (None, None) if one["low"].null_count() else (one["low"], one["high"])
    return plots.Series(label, one[x], one["mean"], *ends)
