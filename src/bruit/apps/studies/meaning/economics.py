"""The economic choice of ε: what a study needs to be right, and what its people are to be paid for the risk.

[Hsu et al. 2014, Sections 3 and 5] Somebody whose expected cost in a bad event is E, whether or not they take part,
expects at most (e^ε - 1) E more for having taken part. N people who are paid that cost N E (e^ε - 1), and a study with
target error T at confidence α needs a least N for each ε. An ε is feasible where the cost stays within the budget.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import expm1, log
from operator import truediv
from pathlib import Path

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.central import expected_error
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.local import Warner

CONFIDENCE, TARGET, SAMPLING = 0.95, 0.05, 0.025
"""The share that is asked for shall be within TARGET; SAMPLING of it is left to which people were asked."""

BUDGET, COST = 30_000.0, 10.5
"""What a study may pay its people, and what one of them expects to lose in a bad event, in one currency."""

POINTS = {"small": 12, "full": 60}
MOST_PEOPLE = 10**8


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,  # noqa: ARG001  nothing is drawn
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Writes the least number of people and what they cost for each ε, with a curator and with nobody trusted."""
    folder.mkdir(parents=True, exist_ok=True)
    table = costs(np.geomspace(0.01, 5, POINTS[size]))
    table.write_csv(folder / "costs.csv")
    if on_progress is not None:
        on_progress(1, 1)
    figures = headline(table)
    return Findings(summarise(figures), (folder / "costs.csv", plot_findings(folder, table)), figures)


def sampled_people() -> int:
    """So many that who was asked moves a share by at most SAMPLING: Hoeffding's inequality."""
    return int(np.ceil(log(2 / (1 - CONFIDENCE)) / (2 * SAMPLING**2)))


def least_people(error: Callable[[int], float], at_least: int) -> int:
    """The least N from a public floor on whose error is within TARGET - SAMPLING; errors fall with N."""
    low, high = at_least, at_least
    while error(high) > TARGET - SAMPLING and high < MOST_PEOPLE:
        low, high = high, 2 * high
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if error(middle) > TARGET - SAMPLING else (low, middle)
    return high


def costs(epsilons: NDArray[np.float64]) -> polars.DataFrame:
    """One row for each ε and kind of trust: the least number of people, and what paying them costs."""
    rows = []
    for each in (float(f"{value:.3g}") for value in epsilons):
        noise = expected_error("count", epsilon=each, neighbours=ADD_OR_REMOVE_ONE, confidence=CONFIDENCE)
        coin = Warner(epsilon=each)
        errors: dict[str, Callable[[int], float]] = {
            "a curator": partial(truediv, noise),
            "nobody": partial(coin.expected_error, confidence=CONFIDENCE),
        }
        for trusted, error in errors.items():
            people = least_people(error, sampled_people())
            rows.append((trusted, each, people, people * COST * expm1(each)))
    return polars.DataFrame(rows, ["trusted", "epsilon", "people", "cost"], orient="row")


def headline(table: polars.DataFrame) -> dict[str, float]:
    """The range of ε that the budget allows, and the cheapest study, by trust."""
    found = {}
    for trusted in ("a curator", "nobody"):
        part = table.filter(polars.col("trusted") == trusted)
        paid = part.filter(polars.col("cost") <= BUDGET)
        best = part.sort("cost").row(0, named=True)
        found[f"{trusted}: least cost"], found[f"{trusted}: ε of it"] = best["cost"], best["epsilon"]
        found[f"{trusted}: people of it"] = float(best["people"])
        found[f"{trusted}: largest ε within the budget"] = max(paid["epsilon"].to_list(), default=0.0)
    return found


def summarise(figures: dict[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    lines = []
    for trusted in ("a curator", "nobody"):
        most = figures[f"{trusted}: largest ε within the budget"]
        lines.append(
            f"with {trusted} trusted the cheapest study pays {figures[f'{trusted}: least cost']:.0f} to "
            f"{figures[f'{trusted}: people of it']:.0f} people at ε = {figures[f'{trusted}: ε of it']:g}, and the "
            f"budget of {BUDGET:.0f} allows {f'up to ε = {most:g}' if most else 'no ε at all'}"
        )
    return (
        f"A share within {TARGET:g} ({CONFIDENCE:.0%}), of people who each expect to lose {COST:g} in a bad event and "
        f"are paid (e^ε − 1) times that for taking part: {'; '.join(lines)}. A smaller ε is dearer in people and "
        "cheaper in risk; the choice of ε is where both meet, not a matter of taste."
    )


def plot_findings(folder: Path, table: polars.DataFrame) -> Path:
    """What a study costs against ε, by trust, beside the budget."""
    series = []
    for trusted in ("a curator", "nobody"):
        part = table.filter(polars.col("trusted") == trusted).sort("epsilon")
        series.append(plots.Series(f"{trusted} trusted", part["epsilon"], part["cost"]))
    ends = [min(table["epsilon"].to_list()), max(table["epsilon"].to_list())]
    series.append(plots.Series("budget", ends, [BUDGET, BUDGET], dashed=True))
    return plots.curves(
        folder / "costs.png",
        series,
        title="What a study pays its people for their risk",
        x="ε",
        y="cost, in the currency of the budget",
        x_scale="log",
        y_scale="log",
    )
