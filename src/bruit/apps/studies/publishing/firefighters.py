"""Where and when will firefighters be called: forecasts from a k-anonymous table, noised counts, a synthetic table.

[docs/spec.md S2.1] The thesis tells of such a comparison on calls that may not be had, in which noise served forecasts
far better than k-anonymity. Here calls are invented by a stated program: two years of the same law, the first is
published, and the calls of the second are forecast for every zone and hour of the day.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import anonymity, central, sweeps, synthetic, tables
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.ledger import Ledger
from bruit.tables import Domain, among, within

ZONES = tuple(f"{sector}{number}" for sector in ("north ", "east ", "south ") for number in range(1, 5))
HOURS = 24
CALLS = {"small": 3000, "full": 40_000}
REPEATS = {"small": 1, "full": 10}
EPSILONS = {"small": (1.0,), "full": (0.1, 1.0)}
KS = {"small": (10,), "full": (2, 10, 50)}
DELTA, SUPPRESS, SEED = 1e-6, 0.02, 2019
ONLY_CELLS = "k-anonymous zone and hour"
"""The k-anonymous table without age and sex: no more is published than by the noised counts."""

Floats = NDArray[np.float64]


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Publishes the first year in every way, again and again, and writes the error of the forecasts."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"sweep_{size}.jsonl"
    points: list[dict[str, str | float]] = [
        {"way": way, "level": level, "calls": CALLS[size]} for way, level in ways(size)
    ]
    rows = sweeps.run(forecast_once, points, repeats=REPEATS[size], rng=rng, file=file, on_progress=on_progress)
    table = sweeps.summary(rows, by=["way", "level", "calls"], within=(0, np.inf))
    table.write_csv(folder / "firefighters.csv")
    figures = {label(way, level): mean for way, level, mean in table.select("way", "level", "mean").iter_rows()}
    return Findings(
        summarise(figures, CALLS[size]), (folder / "firefighters.csv", plot_findings(folder, table)), figures
    )


def ways(size: Size) -> Sequence[tuple[str, float]]:
    """Every way to publish, with its k or its ε."""
    return (
        ("exact", 0.0),
        *((way, float(k)) for way in ("k-anonymous", ONLY_CELLS) for k in KS[size]),
        *((way, epsilon) for way in ("noised counts", "synthetic") for epsilon in EPSILONS[size]),
        ("mean of all", 0.0),
    )


@cache
def calls(number: int, year: int) -> polars.DataFrame:
    """The calls of one year: zones and hours of uneven danger, and the person who is helped."""
    law = np.random.default_rng(SEED)
    danger = law.gamma(2.0, size=len(ZONES))[:, None] * (1.2 + np.sin((np.arange(HOURS) - 9) * np.pi / 12))
    danger *= law.gamma(4.0, 1 / 4, size=danger.shape)
    rng = np.random.default_rng([SEED, year])
    cell = rng.choice(danger.size, number, p=(danger / danger.sum()).ravel())
    return polars.DataFrame(
        {
            "zone": np.array(ZONES)[cell // HOURS],
            "hour": cell % HOURS,
            "age": np.clip(rng.normal(52, 22, number), 0, 99).astype(int),
            "sex": rng.choice(["f", "m"], number),
        }
    )


def counts(zones: Sequence[str], hours: Sequence[int]) -> Floats:
    """Calls by zone and hour."""
    place = np.array([ZONES.index(zone) for zone in zones]) * HOURS + np.asarray(hours)
    return np.bincount(place, minlength=len(ZONES) * HOURS).reshape(len(ZONES), HOURS).astype(float)


def forecast_once(*, rng: np.random.Generator, way: str, level: float, calls: int) -> Mapping[str, float]:
    """How far the forecast calls of a zone and hour are from those of the second year, on average."""
    first, second = year_counts(calls, 1), year_counts(calls, 2)
    if way == "exact":
        told = first
    elif way == "mean of all":
        told = np.full_like(first, first.mean())
    elif way in ("k-anonymous", ONLY_CELLS):
        told = from_generalised(calls, int(level), rng, with_people=way == "k-anonymous")
    else:
        told = (noised if way == "noised counts" else from_synthetic)(calls, level, rng)
    return {"error": float(np.abs(told - second).mean())}


@cache
def year_counts(number: int, year: int) -> Floats:
    """The true calls of a year by zone and hour."""
    table = calls(number, year)
    return counts(table["zone"].to_list(), table["hour"].to_list())


def from_generalised(number: int, k: int, rng: np.random.Generator, *, with_people: bool) -> Floats:
    """Counts of the coarser table; a call of a coarse zone or hours counts alike in every cell that it may be of."""
    hierarchies: dict[str, anonymity.Intervals | anonymity.TreeHierarchy | None] = {
        "zone": anonymity.tree({zone: [zone.split(" ")[0]] for zone in ZONES}),
        "hour": anonymity.intervals(3, 6, 12),
    }
    if with_people:
        hierarchies |= {"age": anonymity.intervals(10, 20, 40), "sex": None}
    exact = calls(number, 1).select(list(hierarchies))
    found = anonymity.generalise(exact, hierarchies, k=k, suppress=SUPPRESS, rng=rng).frame
    told = np.zeros((len(ZONES), HOURS))
    for (zone, hour), part in found.group_by(["zone", "hour"]):
        spread = np.outer([_may_be(zone, z) for z in ZONES], [_may_be_hour(hour, h) for h in range(HOURS)])
        told += len(part) * spread / spread.sum()
    return np.asarray(told * len(exact) / len(found))


def _may_be(name: object, zone: str) -> float:
    return float(str(name) in ("*", zone) or zone.startswith(f"{name} "))


def _may_be_hour(name: object, hour: int) -> float:
    text = str(name)
    if text == "*":
        return 1.0
    if not text.startswith("["):
        return float(int(float(text)) == hour)
    low, high = (float(end) for end in text.strip("[)").split(","))
    return float(low <= hour < high)


def noised(number: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Every cell counted with noise; each person is one call."""
    table = calls(number, 1).with_columns(cell=polars.concat_str("zone", "hour", separator=" at "))
    cells = [f"{zone} at {hour}" for zone in ZONES for hour in range(HOURS)]
    column = tables.read(table.select("cell"), person=EACH_ROW)["cell"].among(cells)
    book = Ledger("calls", epsilon=epsilon, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    release = central.histogram(column, budget=book.budget(epsilon=epsilon), rng=rng)
    by_cell = dict(zip(release.labels, release.value, strict=True))
    told = np.array([by_cell[cell] for cell in cells], float)
    return np.asarray(told.clip(0, None).reshape(len(ZONES), HOURS))


def from_synthetic(number: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Counts of a synthetic table."""
    columns: dict[str, Domain] = {
        "zone": among(list(ZONES), drop_others=True),
        "hour": within(0, HOURS - 1, grid=1),
        "age": within(0, 99, grid=1),
        "sex": among(["f", "m"], drop_others=True),
    }
    book = Ledger("calls", epsilon=epsilon, delta=DELTA, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    read = tables.read(calls(number, 1), person=EACH_ROW)
    price = book.budget(epsilon=epsilon, delta=DELTA)
    edges = {"hour": list(range(1, HOURS)), "age": [18, 40, 65]}
    made = synthetic.synthesise(read, columns, edges=edges, budget=price, rng=rng).value.frame()
    made = made.filter(polars.col("zone").is_in(list(ZONES)), polars.col("hour").is_not_null())
    found = counts(made["zone"].to_list(), made["hour"].cast(polars.Int64).to_list())
    return np.asarray(found * number / max(len(made), 1))


def label(way: str, level: float) -> str:
    """The way with its k or its ε."""
    return way if not level else f"{way}, k = {level:g}" if way.startswith("k-") else f"{way}, ε = {level:g}"


def summarise(figures: Mapping[str, float], number: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    told = ", ".join(f"{error:.1f} ({name})" for name, error in figures.items())
    return (
        f"{number} invented calls of one year forecast those of the next in {len(ZONES) * HOURS} cells of zone and "
        f"hour; the mean error of a cell is {told}. Whole records stand in the k-anonymous and the synthetic table: "
        "zones and hours are generalised because age and sex would single somebody out. The noised counts and the "
        "k-anonymous zone and hour hold nothing else; with a small k the latter forecasts as well, but it promises "
        "nothing against those who know more."
    )


def plot_findings(folder: Path, table: polars.DataFrame) -> Path:
    """The error of each way."""
    names = [label(way, level) for way, level in table.select("way", "level").iter_rows()]
    ends = (None, None) if table["low"].null_count() else (table["low"], table["high"])
    bars = plots.Bars("error", table["mean"], *ends)
    title = "Invented calls to firefighters, forecast"
    return plots.bars(folder / "firefighters.png", names, [bars], title=title, y="mean error of a zone and hour, calls")
