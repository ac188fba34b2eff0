"""Classic faults of private mechanisms, planted on purpose, each with the test that catches it.

A fault stands beside the same mechanism done right: the test must call the one wrong and the other not. What is not
caught here would not be caught in a mechanism of ours either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars

from bruit.apps.faults import (
    in_aggregation,
    in_claims,
    in_estimators,
    in_figures,
    in_ledgers,
    in_networks,
    in_noise,
    in_questions,
    in_reading,
    in_sensitivity,
    in_streams,
    in_synthesis,
)
from bruit.apps.faults.fault import Fault
from bruit.apps.findings import Findings, Size
from bruit.randomness import generator

ALARM = 1e-9
"""The chance that any mechanism done right is called wrong, shared over the faults."""


@dataclass(frozen=True)
class Row:
    """A fault, the number of samples, and whether the test caught the fault and passed the correct mechanism."""

    fault: Fault
    samples: int
    caught: bool
    right_passes: bool

    def to_json(self) -> dict[str, Any]:
        """The row in JSON types."""
        return {
            "name": self.fault.name,
            "story": self.fault.story,
            "test": self.fault.test,
            "samples": self.samples,
            "caught": self.caught,
            "right_passes": self.right_passes,
        }


def faults() -> Iterator[Fault]:
    """Every planted fault."""
    yield from in_noise.faults()
    yield from in_aggregation.faults()
    yield from in_sensitivity.faults()
    yield from in_reading.faults()
    yield from in_questions.faults()
    yield from in_estimators.faults()
    yield from in_streams.faults()
    yield from in_synthesis.faults()
    yield from in_networks.faults()
    yield from in_ledgers.faults()
    yield from in_claims.faults()
    yield from in_figures.faults()


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Runs the study: a table of every fault, the test that caught it and the samples it took."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = try_faults(size=size, rng=rng, on_progress=on_progress)
    polars.DataFrame([row.to_json() for row in rows]).write_csv(folder / "planted.csv")
    caught, passed = sum(row.caught for row in rows), sum(row.right_passes for row in rows)
    summary = f"Of {len(rows)} planted faults {caught} were caught; of the same mechanisms done right {passed} passed."
    figures = {"faults": float(len(rows)), "caught": float(caught), "right_ones_passed": float(passed)}
    return Findings(summary, (folder / "planted.csv",), figures)


def try_faults(
    chosen: Sequence[Fault] | None = None,
    *,
    size: Size = "full",
    alarm: float = ALARM,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Tests every fault and its correct counterpart; the false-alarm probability is shared over all."""
    todo = list(faults()) if chosen is None else list(chosen)
    source = generator(rng)
    rows = []
    for fault in todo:
        samples = fault.small if size == "small" else fault.full
        wrong, right = (fault.looks_wrong(done, samples, alarm / len(todo), source) for done in DONE)
        rows.append(Row(fault, samples, caught=wrong, right_passes=not right))
        if on_progress is not None:
            on_progress(len(rows), len(todo))
    return rows


DONE: tuple[Literal["wrong", "right"], ...] = ("wrong", "right")
