"""Every number and figure that the five source documents print, beside what comes out here.

What a formula or a worked example gives is computed anew; what an experiment gives is left to the study that is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import pi
from pathlib import Path

import numpy as np
import polars

from bruit.apps.findings import Findings, Size
from bruit.apps.studies.printed import lecture, memory, pictures, thesis
from bruit.apps.studies.printed.rows import CORRECTED, GIVEN, LEFT, LOST, Printed
from bruit.learning.nearest_neighbours.votes import count_votes


def run(
    folder: Path,
    *,
    size: Size,  # noqa: ARG001  there is one size
    rng: np.random.Generator | None = None,  # noqa: ARG001  nothing is drawn
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Writes one table of numbers and one of figures: theirs, ours, and why they differ where they do."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"numbers": list(numbers()), "figures": list(pictures.rows())}
    for done, (name, rows) in enumerate(tables.items(), start=1):
        polars.DataFrame([row.to_json() for row in rows]).write_csv(folder / f"{name}.csv")
        if on_progress is not None:
            on_progress(done, len(tables))
    figures = headline(tables["numbers"], tables["figures"])
    return Findings(summarise(figures), tuple(folder / f"{name}.csv" for name in tables), figures)


def numbers() -> Iterator[Printed]:
    """Every number of the five documents; the project (S0) prints none."""
    yield from lecture.rows()
    yield from thesis.rows()
    yield from memory.rows()
    why = "The step that it serves needs only 25/(6π) ≥ 1 (erratum E35)."
    yield Printed("S3.3", "25/(6π)", "≥ 5", f"{25 / (6 * pi):.2f}", why, "deciles")
    why = "One class changes by 1 at most; but a record can take a vote from one and give it to another (erratum E36)."
    yield Printed("S4.1", "sensitivity of the votes", "1", f"{moved_votes()}", why, "knn")
    yield Printed("S4.1", "accuracy against ε = 0.5 to 3", "a title", LEFT, "No figure is printed.", "knn")


def moved_votes() -> int:
    """The votes that change, over all classes, when the one voter of a question changes class."""
    point = np.zeros((1, 1))
    before, after = (count_votes(point, np.array([label]), point, nearest=1, classes=2) for label in (0, 1))
    return int(np.abs(after - before).sum())


def headline(rows: list[Printed], drawn: list[Printed]) -> dict[str, float]:
    """How many numbers and figures there are, and how many numbers come out as they are printed."""
    return {
        "numbers": float(len(rows)),
        "computed here": float(sum(row.ours not in (LEFT, GIVEN, LOST, CORRECTED) for row in rows)),
        "the same": float(sum(row.ours == row.theirs for row in rows)),
        "figures": float(len(drawn)),
    }


def summarise(figures: dict[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"What the five documents print of numbers fills {figures['numbers']:.0f} lines, and they draw or ask for "
        f"{figures['figures']:.0f} figures. {figures['computed here']:.0f} lines are computed here: "
        f"{figures['the same']:.0f} come out letter for letter, all bytes that the thesis measured among them, and the "
        "others say why not. What needs an experiment names its study."
    )
