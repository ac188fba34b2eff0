"""Nearest neighbours with noisy votes: accuracy against epsilon, per query and for all queries.

[docs/spec.md S4.1]
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import sweeps
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.apps.studies.knn.tables import task
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE
from bruit.learning.nearest_neighbours.plan import plan_answers
from bruit.ledger import Budget, Ledger

TABLES = ("adult", "wine", "digits", "breast cancer")
EPSILONS = {"small": [0.5, 3.0], "full": [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]}
VOTERS = {"small": (5, 31), "full": (5, 15, 31, 101, 501)}
REPEATS = {"small": 2, "full": 20}
ROWS = {"small": 400, "full": None}
DELTA = 1e-5
"""The delta of all questions together."""

AT_ONCE = 1000
"""Questions that are paid from one book."""

PER_QUERY = ("permute-and-flip", "laplace", "document")
NAMES = {
    "permute-and-flip": "permute-and-flip",
    "laplace": "Laplace 2/ε",
    "document": "the slides' 1/ε, costs 2ε",
    "total": "all questions in one ε",
}


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Runs every table, number of voters and epsilon; writes all repeats, their means with intervals, and figures."""
    folder.mkdir(parents=True, exist_ok=True)
    once, points = partial(ask_once, rows=ROWS[size]), grid(size)
    file = folder / f"sweep_{size}.jsonl"
    rows = sweeps.run(once, points, repeats=REPEATS[size], rng=rng, file=file, on_progress=on_progress)
    shares = rows.drop("questions", "epsilon_of_all")
    table = sweeps.summary(shares, by=["table", "voters", "epsilon"], within=(0, 1))
    rows.write_csv(folder / "repeats.csv")
    table.write_csv(folder / "accuracy.csv")
    figures = headline(table)
    files = (folder / "accuracy.csv", folder / "repeats.csv", *plot_findings(folder, table))
    used = f"only the first {ROWS[size]} rows of each table" if ROWS[size] else ""
    return Findings(summarise(figures, REPEATS[size]), files, figures, used)


def grid(size: Size) -> list[dict[str, Any]]:
    """All combinations of table, voters and epsilon, with at most half of a table's rows as voters."""
    return [
        {"table": name, "voters": voters, "epsilon": epsilon}
        for name in TABLES
        for voters in VOTERS[size]
        if 2 * voters <= len(task(name, ROWS[size]).labels)
        for epsilon in EPSILONS[size]
    ]


def ask_once(
    *, rng: np.random.Generator, table: str, voters: int, epsilon: float, rows: int | None
) -> Mapping[str, float]:
    """Answers all queries once by each method: the accuracy, and the total epsilon really spent."""
    votes, truth = count_answers(table, voters, rows)
    number = len(votes)
    found = {"exact": float((votes.argmax(axis=1) == truth).mean())}
    for method in PER_QUERY:
        found[method] = float((each_paid(votes, method, epsilon, rng) == truth).mean())
    plan = plan_answers(_price(epsilon, DELTA), "gaussian", queries=number, per_query=None, rows=1)
    found["total"] = float((plan.answers(votes, rng=rng) == truth).mean())
    return {**found, "questions": float(number), "epsilon_of_all": number * epsilon}


def each_paid(votes: NDArray[np.int64], method: str, epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Answers all queries at `epsilon` each, in batches, since one ledger holds at most an epsilon of 10 000."""
    answers = []
    for first in range(0, len(votes), AT_ONCE):
        part = votes[first : first + AT_ONCE]
        cost = (2 if method == "document" else 1) * len(part) * epsilon
        plan = plan_answers(_price(cost), method, queries=None, per_query=str(epsilon), rows=1)
        answers.append(plan.answers(part, rng=rng))
    return np.concatenate(answers)


@cache
def count_answers(table: str, voters: int, rows: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The votes of each query, and the index of its right class."""
    asked = task(table, rows)
    return asked.votes(voters), np.searchsorted(asked.classes, asked.truth)


def _price(epsilon: float, delta: float = 0.0) -> Budget:
    """A book of its own for each point: what is learnt here about people is nothing that is released."""
    book = Ledger("study", epsilon=str(round(epsilon, 9)), delta=delta, neighbours=REPLACE_ONE, person=EACH_ROW)
    return book.budget(epsilon=str(round(epsilon, 9)), delta=delta)


def headline(table: polars.DataFrame) -> dict[str, float]:
    """For each table, the accuracy of the fewest and most voters at the smallest and largest epsilon."""
    found = {}
    for name in table["table"].unique(maintain_order=True).to_list():
        part = table.filter(polars.col("table") == name)
        for voters in _ends(part["voters"]):
            for epsilon in _ends(part["epsilon"]):
                here = part.filter((polars.col("voters") == voters) & (polars.col("epsilon") == epsilon))
                for quantity in ("exact", "permute-and-flip", "document", "total"):
                    mean = here.filter(polars.col("quantity") == quantity)["mean"][0]
                    shown = "noise of the slides" if quantity == "document" else quantity
                    found[f"{name} k={voters} ε={epsilon:g} {shown}"] = float(mean)
    return found


def _ends(column: polars.Series) -> list[float]:
    """The least and the largest."""
    values = sorted(column.unique().to_list())
    return [values[0], values[-1]]


def summarise(figures: dict[str, float], repeats: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    least = {key.split(" ")[1]: value for key, value in figures.items() if _of_adult(key, "permute-and-flip")}
    voters = sorted(least, key=lambda text: int(text[2:]))
    few, many = voters[0], voters[-1]
    return (
        f"Income in Adult at ε = 0.5 a question ({repeats} draws): {few[2:]} voters are right {least[few]:.1%} of the "
        f"time, {many[2:]} voters {least[many]:.1%}, because noise does not grow with the votes. The slides' noise "
        "of 1/ε costs 2ε a question, and questions add up: all of them under one ε need Gaussian noise and many "
        "voters, or a student."
    )


def _of_adult(key: str, quantity: str) -> bool:
    return key.startswith("adult") and "ε=0.5 " in key and key.endswith(quantity)


def plot_findings(folder: Path, table: polars.DataFrame) -> list[Path]:
    """Plots accuracy against epsilon for each table: by voters, and by method at the most voters."""
    files = []
    for name in table["table"].unique(maintain_order=True):
        part = table.filter(polars.col("table") == name)
        most = int(part["voters"].max())  # type: ignore[arg-type]
        voters = sorted(part["voters"].unique())
        by_voters = [series(part, k, "permute-and-flip", f"{k} voters") for k in voters]
        by_method = [series(part, most, method, label) for method, label in NAMES.items()]
        for kind, curves, noted in (
            ("voters", by_voters, "permute-and-flip, by the number of voters"),
            ("methods", by_method, f"{most} voters, by the kind of noise"),
        ):
            files.append(
                plots.curves(
                    folder / f"{name.replace(' ', '_')}_{kind}.png",
                    [*curves, exact(part, most)],
                    title=f"{name.capitalize()}: {noted}",
                    x="ε of one question, or of all in one",
                    y="share of right answers",
                )
            )
    return files


def series(part: polars.DataFrame, voters: int, quantity: str, label: str) -> plots.Series:
    """One curve of accuracy against epsilon, with the standard deviation between draws."""
    one = part.filter((polars.col("voters") == voters) & (polars.col("quantity") == quantity)).sort("epsilon")
    mean, spread = one["mean"].to_numpy(), one["deviation"].fill_null(0.0).to_numpy()
    low, high = np.clip([mean - spread, mean + spread], 0, 1)
    return plots.Series(label, one["epsilon"], mean, low, high)


def exact(part: polars.DataFrame, voters: int) -> plots.Series:
    """The accuracy without noise, as a flat curve."""
    one = part.filter((polars.col("voters") == voters) & (polars.col("quantity") == "exact")).sort("epsilon")
    return plots.Series(f"no noise, {voters} voters", one["epsilon"], one["mean"], dashed=True)
