"""One question under three kinds of trust: a curator who counts, a shuffler who mixes, nobody at all.

[docs/spec.md S2.7] The share of people who earn more than 50 000 in UCI Adult, asked with one ε each way. The shuffler
is trusted to cut the link between report and sender, and sees noised answers only. At full size a poll for each ε goes
through a shuffler that is a program of its own; the repeats mix in memory, which has the same law.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars
from numpy.typing import NDArray
from scipy import optimize

from bruit import central, sweeps, tables
from bruit.apps import data, plots
from bruit.apps.findings import Findings, Size
from bruit.apps.studies.meaning.shuffled_poll import Poll, hold_poll
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE
from bruit.ledger import Ledger
from bruit.local import Warner, shuffled

DELTA = 1e-6
"""Of the shuffled model alone; the other two are pure."""

PEOPLE = {"small": [2000], "full": [1000, 3000, 10_000, 30_000]}
EPSILONS = {"small": [1.0], "full": [0.2, 1.0]}
REPEATS = {"small": 4, "full": 1000}
MODELS = ("curator", "shuffler", "nobody")
POLLED = 1000
"""People who answer the polls whose shuffler is a program of its own."""

STRONGEST = 8.0
"""The largest ε of a report that is shuffled here."""


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Asks the question again and again in each way; writes every error, their means, and a figure for each ε."""
    folder.mkdir(parents=True, exist_ok=True)
    points: dict[str, Sequence[str | int | float]] = {
        "trusted": MODELS,
        "people": PEOPLE[size],
        "epsilon": EPSILONS[size],
    }
    rows = sweeps.run(
        ask_once, points, repeats=REPEATS[size], rng=rng, file=folder / f"sweep_{size}.jsonl", on_progress=on_progress
    )
    table = root_mean_squares(rows)
    table.write_csv(folder / "trust.csv")
    polls = hold_polls(EPSILONS[size], rng) if size == "full" else {}
    figures = headline(table) | poll_figures(polls)
    return Findings(summarise(figures), (folder / "trust.csv", *plot_findings(folder, table, polls)), figures)


def root_mean_squares(rows: polars.DataFrame) -> polars.DataFrame:
    """The root mean square error of each way, with the root of a 95 % interval for the mean square."""
    asked = ["trusted", "people", "epsilon", "report_epsilon"]
    squares = rows.select(*asked, error=polars.col("error") ** 2)
    found = sweeps.summary(squares, by=asked, within=(0, np.inf))
    return found.select(*asked, polars.col("mean", "low", "high").sqrt()).rename({"mean": "error"})


def ask_once(*, rng: np.random.Generator, trusted: str, people: int, epsilon: float) -> Mapping[str, float]:
    """How far the told share is from the true one, and the ε of what each person sends (infinite to a curator)."""
    truth = answers(people)
    if trusted == "curator":
        book = Ledger("income", epsilon=epsilon, neighbours=REPLACE_ONE, person=EACH_ROW)
        table = tables.read(polars.DataFrame({"rich": truth}).filter("rich"), person=EACH_ROW)
        found = central.count(table, budget=book.budget(epsilon=epsilon), rng=rng).value / people
        return {"error": found - truth.mean(), "report_epsilon": float("inf")}
    sent = epsilon if trusted == "nobody" else report_epsilon(people, epsilon)
    protocol = Warner(epsilon=sent)
    reports = protocol.randomise(truth, rng=rng)
    if trusted == "shuffler":
        reports = replace(reports, values=reports.values[rng.permutation(people)])
    return {"error": protocol.estimate(protocol.tally(reports)).value[1] - truth.mean(), "report_epsilon": sent}


def hold_polls(epsilons: Sequence[float], rng: np.random.Generator | None) -> dict[float, Poll]:
    """For each ε, one poll through `bruit shuffle`, with reports as strong as the shuffled model allows."""
    source = np.random.default_rng() if rng is None else rng
    return {
        epsilon: hold_poll(answers(POLLED), epsilon=str(report_epsilon(POLLED, epsilon)), delta=DELTA, rng=source)
        for epsilon in epsilons
    }


def poll_figures(polls: Mapping[float, Poll]) -> dict[str, float]:
    """What the polls told at each ε, beside the truth."""
    found: dict[str, float] = {}
    for epsilon, poll in polls.items():
        ends = {"share": poll.share, "low": poll.low, "high": poll.high}
        found |= {f"poll at ε = {epsilon:g}: {end}": value for end, value in ends.items()}
    stated = {f"poll at ε = {epsilon:g}: ε of its batch": poll.batch_epsilon for epsilon, poll in polls.items()}
    return found | stated | ({"poll: true share": float(answers(POLLED).mean())} if polls else {})


@cache
def answers(people: int) -> NDArray[np.bool_]:
    """Whether each of the first people of UCI Adult earns more than 50 000."""
    return (data.adult("all")["income"].head(people) == ">50K").to_numpy()


@cache
def report_epsilon(people: int, epsilon: float) -> float:
    """The largest ε of one report such that all of them, shuffled, cost no more than `epsilon` at DELTA."""

    def excess(each: float) -> float:
        return float(shuffled(str(round(each, 6)), people, delta=DELTA).epsilon) - epsilon

    found = STRONGEST if excess(STRONGEST) <= 0 else optimize.brentq(excess, epsilon, STRONGEST, xtol=1e-3)
    return round(found - 2e-3, 3)


def headline(table: polars.DataFrame) -> dict[str, float]:
    """The error under each kind of trust, with the most people and the largest ε, and the ε of a shuffled report."""
    most = table.filter(
        (polars.col("people") == table["people"].max()) & (polars.col("epsilon") == table["epsilon"].max())
    )
    found = {}
    for row in most.iter_rows(named=True):
        found[f"error, {row['trusted']}"] = float(row["error"])
        found |= {f"error, {row['trusted']}: {end}": float(row[end]) for end in ("low", "high")}
    sent = most.filter(polars.col("trusted") == "shuffler")["report_epsilon"][0]
    return found | {"people": float(most["people"][0]), "epsilon": float(most["epsilon"][0]), "shuffled report": sent}


def summarise(figures: Mapping[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"The share of {figures['people']:.0f} people with a high income at ε = {figures['epsilon']:g}, one answer "
        f"replaced: told by a trusted curator it is off by {_within(figures, 'curator')} (root mean square and its "
        f"95 % interval), with a trusted shuffler (δ = {DELTA:g}) by {_within(figures, 'shuffler')}, because each "
        f"report may then cost ε = {figures['shuffled report']:.2f}, and with nobody trusted by "
        f"{_within(figures, 'nobody')}. The curator's error falls as one over the number of people, with nobody "
        "trusted as one over its root; more people let each shuffled report say more, so that the shuffler's falls "
        "nearly as fast as the curator's." + summarise_polls(figures)
    )


def _within(figures: Mapping[str, float], trusted: str) -> str:
    """An error with its interval."""
    error, low, high = (figures[f"error, {trusted}{end}"] for end in ("", ": low", ": high"))
    return f"{error:.2g} ({low:.2g} to {high:.2g})"


def summarise_polls(figures: Mapping[str, float]) -> str:
    """What came of the polls whose shuffler was a program of its own, where there were any."""
    polls = [name.removesuffix(": share") for name in figures if name.endswith(": share")]
    told = [
        f"{figures[f'{poll}: share']:.3f} at {poll.removeprefix('poll at ')} (95 % interval "
        f"{figures[f'{poll}: low']:.3f} to {figures[f'{poll}: high']:.3f})"
        for poll in polls
    ]
    if not told:
        return ""
    return (
        f" Through a shuffler of its own process (bruit shuffle before bruit serve, {POLLED} reports over HTTP for "
        f"each ε) the collector told {' and '.join(told)}, where {figures['poll: true share']:.3f} is true."
    )


def plot_findings(folder: Path, table: polars.DataFrame, polls: Mapping[float, Poll]) -> tuple[Path, ...]:
    """Error against the number of people, one figure an ε, with the poll of a real shuffler where there was one."""
    files = []
    for epsilon in sorted(table["epsilon"].unique()):
        part = table.filter(polars.col("epsilon") == epsilon)
        series = []
        for trusted in MODELS:
            one = part.filter(polars.col("trusted") == trusted).sort("people")
            series.append(plots.Series(f"trusted: {trusted}", one["people"], one["error"], one["low"], one["high"]))
        if epsilon in polls:
            missed = abs(polls[epsilon].share - float(answers(POLLED).mean()))
            series.append(plots.Series("error of one poll by bruit shuffle", [POLLED], [missed]))
        files.append(
            plots.curves(
                folder / f"epsilon_{epsilon:g}.png",
                series,
                title=f"One question, three kinds of trust, ε = {epsilon:g}",
                x="people",
                y="error of a share (root mean square)",
                x_scale="log",
                y_scale="log",
            )
        )
    return tuple(files)
