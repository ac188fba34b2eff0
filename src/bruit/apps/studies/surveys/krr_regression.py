"""Regression on randomised answers: who is likelier to say yes, when every yes and no went through two coins.

[docs/spec.md S2.2; Blair, Imai & Zhou 2015, Section 3] The answer is whether somebody of UCI Adult never married; age,
sex and education are known. The likelihood of a report knows the coins:

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
NAMES = ("constant", "age, in decades", "male", "education, in years")
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
def people(rows: int | None) -> tuple[Floats, NDArray[np.bool_]]:
    """What is known of each person, with a constant, and whether they never married."""
    table = data.adult("all")
    table = table if rows is None else table.head(rows)
    age, education = table["age"].to_numpy() / 10, table["education-num"].to_numpy()
    known = np.column_stack([np.ones(len(table)), age, (table["sex"] == "Male").to_numpy(), education])
    return known.astype(float), (table["marital-status"] == "Never-married").to_numpy()


@cache
def true_fit(rows: int | None) -> Floats:
    """The coefficients from the answers that nobody sends."""
    known, answers = people(rows)
    return fit(known, answers, 1.0, 0.0)[0]


def survey_once(*, rng: np.random.Generator, epsilon: str, rows: int | None) -> Mapping[str, float]:
    """One survey: the coefficients both ways, and how many intervals of the first hold those of the true answers."""
    known, answers = people(rows)
    coin = Warner(epsilon=epsilon)
    reports = np.asarray(coin.randomise(answers, rng=rng).values).astype(bool)
    keep = float(coin.chance)
    aware, errors = fit(known, reports, keep, 1 - keep)
    naive, _ = fit(known, reports, 1.0, 0.0)
    found = {f"{WAYS[0]}: {name}": value for name, value in zip(NAMES, aware, strict=True)}
    found |= {f"{WAYS[1]}: {name}": value for name, value in zip(NAMES, naive, strict=True)}
    held = np.abs(aware - true_fit(rows)) <= CONFIDENCE * errors
    return found | {"covered": float(held.mean()), "standard error of age": float(errors[1])}


def fit(known: Floats, reports: NDArray[np.bool_], keep: float, lie: float) -> tuple[Floats, Floats]:
    """Maximum likelihood through a channel that says yes with chance `keep` to a yes and `lie` to a no.

    Standard errors come from the inverse of the expected information.
    """

    def loss(weights: Floats) -> tuple[float, Floats]:
        share = special.expit(known @ weights)
        chance = np.clip(lie + (keep - lie) * share, 1e-12, 1 - 1e-12)
        slope = (keep - lie) * share * (1 - share) * (reports / chance - (1 - reports) / (1 - chance))
        total = np.where(reports, np.log(chance), np.log1p(-chance)).mean()
        return -float(total), -(slope @ known) / len(known)

    best = optimize.minimize(loss, np.zeros(known.shape[1]), jac=True, method="BFGS").x
    share = special.expit(known @ best)
    chance = np.clip(lie + (keep - lie) * share, 1e-12, 1 - 1e-12)
    weight = ((keep - lie) * share * (1 - share)) ** 2 / (chance * (1 - chance))
    errors = np.sqrt(np.diag(np.linalg.inv((known * weight[:, None]).T @ known)))
    return np.asarray(best), np.asarray(errors)


def _truths(rows: int | None) -> polars.Expr:
    """The true coefficient beside each estimated one."""
    told = {f"{way}: {name}": value for way in WAYS for name, value in zip(NAMES, true_fit(rows), strict=True)}
    return polars.col("quantity").replace_strict(told, default=None, return_dtype=polars.Float64)


def headline(table: polars.DataFrame) -> dict[str, float]:
    """The coefficient of age at ε = ln 3: of the true answers, and from reports in both ways; and the coverage."""
    part = table.filter(polars.col("epsilon") == "ln 3")
    found = dict(part.select("quantity", "mean").iter_rows())
    spread = dict(part.select("quantity", "deviation").iter_rows())
    age = f"{WAYS[0]}: {NAMES[1]}"
    return {
        "age, true answers": float(part.filter(polars.col("quantity") == age)["truth"][0]),
        "age, knows the coins": found[age],
        "age, takes reports for truths": found[f"{WAYS[1]}: {NAMES[1]}"],
        "deviation of one survey": spread[age] or 0.0,
        "standard error it states": found["standard error of age"],
        "coverage": found["covered"],
    }


def summarise(figures: Mapping[str, float], repeats: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"Who never married, by age, sex and education, from {repeats} surveys of two coins (ε = ln 3) each: ten years "
        f"more change the log odds by {figures['age, true answers']:.2f} in the true answers, by "
        f"{figures['age, knows the coins']:.2f} on average where the likelihood knows the coins (one survey strays by "
        f"{figures['deviation of one survey']:.3f}, and says {figures['standard error it states']:.3f}; 95 % intervals "
        f"hold {figures['coverage']:.0%}), and by {figures['age, takes reports for truths']:.2f} where reports are "
        "taken for truths."
    )


def plot_findings(folder: Path, table: polars.DataFrame) -> Path:
    """The coefficient of age against ε in both ways, with the deviation of one survey."""
    series = []
    for way in WAYS:
        part = table.filter(polars.col("quantity") == f"{way}: {NAMES[1]}")
        order = np.argsort([float(Warner(epsilon=each).epsilon) for each in part["epsilon"]])
        epsilons = np.array([float(Warner(epsilon=each).epsilon) for each in part["epsilon"]])[order]
        mean, spread = part["mean"].to_numpy()[order], part["deviation"].fill_null(0.0).to_numpy()[order]
        series.append(plots.Series(way, epsilons, mean, mean - spread, mean + spread))
    truth = float(table.filter(polars.col("truth").is_not_null())["truth"].to_list()[1])
    series.append(plots.Series("true answers", epsilons[[0, -1]], [truth, truth], dashed=True))
    title = "Log odds of never having married, for ten years more"
    return plots.curves(folder / "age.png", series, title=title, x="ε", y="coefficient", x_scale="log")
