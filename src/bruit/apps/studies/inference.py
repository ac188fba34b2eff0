"""How often intervals for the population hold the truth, and how often tests cry wolf, over n and ε.

Samples of known populations are drawn, counted with noise as a curator's histogram is, and given to `bruit.inference`:
a 95 % interval should hold 95 times in 100, and a test at 5 % reject a true null at most 5 times.  [docs/inference.md]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from bruit import inference
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.channels import IntegerNoise
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.inference import Cells, Estimate, Evidence
from bruit.inference.noise_laws import AddedNoise
from bruit.inference.noisy_counts import Axis, Block
from bruit.randomness import generator

Shares = NDArray[np.float64]

LEVEL = 0.05
EPSILONS = (0.1, 0.3, 1.0, 3.0)
PEOPLE: dict[Size, tuple[int, ...]] = {"small": (200, 1_000), "full": (200, 1_000, 10_000, 100_000)}
SAMPLES: dict[Size, int] = {"small": 10, "full": 1_000}
NULL_SAMPLES: dict[Size, int] = {"small": 10, "full": 10_000}
NULL_PEOPLE, NULL_EPSILONS = (200, 10_000), (0.1, 1.0, 3.0)
"""Sizes and prices at which tests are given tables without any difference."""

FIVE = np.array([0.08, 0.22, 0.34, 0.24, 0.12])
"""Shares of a column of five values, 0 to 4: somewhat skewed."""

OTHER = np.array([0.12, 0.30, 0.30, 0.20, 0.08])
"""The same column in another group."""

SHARES = np.array([[0.15, 0.35], [0.10, 0.40]])
"""A yes or no by group."""

TOGETHER = np.array([[4.0, 3.0, 1.0], [3.0, 6.0, 3.0], [1.0, 3.0, 4.0]]) / 28
"""Two columns of three values that go together: correlation 0.34."""


@dataclass(frozen=True)
class Asked:
    """A population, what is asked of its noisy counts, and the truth."""

    shares: Shares
    estimate: Callable[[Cells], Estimate]
    truth: float


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Writes how often intervals hold and tests reject at each size and price, with a figure of either."""
    folder.mkdir(parents=True, exist_ok=True)
    source = generator(rng)
    held = [(name, n, e) for name in INTERVALS for n in PEOPLE[size] for e in EPSILONS]
    nulls = [(name, n, e) for name in NULLS for n in NULL_PEOPLE for e in NULL_EPSILONS]
    coverage, rejected = [], []
    for done, setting in enumerate(held + nulls, start=1):
        if done <= len(held):
            coverage.append((*setting, *cover(*setting, SAMPLES[size], source)))
        else:
            rejected.append((*setting, reject(*setting, NULL_SAMPLES[size], source)))
        if on_progress is not None:
            on_progress(done, len(held) + len(nulls))
    tables = (
        polars.DataFrame(coverage, ["interval", "people", "epsilon", "covered", "median_width"], orient="row"),
        polars.DataFrame(rejected, ["test", "people", "epsilon", "rejected"], orient="row"),
    )
    files = (folder / "coverage.csv", folder / "size.csv")
    for file, table in zip(files, tables, strict=True):
        table.write_csv(file)
    figures = headline(*tables)
    covering = (plot_coverage(folder, tables[0], about, SAMPLES[size]) for about in GROUPS)
    drawn = (*covering, plot_sizes(folder, tables[1], NULL_SAMPLES[size]))
    return Findings(summarise(figures, size), (*files, *drawn), figures)


def cover(name: str, people: int, epsilon: float, times: int, rng: np.random.Generator) -> tuple[float, float]:
    """The share of samples whose interval holds the truth of the population, and the middle one of their widths."""
    asked = INTERVALS[name]
    found = [asked.estimate(cells).interval for cells in noisy_tables(asked.shares, people, epsilon, times, rng)]
    low, high = (np.array([float(getattr(each, end)) for each in found]) for end in ("low", "high"))
    return float(((low <= asked.truth) & (asked.truth <= high)).mean()), float(np.median(high - low))


def reject(name: str, people: int, epsilon: float, times: int, rng: np.random.Generator) -> float:
    """How often a test at the level rejects where rows and columns are independent."""
    shares, test = NULLS[name]
    found = [test(cells, rng=rng).p_value for cells in noisy_tables(shares, people, epsilon, times, rng)]
    return float((np.array(found) <= LEVEL).mean())


@cache
def laplace_noise(epsilon: float, neighbours: Neighbours = ADD_OR_REMOVE_ONE) -> IntegerNoise:
    """The noise of a histogram of which everybody is in one cell."""
    sensitivity = 1 if neighbours is ADD_OR_REMOVE_ONE else 2
    return IntegerNoise.laplace(Fraction(str(epsilon)), sensitivity=sensitivity, neighbours=neighbours)


def axis(name: str, size: int) -> Axis:
    """A column of the numbers 0, 1, 2, …"""
    return Axis(name, tuple(map(str, range(size))), np.arange(size, dtype=float))


def noisy_tables(
    shares: Shares,
    people: int,
    epsilon: float,
    times: int,
    rng: np.random.Generator,
    neighbours: Neighbours = ADD_OR_REMOVE_ONE,
) -> Iterator[Cells]:
    """Noisy histograms of so many samples of a population."""
    law = AddedNoise(laplace_noise(epsilon, neighbours))
    axes = tuple(axis(f"column {place}", size) for place, size in enumerate(shares.shape))
    counts = rng.multinomial(people, shares.reshape(-1), times) + law.rehearse((times, shares.size), rng)
    for row in counts:
        yield Cells(axes, (Block(row.astype(float).reshape(shares.shape), law),))


def association(table: Shares) -> tuple[float, float]:
    """Correlation and slope of two columns of the numbers 0, 1, 2, …"""
    values = np.arange(len(table))
    x, y = table.sum(1) @ values, table.sum(0) @ values
    products = (table * np.outer(values - x, values - y)).sum()
    xx, yy = table.sum(1) @ (values - x) ** 2, table.sum(0) @ (values - y) ** 2
    return float(products / (xx * yy) ** 0.5), float(products / xx)


def median(shares: Shares) -> float:
    """The median of a column whose values are spread evenly to half way to their neighbours."""
    below = np.concatenate([[0.0], np.cumsum(shares)])
    return float(np.interp(0.5, below, np.arange(len(below)) - 0.5))


def _independent(rows: list[float], columns: Shares) -> Shares:
    return np.outer(np.array(rows) / sum(rows), columns / columns.sum())


INTERVALS: dict[str, Asked] = {
    "mean": Asked(FIVE, inference.mean, float(FIVE @ np.arange(5))),
    "share": Asked(np.array([0.3, 0.7]), partial(inference.proportion, answer="0"), 0.3),
    "difference of means": Asked(
        np.stack([FIVE, OTHER]) / 2, inference.difference, float((FIVE - OTHER) @ np.arange(5))
    ),
    "difference of shares": Asked(SHARES, partial(inference.difference, answer="0"), 0.1),
    "ratio of shares": Asked(SHARES, partial(inference.ratio, answer="0"), 1.5),
    "median": Asked(FIVE, partial(inference.quantile, probability=0.5), median(FIVE)),
    "correlation": Asked(TOGETHER, inference.correlation, association(TOGETHER)[0]),
    "slope": Asked(TOGETHER, inference.slope, association(TOGETHER)[1]),
}

GROUPS = {
    "one population": ("mean", "share", "median", "correlation", "slope"),
    "two groups": ("difference of means", "difference of shares", "ratio of shares"),
}
"""Which intervals share a figure."""

NULLS: dict[str, tuple[Shares, Callable[..., Evidence]]] = {
    "independence": (_independent([3, 2, 2], np.array([5.0, 3.0, 1.0])), inference.independence),
    "two proportions": (
        _independent([1, 1], np.array([3.0, 7.0])),
        partial(inference.two_proportions, answer="0"),
    ),
    "Mann–Whitney": (_independent([1, 1], FIVE), inference.mann_whitney),
    "analysis of variance": (_independent([1, 1, 1], FIVE), inference.anova),
    "slope": (_independent([2, 3, 2], np.array([2.0, 3.0, 2.0])), inference.slope_test),
}


def headline(coverage: polars.DataFrame, rejected: polars.DataFrame) -> dict[str, float]:
    """The least and the greatest share of samples that each interval covers, and the largest size of each test."""
    found = {}
    for name in INTERVALS:
        covered = coverage.filter(polars.col("interval") == name)["covered"].to_list()
        found[f"{name}: least covered"], found[f"{name}: most covered"] = min(covered), max(covered)
    for name in NULLS:
        found[f"{name}: largest size"] = max(rejected.filter(polars.col("test") == name)["rejected"].to_list())
    return found


def summarise(figures: dict[str, float], size: Size) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    covered = [value for name, value in figures.items() if name.endswith("covered")]
    sizes = [value for name, value in figures.items() if name.endswith("size")]
    return (
        f"Over n from {PEOPLE[size][0]} to {PEOPLE[size][-1]} and ε from {EPSILONS[0]:g} to {EPSILONS[-1]:g}, "
        f"{SAMPLES[size]} samples a setting, 95 % intervals for the population held the truth in {min(covered):.1%} to "
        f"{max(covered):.1%} of them; tests at 5 % rejected at most {max(sizes):.2%} of {NULL_SAMPLES[size]} tables "
        "without any difference. Where noise hides almost everything both err on the safe side."
    )


def plot_coverage(folder: Path, table: polars.DataFrame, about: str, samples: int) -> Path:
    """How often each interval of a kind holds against n·ε, the mean over settings of equal n·ε."""
    signal = (polars.col("people") * polars.col("epsilon")).round(6).alias("signal")
    series, seen = [], polars.DataFrame()
    for name in GROUPS[about]:
        part = table.filter(polars.col("interval") == name).group_by(signal)
        seen = part.agg(polars.col("covered").mean(), samples=polars.len() * samples).sort("signal")
        series.append(plots.Series(name, seen["signal"], seen["covered"], joined=False))
    series.append(_by_chance("stated, and where chance leaves it", seen["signal"], seen["samples"], 1 - LEVEL))
    title, file = f"How often a 95 % interval holds: {about}", f"coverage_{about.replace(' ', '_')}.png"
    return plots.curves(folder / file, series, title=title, x="people times ε", y="share of samples", x_scale="log")


def plot_sizes(folder: Path, table: polars.DataFrame, samples: int) -> Path:
    """How often each test rejects a true null against ε, at the fewest people."""
    fewest = table.filter(polars.col("people") == NULL_PEOPLE[0])
    series = []
    for name in NULLS:
        part = fewest.filter(polars.col("test") == name).sort("epsilon")
        series.append(plots.Series(name, part["epsilon"], part["rejected"]))
    level = _by_chance("level, and where chance leaves it", NULL_EPSILONS, [samples] * len(NULL_EPSILONS), LEVEL)
    title = f"Tests of {NULL_PEOPLE[0]} people without any difference"
    return plots.curves(folder / "size.png", [*series, level], title=title, x="ε", y="share rejected", x_scale="log")


def _by_chance(label: str, x: ArrayLike, samples: ArrayLike, chance: float) -> plots.Series:
    """A stated chance, with the range that holds 95 in 100 of the shares that so many samples of it show."""
    number = np.asarray(samples)
    low, high = (stats.binom.ppf(end, number, chance) / number for end in (0.025, 0.975))
    return plots.Series(label, x, np.full(number.shape, chance), low, high, dashed=True)
