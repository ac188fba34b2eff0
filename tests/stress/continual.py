"""Processes publish one stream while they are killed: nothing that was published changes, nothing is drawn twice.

A process writes each draw into a file before it is used, and each published value into another after it was given. From
them the whole stream is replayed: totals and buffers in the store must be those of the draws that were published.

The full size takes longer than one sitting may: everything stands in the store and in a folder, so a run that stopped
goes on where it was. `python -m stress.continual FOLDER --store URL --seconds 500`, from `tests/`, does one batch.
"""

import argparse
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bruit.core import ADD_OR_REMOVE_ONE
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["bruit.continual.stream"])

POINTS = (
    "before the row",
    "after the row",
    "before the charge",
    "after the charge",
    "after the mark",
    "before the draw",
    "after the draw",
    "before the write",
    "after the write",
    "before the commit",
    "after the commit",
)
"""Where a process can be killed on purpose."""

CELLS = 8
"""Enough that a draw which was thrown away does not give the published values by chance: below 1e-10."""

PER_PERIOD = 6
"""Points that a process passes in a period."""

SECONDS_A_PERIOD = 0.003

ASKED_AGAIN = 0.01
"""How often a period is asked for again after it was given."""

BUDGET: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}


def book(store: str) -> Ledger:
    terms: Any = {"epsilon": 1, "delta": "1e-6", "neighbours": ADD_OR_REMOVE_ONE, "person": "id"}
    return Ledger("stress", **terms, store=store)


def open_stream(store: str, periods: int) -> Any:
    from bruit.continual import Histogram, Stream, once
    from bruit.tables import among

    question = Histogram("ward", among(range(CELLS), drop_others=True), rows=1)
    return Stream("visits", question, participation=once(), periods=periods, budget=book(store).budget(**BUDGET))


def publish(store: str, folder: Path, periods: int, point: str | None, chance: float) -> None:
    """Publishes to the end, unless killed: at a named point, or anywhere by chance."""
    dice, draws, given = random.Random(os.urandom(8)), _appended(folder / "draws"), _appended(folder / "given")

    def perhaps(name: str) -> None:
        if name == point or dice.random() < chance:
            os.kill(os.getpid(), signal.SIGKILL)

    _watch(perhaps, draws)
    stream, ones = open_stream(store, periods), np.ones(CELLS, np.int64)
    period: int | None = None
    while True:
        try:
            release = stream.update_totals(ones, period=period)
        except InvalidArgument:  # the last period was published
            return
        perhaps("after the commit")
        number = release.details["period"]
        os.write(given, np.array([number, *release.value], np.int64).tobytes())
        period = number if period is None and dice.random() < ASKED_AGAIN else None


def _appended(path: Path) -> int:
    """A file to whose end single writes go, which a kill cannot cut in two."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _watch(perhaps: Callable[[str], None], draws: int) -> None:
    """Puts the points of `POINTS` around what the stream does, and writes down what is drawn."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    from bruit.continual import advance, opening, stream

    def around(module: Any, name: str, what: str, *, before: bool = True) -> None:
        real = getattr(module, name)

        def wrapped(*arguments: Any, **keywords: Any) -> Any:
            if before:
                perhaps(f"before the {what}")
            found = real(*arguments, **keywords)
            if what == "draw":
                os.write(draws, found.tobytes())
            perhaps(f"after the {what}")
            return found

        setattr(module, name, wrapped)

    around(opening, "create", "row")
    around(opening, "pay", "charge")
    around(opening, "mark_paid", "mark", before=False)
    around(advance, "discrete_gaussian", "draw")
    around(stream, "write", "write")
    event.listen(Engine, "commit", lambda _connection: perhaps("before the commit"))


@dataclass
class Outcome:
    """What a run came to, with the batches before it."""

    killed: int = 0
    published: int = 0
    draws: int = 0
    unseen: int = 0
    entries: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Torture:
    """One stream of so many periods, and how often its processes are killed until it ends."""

    store: str
    folder: Path
    periods: int
    kills: int
    points: tuple[str, ...] = ()
    processes: int = 2

    def run(self, *, seconds: float = float("inf"), say: Callable[[str], None] | None = None) -> Outcome:
        """Kills processes at each point, then by chance and at random moments, until the stream or the time ends."""
        book(self.store)
        start = time.monotonic()
        for point in self.points[self._killed() :]:
            self._record(self._together(1, point, 0.0, seconds))
        while self._published() < self.periods and time.monotonic() - start < seconds:
            self._round(start + seconds - time.monotonic())
            if say is not None:
                say(f"{self._published():,} of {self.periods:,} periods, {self._killed()} kills")
        outcome = Outcome(killed=self._killed(), published=self._published(), seconds=time.monotonic() - start)
        _check(self.store, self.folder, self.periods, outcome)
        return outcome

    def _round(self, seconds: float) -> None:
        """By chance at a point in half of the rounds, about `periods / kills` periods apart; by the clock in others."""
        left = self.kills + len(self.points) - self._killed()
        if left <= 0:
            return self._record(self._together(self.processes, None, 0.0, seconds))
        if left % 2:
            chance = self.kills / self.periods / PER_PERIOD
            return self._record(self._together(self.processes, None, chance, seconds))
        moment = random.uniform(0.2, 0.2 + SECONDS_A_PERIOD * self.periods / self.kills)
        return self._record(self._together(self.processes, None, 0.0, min(moment, seconds)))

    def _together(self, number: int, point: str | None, chance: float, seconds: float) -> int:
        """How many of some processes were killed, by themselves or after so many seconds."""
        arguments = (self.store, self.folder, self.periods, point, chance)
        running = [PROCESSES.Process(target=publish, args=arguments) for _ in range(number)]
        for process in running:
            process.start()
        end = time.monotonic() + seconds
        for process in running:
            process.join(None if seconds == float("inf") else max(0.0, end - time.monotonic()))
            if process.exitcode is None:
                process.kill()
        return sum(map(_ended, running))

    def _killed(self) -> int:
        path = self.folder / "kills"
        return path.stat().st_size if path.exists() else 0

    def _record(self, killed: int) -> None:
        with (self.folder / "kills").open("ab") as file:
            file.write(b"k" * killed)

    def _published(self) -> int:
        """The last period that was published, read from the store."""
        from sqlalchemy import select

        from bruit.continual.store import prepare_store
        from bruit.continual.store.sql_tables import streams
        from bruit.storage import reading

        with reading(prepare_store(self.store)) as connection:
            return int(connection.execute(select(streams.c.period)).scalar() or 0)


def _ended(process: Any) -> int:
    """Waits for a process; 1 where it was killed."""
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), f"a process ended with {process.exitcode}"
    return int(process.exitcode != 0)


def _check(store: str, folder: Path, periods: int, outcome: Outcome) -> None:
    """Compares what was given and what was drawn with what the store holds."""
    from bruit.continual.store import read_state, values_between
    from bruit.storage import reading

    stream = open_stream(store, periods)
    outcome.entries = len(stream.ledger.entries)
    with reading(stream._opened.engine) as connection:
        state = read_state(connection, stream._opened.token)
        rows = [(row.period, row.values) for row in values_between(connection, stream._opened.token, 1, periods)]
    stored = np.array([values for _, values in rows], np.int64).reshape(-1, CELLS)
    if [period for period, _ in rows] != list(range(1, outcome.published + 1)):
        outcome.faults.append("a period is missing")
    given = np.fromfile(folder / "given", np.int64).reshape(-1, 1 + CELLS)
    changed = (stored[given[:, 0] - 1] != given[:, 1:]).any(axis=1)
    outcome.faults += [f"period {period} was given otherwise than it is stored" for period in given[changed, 0]]
    _replay(stream.terms.plan, state, folder, stored, outcome)


def _replay(plan: Any, state: Any, folder: Path, stored: Any, outcome: Outcome) -> None:
    from bruit.continual.noise.buffers import empty, pack, published, step

    buffers, totals, done = empty(plan.factor, CELLS), np.zeros(CELLS, np.int64), 0
    for fresh in np.fromfile(folder / "draws", np.int64).reshape(-1, CELLS):
        outcome.draws += 1
        after, noise = step(plan.factor, plan.lattice.spare, buffers, fresh)
        if done < len(stored) and (published(totals + 1, noise, plan.unit) == stored[done]).all():
            buffers, totals, done = after, totals + 1, done + 1
        else:
            outcome.unseen += 1
    if done != len(stored) or pack(buffers) != state.buffers or totals.tobytes() != state.totals:
        outcome.faults.append("the state in the store is not that of the published draws")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """One batch of the full size; says how far it came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", required=True)
    parser.add_argument("--periods", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    task = Torture(asked.store, asked.folder, asked.periods, asked.kills, POINTS)
    outcome = task.run(seconds=asked.seconds, say=_say)
    _say(str(outcome))
    return int(bool(outcome.faults))


if __name__ == "__main__":
    raise SystemExit(main())
