"""Regression on randomised answers: who is likelier to say yes, when every yes and no went through two coins.

[docs/spec.md S2.2; Blair, Imai & Zhou 2015, Section 3] The answer is whether somebody of UCI Adult never married; sex
and age group are known, with every combination of its own, so that the logistic law is no assumption. The likelihood of
a report knows the coins:

    Pr[yes reported | x] = q + (p - q) σ(x·β)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import polars
from numpy.typing import NDArray
from scipy import optimize, special

from bruit import sweeps
from bruit.apps import data, plots
from bruit.apps.findings import Findings, Size
from bruit.local import Warner

EPSILONS: dict[Size, list[str]] = {"small": ["ln 3"], "full": ["0.5", "1", "ln 3", "2", "4"]}
REPEATS = {"small": 3, "full": 60}
ROWS = {"small": 4000, "full": None}
WAYS = ("knows the coins", "takes reports for truths")
NAMES = ("women under 30", "30 to 44", "45 and over", "male", "male, 30 to 44", "male, 45 and over")
SHOWN = NAMES[1]
"""The coefficient that is drawn: how the log odds of women change from under 30 to 30 to 44."""

CONFIDENCE = 1.959964
Floats = NDArray[np.float64]


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Fits many surveys in both ways; writes the mean of each coefficient beside that of the true answers."""
    folder.mkdir(parents=True, exist_ok=True)
    points: dict[str, Sequence[str | int | None]] = {"epsilon": EPSILONS[size], "rows": [ROWS[size]]}
    file = folder / f"sweep_{size}.jsonl"
    rows = sweeps.run(survey_once, points, repeats=REPEATS[size], rng=rng, file=file, on_progress=on_progress)
    table = sweeps.summary(rows, by=["epsilon", "rows"]).with_columns(truth=_truths(ROWS[size]))
    table.write_csv(folder / "coefficients.csv")
    figures = headline(table)
    used = f"only the first {ROWS[size]} people" if ROWS[size] else ""
    files = (folder / "coefficients.csv", plot_findings(folder, table))
    return Findings(summarise(figures, REPEATS[size]), files, figures, used)


@cache
def people(rows: int | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The group of sex and age of each person, as a row of `groups`, and whether they never married."""
    table = data.adult("all")
    table = table if rows is None else table.head(rows)
    age, male = table["age"].to_numpy(), (table["sex"] == "Male").to_numpy()
    group = 3 * male + (age >= 30) + (age >= 45)
    return group.astype(np.int64), (table["marital-status"] == "Never-married").to_numpy()


def groups() -> Floats:
    """The columns of the six groups: women and men under 30, from 30 to 44, and from 45 on."""
    age = np.tile([[0, 0], [1, 0], [0, 1]], (2, 1))
    male = np.repeat([0, 1], 3)[:, None]
    return np.column_stack([np.ones(6), age, male, male * age]).astype(float)


def counted(group: NDArray[np.int64], answers: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """How many of each group say yes, and how many there are."""
    return np.bincount(group[answers], minlength=6).astype(float), np.bincount(group, minlength=6).astype(float)


@cache
def true_fit(rows: int | None) -> Floats:
    """The coefficients from the answers that nobody sends."""
    return fit(groups(), *counted(*people(rows)), 1.0, 0.0)[0]


def survey_once(*, rng: np.random.Generator, epsilon: str, rows: int | None) -> Mapping[str, float]:
    """One survey: the coefficients both ways, and how many intervals of the first hold those of the true answers."""
    group, answers = people(rows)
    coin = Warner(epsilon=epsilon)
    told = counted(group, np.asarray(coin.randomise(answers, rng=rng).values).astype(bool))
    keep = float(coin.chance)
    aware, errors = fit(groups(), *told, keep, 1 - keep)
    naive, _ = fit(groups(), *told, 1.0, 0.0)
    found = {f"{WAYS[0]}: {name}": value for name, value in zip(NAMES, aware, strict=True)}
    found |= {f"{WAYS[1]}: {name}": value for name, value in zip(NAMES, naive, strict=True)}
    held = np.abs(aware - true_fit(rows)) <= CONFIDENCE * errors
    return found | {"covered": float(held.mean()), "standard error": float(errors[NAMES.index(SHOWN)])}


def fit(known: Floats, yes: Floats, people: Floats, keep: float, lie: float) -> tuple[Floats, Floats]:
    """Maximum likelihood through a channel that says yes with chance `keep` to a yes and `lie` to a no.

    Each row of `known` stands for so many people, of whom so many reported yes. Standard errors come from the inverse
    of the expected information.
    """

    def chances(weights: Floats) -> tuple[Floats, Floats]:
        share = special.expit(known @ weights)
        return np.clip(lie + (keep - lie) * share, 1e-12, 1 - 1e-12), (keep - lie) * share * (1 - share)

    def loss(weights: Floats) -> tuple[float, Floats]:
        chance, slope = chances(weights)
        total = (yes * np.log(chance) + (people - yes) * np.log1p(-chance)).sum()
        push = slope * (yes / chance - (people - yes) / (1 - chance))
        return -float(total) / people.sum(), -(push @ known) / people.sum()

    start = np.zeros(known.shape[1])
    best = np.asarray(optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9}).x)
    chance, slope = chances(best)
    weight = people * slope**2 / (chance * (1 - chance))
    return best, np.asarray(np.sqrt(np.diag(np.linalg.inv((known * weight[:, None]).T @ known))))


def _truths(rows: int | None) -> polars.Expr:
    """The true coefficient beside each estimated one."""
    told = {f"{way}: {name}": value for way in WAYS for name, value in zip(NAMES, true_fit(rows), strict=True)}
    return polars.col("quantity").replace_strict(told, default=None, return_dtype=polars.Float64)


def headline(table: polars.DataFrame) -> dict[str, float]:
    """The shown coefficient at ε = ln 3: of the true answers, and from reports in both ways; and the coverage."""
    part = table.filter(polars.col("epsilon") == "ln 3")
    found = dict(part.select("quantity", "mean").iter_rows())
    spread = dict(part.select("quantity", "deviation").iter_rows())
    aware = f"{WAYS[0]}: {SHOWN}"
    return {
        "true answers": float(part.filter(polars.col("quantity") == aware)["truth"][0]),
        "knows the coins": found[aware],
        "takes reports for truths": found[f"{WAYS[1]}: {SHOWN}"],
        "deviation of one survey": spread[aware] or 0.0,
        "standard error it states": found["standard error"],
        "coverage": found["covered"],
    }


def summarise(figures: Mapping[str, float], repeats: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"Who never married, by sex and age, from {repeats} surveys of two coins (ε = ln 3) each: from under 30 to 30 "
        f"to 44 the log odds of women change by {figures['true answers']:.2f} in the true answers, by "
        f"{figures['knows the coins']:.2f} on average where the likelihood knows the coins (one survey strays by "
        f"{figures['deviation of one survey']:.3f}, and says {figures['standard error it states']:.3f}, which also "
        f"covers who was asked; 95 % intervals hold {figures['coverage']:.0%}), and by "
        f"{figures['takes reports for truths']:.2f} where reports are taken for truths. Where the law is not what the "
        "model supposes, knowing the coins does not mend that: with age as one straight line the answer would depend "
        "on ε."
    )


def plot_findings(folder: Path, table: polars.DataFrame) -> Path:
    """The coefficient of age against ε in both ways, with the deviation of one survey."""
    series = []
    for way in WAYS:
        part = table.filter(polars.col("quantity") == f"{way}: {SHOWN}")
        order = np.argsort([float(Warner(epsilon=each).epsilon) for each in part["epsilon"]])
        epsilons = np.array([float(Warner(epsilon=each).epsilon) for each in part["epsilon"]])[order]
        mean, spread = part["mean"].to_numpy()[order], part["deviation"].fill_null(0.0).to_numpy()[order]
        series.append(plots.Series(way, epsilons, mean, mean - spread, mean + spread))
    truth = float(table.filter(polars.col("quantity") == f"{WAYS[0]}: {SHOWN}")["truth"][0])
    series.append(plots.Series("true answers", epsilons[[0, -1]], [truth, truth], dashed=True))
    title = "Never married: women of 30 to 44 beside younger ones"
    return plots.curves(
        folder / "coefficient.png", series, title=title, x="ε", y="change of the log odds", x_scale="log"
    )
