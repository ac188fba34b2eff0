"""Two collectors over two databases, and people who answer."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bruit.aggregation import Circuit, CountCircuit, Party, Prio3, SplitReports, Task, key_hash
from bruit.aggregation.collecting import Collector, ReportRow

KEY = bytes(range(32))
LARGE = 1000
"""An epsilon at which noise is seen once in 10^400 draws: the sum that comes out is the true one."""

Send = Callable[[str, bytes], bytes]


def make_task(circuit: Circuit | None = None, *, epsilon: object = LARGE, least_batch: int = 10) -> Task:
    """A task between Ada and Bea."""
    circuit = CountCircuit() if circuit is None else circuit
    return Task(
        "Is it so?",
        circuit,
        labels=tuple(f"number {i}" for i in range(circuit.outputs)),
        epsilon=epsilon,
        least_batch=least_batch,
        parties=(Party("Ada", "https://ada.example"), Party("Bea", key="ab" * 32)),
        key_hash=key_hash(KEY),
    )


def rows_of(split: SplitReports, role: int, tokens: np.ndarray | None = None) -> list[ReportRow]:
    """The rows that a collector gets of split answers; a token is the nonce reversed unless others are given."""
    marks = split.nonces[:, ::-1] if tokens is None else tokens
    columns = (split.nonces, marks, split.public, split.shares[role])
    return [ReportRow(*(part.tobytes() for part in row)) for row in zip(*columns, strict=True)]


@dataclass
class Pair:
    """Two collectors of one task."""

    task: Task
    stores: tuple[str, str]

    def collector(self, role: int) -> Collector:
        """A collector as a process that was just started sees it."""
        return Collector(self.stores[role], self.task.name)

    def receive(self, split: SplitReports) -> None:
        """Both collectors get their rows."""
        for role in (0, 1):
            self.collector(role).receive(rows_of(split, role))

    def close(self) -> None:
        """Both collectors close."""
        for role in (0, 1):
            self.collector(role).close()


def make_pair(folder: Path, task: Task) -> Pair:
    """Two collectors of a task, each over a database of its own."""
    stores = (f"sqlite:///{folder}/ada.db", f"sqlite:///{folder}/bea.db")
    for role, store in enumerate(stores):
        Collector.create(store, task, role=role, key=KEY)
    return Pair(task, stores)


def people(scheme: Prio3, answers: object, seed: int = 1) -> SplitReports:
    """Split answers from a seeded stream."""
    return scheme.shard(answers, rng=np.random.default_rng(seed))  # type: ignore[arg-type]
