"""Checkpoints of a training: the state goes into a file, the steps taken into the ledger's book.

Before each stretch of steps the state is written and the stretch is entered in the book, at no further cost, once. A
training that goes on after a stop starts from the state in the file and with the first step that no stretch holds: what
was lost with the process is not taken again, so that all stretches together never hold more steps than were charged,
however often and from whichever copy of the file it goes on.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import torch

from bruit.core.losses import Composed
from bruit.errors import BadFile, InvalidArgument, LedgerError
from bruit.ledger import Budget, Charge, Ledger
from bruit.privacy import TrainingPlan

FORMAT = 1


@dataclass(frozen=True)
class Checkpoints:
    """The file for a training's checkpoints, and how many steps lie between two."""

    file: Path
    every: int

    def __post_init__(self) -> None:
        if self.every < 1:
            raise InvalidArgument(f"every={self.every}: give how many steps lie between checkpoints, at least 1")

    def write(self, charge: Charge, state: dict[str, Any]) -> None:
        """Writes the state to the file atomically."""
        whole = {"format": FORMAT, "book": charge.ledger.book.identity, "entry": charge.number, **state}
        part = self.file.with_name(self.file.name + ".part")
        with part.open("wb") as stream:
            torch.save(whole, stream)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(self.file)

    def read(self) -> dict[str, Any]:
        """Reads the state from the file."""
        try:
            state = torch.load(self.file, map_location="cpu", weights_only=True)
        except (RuntimeError, EOFError, pickle.UnpicklingError, ValueError) as error:
            raise BadFile(f"{self.file} is no checkpoint that can be read: {error}") from error
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            raise BadFile(f"{self.file} is no checkpoint of a training, or one of a later version of bruit")
        return state


def reserve(charge: Charge, planned: TrainingPlan, start: int, steps: int, *, bands: int = 1) -> None:
    """Records a stretch of steps in the ledger's book; a second stretch from the same step is refused.

    A record is in one of `bands` steps at most, and a stretch holds whole rounds of them.
    """
    ((each, _),) = planned.loss.counted
    loss, paid = each * -(-steps // bands), charge.guarantee
    amount, source = Fraction(paid.epsilon), _source(charge.number, start)
    stretch = Budget(charge.ledger, loss, amount, paid.delta, planned.by, prepaid=source)
    stretch.charge(loss, what=f"deep.train, steps {start + 1} to {start + steps}", assumes=paid.assumes).close()


def steps_taken(charge: Charge, planned: TrainingPlan, *, bands: int = 1) -> int:
    """How many steps the stretches recorded in the book cover; all of these may have been taken."""
    last = 0
    for line in charge.ledger.entries:
        begin = (line.source or "").removeprefix(_source(charge.number, None))
        if begin != line.source and begin.isdigit() and isinstance(line.loss, Composed):
            last = max(last, int(begin) + bands * sum(times for _, times in line.loss.counted))
    return min(last, planned.steps)


def charge_of_checkpoint(ledger: Ledger, planned: TrainingPlan, state: dict[str, Any]) -> Charge:
    """The charge that paid for the training of a checkpoint."""
    if state["book"] != ledger.book.identity:
        raise LedgerError(
            f"the checkpoint was paid from another book than {ledger.name!r} (a book in memory ends with its process): "
            "open the book it was paid from, or start again with another file"
        )
    line = ledger.entries[state["entry"] - 1]
    if line.loss != planned.loss:
        raise InvalidArgument(
            "the checkpoint is of a training with another plan: give the same budget, size, epochs and batch_size, or "
            "start again with another file"
        )
    return Charge(ledger, line.number, line.loss, line.guarantee)


def _source(entry: int, start: int | None) -> str:
    return f"training of entry {entry}, steps after " + ("" if start is None else str(start))
