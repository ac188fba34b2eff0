"""Randomised response on marital status in UCI Adult: estimates and their deviation beside theory.

[docs/spec.md S0.4]
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import polars
from numpy.typing import NDArray
from scipy import stats

from bruit import sweeps
from bruit.apps import data, plots
from bruit.apps.findings import Findings, Size
from bruit.core.intervals import Covers
from bruit.local import KRR

EPSILON = 1.0
CONFIDENCE = 0.95
REPEATS = {"small": 60, "full": 1000}


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Randomises everybody's marital status by KRR many times; writes the table, every repeat, and two figures."""
    folder.mkdir(parents=True, exist_ok=True)
    repeats = REPEATS[size]
    rows = sweeps.run(estimate_once, {"epsilon": [EPSILON]}, repeats=repeats, rng=rng, on_progress=on_progress)
    table = compare_protocols(rows)
    table.write_csv(folder / "marital.csv")
    rows.write_csv(folder / "repeats.csv")
    files = (folder / "marital.csv", folder / "repeats.csv", *plot_findings(folder, table, repeats))
    figures = headline(rows, table)
    return Findings(summarise(figures, repeats), files, figures)


def estimate_once(*, rng: np.random.Generator, epsilon: float) -> Mapping[str, float]:
    """One randomised survey: the estimated share of each status, and the share of intervals that cover the truth."""
    people, truth = population()
    protocol = KRR(len(people), epsilon=epsilon)
    reports = protocol.randomise(np.repeat(np.arange(len(people)), list(people.values())), rng=rng)
    release = protocol.estimate(protocol.tally(reports), CONFIDENCE, covers=Covers.TABLE)
    assert release.interval is not None
    covered = (release.interval.low <= truth) & (truth <= release.interval.high)
    return {**dict(zip(people, map(float, release.value), strict=True)), "covered": float(covered.mean())}


@cache
def population() -> tuple[dict[str, int], NDArray[np.float64]]:
    """How many people have each status, the most frequent first, and the shares."""
    counted = data.adult("all")["marital-status"].value_counts(sort=True)
    people = dict(counted.iter_rows())
    return people, np.array(list(people.values())) / sum(people.values())


def theory(epsilon: float, share: NDArray[np.float64], answers: int) -> NDArray[np.float64]:
    """The theoretical standard deviation of an estimated share.

    q(1-q) / (N (p-q)²) + f (1-p-q) / (N (p-q))                                              [docs/spec.md S0.3]
    """
    others = len(share) - 1
    keep, other = np.exp(epsilon) / (others + np.exp(epsilon)), 1 / (others + np.exp(epsilon))
    gain = keep - other
    variance = other * (1 - other) / gain**2 + share * (1 - keep - other) / gain
    return np.asarray(np.sqrt(variance / answers), np.float64)


def compare_protocols(rows: polars.DataFrame) -> polars.DataFrame:
    """One row per status: the truth, the first survey's estimate, and the standard deviation of all beside theory."""
    people, truth = population()
    estimates = rows.select(list(people)).to_numpy()
    expected = theory(EPSILON, truth, sum(people.values()))
    reach = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    return polars.DataFrame(
        {
            "status": list(people),
            "people": list(people.values()),
            "true_share": truth,
            "estimate": estimates[0],
            "low": np.clip(estimates[0] - reach * expected, 0, 1),
            "high": np.clip(estimates[0] + reach * expected, 0, 1),
            "mean_of_estimates": estimates.mean(axis=0),
            "deviation": estimates.std(axis=0, ddof=1),
            "deviation_in_theory": expected,
        }
    )


def headline(rows: polars.DataFrame, table: polars.DataFrame) -> dict[str, float]:
    """The headline numbers by name, as the summary quotes them."""
    ratio = table["deviation"] / table["deviation_in_theory"]
    bias = (table["mean_of_estimates"] - table["true_share"]).abs() / table["deviation_in_theory"]
    return {
        "epsilon": EPSILON,
        "people": float(table["people"].sum()),
        "least_deviation_over_theory": float(ratio.min()),  # type: ignore[arg-type]
        "largest_deviation_over_theory": float(ratio.max()),  # type: ignore[arg-type]
        "largest_bias_in_deviations": float(bias.max()),  # type: ignore[arg-type]
        "coverage": float(rows["covered"].mean()),  # type: ignore[arg-type]
    }


def summarise(figures: dict[str, float], repeats: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"{figures['people']:.0f} people sent their marital status through randomised response with ε = {EPSILON:g}, "
        f"{repeats} times over. The deviation of the estimated shares is "
        f"{figures['least_deviation_over_theory']:.3f} to {figures['largest_deviation_over_theory']:.3f} times what "
        f"theory says, their mean lies within {figures['largest_bias_in_deviations']:.3f} deviations of the truth, and "
        f"the {CONFIDENCE:.0%} intervals hold the truth {figures['coverage']:.1%} of the time."
    )


def plot_findings(folder: Path, table: polars.DataFrame, repeats: int) -> tuple[Path, Path]:
    """Saves two figures: estimates beside the truth, and their standard deviation beside theory."""
    names, truth = table["status"].to_list(), table["true_share"].to_numpy()
    shares = [
        plots.Bars("truth", truth),
        plots.Bars("one survey", table["estimate"], table["low"], table["high"]),
    ]
    measured = table["deviation"].to_numpy()
    spread = measured * np.sqrt((repeats - 1) / stats.chi2.ppf([[0.975], [0.025]], repeats - 1))
    deviations = [
        plots.Bars("theory", table["deviation_in_theory"]),
        plots.Bars(f"{repeats} surveys", measured, *spread),
    ]
    return (
        plots.bars(folder / "shares.png", names, shares, title="Marital status, ε = 1", y="share of the people"),
        plots.bars(
            folder / "dispersion.png", names, deviations, title="How far one survey strays", y="deviation of a share"
        ),
    )
