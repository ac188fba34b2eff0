"""Nine private deciles, mechanism by mechanism, against n and ε, beside their bounds.

[docs/spec.md S3.5]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import polars
from numpy.typing import NDArray
from scipy import stats

from bruit import central, sweeps, tables
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE
from bruit.ledger import Ledger

METHODS = ("joint", "recursive", "exponential", "inverse-sensitivity", "smooth", "histogram")
DECILES = np.arange(1, 10) / 10
DOMAINS = {"uniform": (0, 1, "0.00001"), "normal": (-5, 5, "0.0001")}
SMOOTHING = {"uniform": "0.001", "normal": "0.01"}
STEPS, BETA = 100, 0.01
REPEATS = {"small": 3, "full": 50}
ROWS = {"small": [300, 3000], "full": [100, 1000, 10_000, 100_000]}
EPSILONS = {"small": [0.5, 5.0], "full": [0.1, 0.5, 1.0, 5.0]}
GAMMA = 0.05
"""The distance from a decile for which the chances of missing it are bounded."""

AIMS = ("sample", "law")


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Releases deciles of random tables by every mechanism; writes all errors, a summary with bounds, and figures."""
    folder.mkdir(parents=True, exist_ok=True)
    repeats = REPEATS[size]
    points: dict[str, Sequence[str | int | float]] = {
        "law": list(DOMAINS),
        "method": METHODS,
        "rows": ROWS[size],
        "epsilon": EPSILONS[size],
    }
    rows = sweeps.run(
        ask_once, points, repeats=repeats, rng=rng, file=folder / f"sweep_{size}.jsonl", on_progress=on_progress
    )
    table = summarise_errors(rows)
    rows.write_csv(folder / "repeats.csv")
    table.write_csv(folder / "deciles.csv")
    bounds(ROWS[size], EPSILONS[size]).write_csv(folder / "bounds.csv")
    figures = headline(table)
    tables_written = (folder / "deciles.csv", folder / "repeats.csv", folder / "bounds.csv")
    files = (*tables_written, *plot_findings(folder, table), plot_cut(folder / "cut.png"))
    return Findings(summarise(figures, repeats), files, figures)


def ask_once(*, rng: np.random.Generator, law: str, method: str, rows: int, epsilon: float) -> Mapping[str, float]:
    """The errors of one release on one random table, against the deciles of the sample and of the law."""
    low, high, step = DOMAINS[law]
    records = np.clip(rng.random(rows) if law == "uniform" else rng.standard_normal(rows), low, high)
    book = Ledger("study", epsilon=epsilon, neighbours=REPLACE_ONE, person=EACH_ROW)
    column = tables.read(polars.DataFrame({"x": records}), person=EACH_ROW)["x"].within(low, high, grid=step, missing=0)
    release = central.quantiles(
        column,
        central.DECILES,
        budget=book.budget(epsilon=epsilon),
        method=method,
        steps=STEPS,
        public_size=True,
        smoothing=SMOOTHING[law] if method == "smooth" else None,
        rng=rng,
    )
    aims = {"sample": np.quantile(records, DECILES), "law": law_deciles(law)}
    found: dict[str, float] = {}
    for aim, truth in aims.items():
        away = release.value - truth
        found[f"{aim}_rms"], found[f"{aim}_mae"] = float(np.sqrt((away**2).mean())), float(np.abs(away).mean())
    return found


def law_deciles(law: str) -> NDArray[np.float64]:
    """The true deciles of the distribution that the records are drawn from."""
    return DECILES if law == "uniform" else np.asarray(stats.norm.ppf(DECILES))


def summarise_errors(rows: polars.DataFrame) -> polars.DataFrame:
    """One row per grid point: the mean of each error with its standard error, and the bound where there is one."""
    by = ["law", "method", "rows", "epsilon"]
    errors = [f"{aim}_{kind}" for aim in AIMS for kind in ("rms", "mae")]
    number = polars.len().sqrt()
    measures = [polars.col(name).mean() for name in errors]
    spreads = [(polars.col(name).std() / number).alias(f"{name}_se") for name in errors]
    table = rows.group_by(by, maintain_order=True).agg(*measures, *spreads)
    bounds = [expected_bound(*point) for point in table.select(by).iter_rows()]
    return table.with_columns(polars.Series("law_mae_bound", bounds, polars.Float64))


def expected_bound(law: str, method: str, rows: int, epsilon: float) -> float | None:
    """The mean over the deciles of the histogram method's error bound; None where no theorem applies."""
    if law != "uniform" or method != "histogram":
        return None
    found = [
        central.histogram_expected_error(d, rows=rows, epsilon=epsilon, steps=STEPS, beta=BETA)
        for d in DECILES.tolist()
    ]
    return None if any(bound.vacuous for bound in found) else float(np.mean([bound.value for bound in found]))


def bounds(sizes: list[int], epsilons: list[float]) -> polars.DataFrame:
    """The theorems' bounds on missing a decile by more than GAMMA, or why they do not apply."""
    found = []
    for rows, epsilon, decile in product(sizes, epsilons, DECILES.tolist()):
        missed = partial(central.histogram_failure, gamma=GAMMA, rows=rows, epsilon=epsilon, steps=STEPS, beta=BETA)
        stated = {
            "histogram, uniform": missed("uniform", decile),
            "histogram, normal": missed("normal", decile),
            "smooth, uniform": central.inverse_sensitivity_failure(
                distance=GAMMA / 4, gamma=GAMMA, smoothing=0.001, width=1.0, density=1.0, rows=rows, epsilon=epsilon
            ),
        }
        for theorem, bound in stated.items():
            found.append((theorem, rows, epsilon, decile, bound.value, bound.because))
    names = ["theorem", "rows", "epsilon", "decile", "chance_at_most", "vacuous_because"]
    return polars.DataFrame(found, names, orient="row")


def headline(table: polars.DataFrame) -> dict[str, float]:
    """The mean absolute error of each mechanism on the largest uniform table at the largest epsilon."""
    largest = table.filter(
        (polars.col("law") == "uniform")
        & (polars.col("rows") == table["rows"].max())
        & (polars.col("epsilon") == table["epsilon"].max())
    )
    errors = dict(largest.select("method", "sample_mae").iter_rows())
    return {f"{method}_mae": float(errors[method]) for method in METHODS} | {
        "rows": float(largest["rows"][0]),
        "epsilon": float(largest["epsilon"][0]),
    }


def summarise(figures: dict[str, float], repeats: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    best = figures["joint_mae"]
    others = {name: figures[f"{name}_mae"] / best for name in METHODS[1:]}
    return (
        f"Nine deciles of {figures['rows']:.0f} uniform records at ε = {figures['epsilon']:g} (replace one, {repeats} "
        f"tables): drawn jointly they miss the sample's deciles by {best:.2g} on average; recursion misses them by "
        f"{others['recursive']:.1f} times as much, inverse sensitivity one by one by "
        f"{others['inverse-sensitivity']:.1f} times, the histogram method with {STEPS} steps by "
        f"{others['histogram']:.0f} times as much."
    )


def plot_findings(folder: Path, table: polars.DataFrame) -> list[Path]:
    """Plots errors against n at the middle epsilon, and against epsilon at the largest n, for each law and error."""
    sizes, epsilons = sorted(table["rows"].unique()), sorted(table["epsilon"].unique())
    fixed = {"rows": ("epsilon", epsilons[len(epsilons) // 2]), "epsilon": ("rows", sizes[-1])}
    files = []
    for law, x, aim in product(DOMAINS, fixed, AIMS):
        other, value = fixed[x]
        part = table.filter((polars.col("law") == law) & (polars.col(other) == value))
        files.append(
            plots.curves(
                folder / f"{law}_{aim}_against_{x}.png",
                series(part, x, aim),
                title=f"Nine deciles of {law} data beside the {aim}'s, "
                + (f"ε = {value:g}" if other == "epsilon" else f"n = {plots.write_number(value)}"),
                x="records" if x == "rows" else "ε",
                y="mean absolute error of a decile",
                x_scale="log",
                y_scale="log",
            )
        )
    return files


def series(part: polars.DataFrame, x: str, aim: str) -> list[plots.Series]:
    """One curve per mechanism with two standard errors, and the bound where there is one."""
    found = []
    for method in METHODS:
        one = part.filter(polars.col("method") == method).sort(x)
        middle, reach = one[f"{aim}_mae"].to_numpy(), 2 * one[f"{aim}_mae_se"].fill_null(0.0).to_numpy()
        found.append(plots.Series(method, one[x], middle, np.maximum(middle - reach, middle / 10), middle + reach))
    bounded = part.filter(polars.col("law_mae_bound").is_not_null()).sort(x)
    if aim == "law" and len(bounded):
        found.append(plots.Series("bound, histogram", bounded[x], bounded["law_mae_bound"], dashed=True))
    return found


def plot_cut(path: Path) -> Path:
    """Plots how equal-width histograms find deciles: the first edge with enough records below it."""
    records, edges = stats.norm.ppf((np.arange(200) + 0.5) / 200, 0.5, 0.15), np.linspace(0, 1, 21)
    levels = [plots.Series(f"{p:.0%} of the records", [0, 1], [200 * p, 200 * p], dashed=True) for p in (0.1, 0.5, 0.9)]
    return plots.curves(
        path,
        [plots.Series("200 records", edges, np.searchsorted(records, edges)), *levels],
        title="Deciles by an equal-width cut of [0, 1] into 20 steps",
        x="edge of the step",
        y="records below the edge",
    )
