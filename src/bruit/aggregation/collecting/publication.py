"""Charges and releases the result of a task at one collector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from bruit.aggregation.tasks import ASSUMES, PERSON, Task
from bruit.core import REPLACE_ONE, Covers, Interval
from bruit.core.release import Outcome
from bruit.ledger import Charge, Ledger, ask

CONFIDENCE: Final = 0.95
WHAT: Final = "aggregation.two_collectors"


def book_of(task: Task, store: str) -> Ledger:
    """The ledger of a task at one collector, with exactly the task's epsilon, so that a second charge fails."""
    return Ledger(f"split poll {task.name}", epsilon=task.epsilon, neighbours=REPLACE_ONE, person=PERSON, store=store)


def charge_once(task: Task, store: str, rng: np.random.Generator | None) -> None:
    """Charges this collector's own noise to the task's ledger, unless that was done before a crash."""
    book, loss = book_of(task, store), task.noise.loss(task.circuit)
    if not book.entries:
        ask(book.budget(loss), what=WHAT, person=PERSON, rng=rng).pay(loss, assumes=ASSUMES)


def release_of(task: Task, value: Sequence[int], counts: dict[str, int], store: str) -> str:
    """The release as JSON, stored in the ledger entry that paid for it.

    The same epsilon stands in both collectors' books: two views of one loss, which the release says once.
    """
    book = book_of(task, store)
    entry, numbers, width = book.entries[0], np.array(value, np.int64), task.noise.half_width(CONFIDENCE)
    low, high = (np.maximum(numbers + side, 0).astype(np.float64) for side in (-width, width))
    outcome = Outcome(
        value=numbers,
        method="two collectors, discrete Laplace noise from each (experimental)",
        labels=task.labels,
        interval=Interval(low, high, CONFIDENCE, Covers.TABLE),
        noise=float(width),
        details={"question": task.question, "task": task.name, **counts, "collectors": [p.name for p in task.parties]},
    )
    return Charge(book, entry.number, entry.loss, entry.guarantee).finish(outcome).to_json()
