"""Many processes charge one book while some of them are killed and the database goes down.

Each process counts an attempt before it makes it, and writes a line into its own log after each charge that was
granted, so that whatever the killer leaves can be compared with the book: a granted charge must stand there, the sum
must stay under the limit.
"""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from bruit.errors import BudgetExceeded, StorageError
from bruit.ledger import Budget, Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, Pure

PROCESSES = multiprocessing.get_context("forkserver")
"""Processes that share nothing but their imports: they are made once, before any database is opened."""
PROCESSES.set_forkserver_preload(["bruit.ledger.books.stored"])

MOST = 9
"""An attempt asks for 1 to MOST thousandths."""

LONGEST = 3 * 3600.0
"""Seconds after which a run is given up."""


def charge(budget: Budget) -> int:
    """The number of one charge, 0 if it was refused; at the top of a module so that other processes find it."""
    try:
        return budget.charge(budget.loss, what="elsewhere").number
    except BudgetExceeded:
        return 0


@dataclass
class Outcome:
    """What a run came to."""

    attempts: int = 0
    granted: int = 0
    killed: int = 0
    interrupted: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


def torture(
    store: str,
    folder: Path,
    *,
    attempts: int,
    processes: int,
    kills: int,
    seed: int,
    share: float = 0.6,
    restart: Callable[[], None] | None = None,
    restarts: int = 0,
) -> Outcome:
    """Runs everything and compares the logs with the book; `share` of what is asked fits under the limit."""
    rng = random.Random(seed)
    limit = Fraction(int(attempts * (MOST + 1) / 2 * share), 1000)
    ledger = Ledger("tortured", epsilon=limit, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store)
    began, outcome = time.monotonic(), Outcome()
    quota = -(-attempts // processes)
    with _workers(store, folder, processes, quota, seed) as workers:
        # Until the limit is reached every attempt is granted: that is when a kill can do harm.
        moments = sorted(rng.sample(range(1, int(attempts * share)), kills + restarts))
        chosen = set(rng.sample(moments, restarts))
        while any(worker.busy() for worker in workers):
            if time.monotonic() - began > LONGEST:
                raise TimeoutError(f"{sum(worker.done() for worker in workers)} of {attempts} attempts in {LONGEST} s")
            # Moments are counted in attempts, so that kills fall while charges are being made, on any machine.
            if moments and sum(worker.done() for worker in workers) >= moments[0]:
                moment = moments.pop(0)
                if moment in chosen and restart is not None:
                    restart()
                else:
                    outcome.killed += rng.choice(workers).kill()
            else:
                time.sleep(0.002)
            for worker in workers:
                worker.keep_running()
    outcome.seconds = time.monotonic() - began
    _compare(Ledger.open(ledger.name, store), limit, workers, outcome)
    return outcome


class Worker:
    """A process that is started again, for what is left of its attempts, after it was killed."""

    def __init__(self, store: str, log: Path, quota: int, seed: int) -> None:
        self.store, self.log, self.quota, self.seed = store, log, quota, seed
        self.log.touch()
        self._start()

    def _start(self) -> None:
        self.seed += 1000
        left = self.quota - self.done()
        self.process = PROCESSES.Process(target=work, args=(self.store, "tortured", left, self.seed, self.log))
        self.process.start()

    def lines(self, mark: str) -> list[str]:
        """The complete lines of one kind in the log."""
        return [
            line[1:] for line in self.log.read_text().splitlines(keepends=True) if line[0] == mark and line[-1] == "\n"
        ]

    def done(self) -> int:
        """How many attempts were begun: they are single bytes, counted by the size of a file beside the log."""
        beside = self.log.with_suffix(".count")
        return beside.stat().st_size if beside.exists() else 0

    def busy(self) -> bool:
        """Whether attempts are left."""
        return self.done() < self.quota or self.process.is_alive()

    def kill(self) -> int:
        """Ends the process at once, wherever it is; 1 if it was running."""
        running = self.process.is_alive()
        self.process.kill()
        self.process.join()
        return int(running)

    def keep_running(self) -> None:
        """Starts the process again if it was killed before its attempts were done."""
        if not self.process.is_alive() and self.done() < self.quota:
            if self.process.exitcode != -signal.SIGKILL:
                raise RuntimeError(f"a writer ended by itself with status {self.process.exitcode}")
            self._start()


@contextmanager
def _workers(store: str, folder: Path, processes: int, quota: int, seed: int) -> Iterator[list[Worker]]:
    workers = [Worker(store, folder / f"{number}.log", quota, seed + number) for number in range(processes)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()


def _compare(ledger: Ledger, limit: Fraction, workers: list[Worker], outcome: Outcome) -> None:
    entries = {line.number: line for line in ledger.entries}
    outcome.attempts = sum(worker.done() for worker in workers)
    outcome.interrupted = sum(len(worker.lines("!")) for worker in workers)
    granted = [tuple(map(int, line.split())) for worker in workers for line in worker.lines("+")]
    outcome.granted = len(granted)
    costs = {number: Fraction(thousandths, 1000) for number, thousandths in granted}
    total = sum((line.cost.exact[0] for line in entries.values()), Fraction(0))
    checks = {
        "more was granted than the limit": total <= limit,
        "the running total is not the sum of the entries": total == ledger.spent.epsilon,
        "a number was given twice": len(costs) == len(granted),
        "a grant has no entry, or another amount": all(
            number in entries and entries[number].cost.exact[0] == cost for number, cost in costs.items()
        ),
        "the entries have gaps": sorted(entries) == list(range(1, len(entries) + 1)),
        "a running total in an entry is wrong": _running(list(entries.values())),
        "the limit was not reached, so nothing was refused": limit - total <= Fraction(MOST, 1000),
    }
    outcome.faults = [fault for fault, holds in checks.items() if not holds]


def _running(entries: list[Any]) -> bool:
    total = 0
    for line in entries:
        total += line.cost.main
        if line.total.main != total:
            return False
    return True


def work(store: str, name: str, attempts: int, seed: int, log: Path) -> None:
    """Makes attempts; while the database is away, the same one is tried again."""
    rng = random.Random(seed)
    ledger = _opened(name, store)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    lines, count = os.open(log, flags), os.open(log.with_suffix(".count"), flags)
    for _ in range(attempts):
        asked = rng.randint(1, MOST)
        loss = Pure(Fraction(asked, 1000), neighbours=ADD_OR_REMOVE_ONE)
        os.write(count, b".")
        number = _attempt(ledger, loss, lines)
        if number:
            os.write(lines, f"+{number} {asked}\n".encode())


def _attempt(ledger: Ledger, loss: Pure, lines: int) -> int:
    while True:
        try:
            return charge(ledger.budget(loss))
        except StorageError:
            os.write(lines, b"!\n")
            time.sleep(0.05)


def _opened(name: str, store: str) -> Ledger:
    for _ in range(200):
        try:
            return Ledger.open(name, store)
        except StorageError:
            time.sleep(0.05)
    return Ledger.open(name, store)
