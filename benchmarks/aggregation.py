"""Two collectors: shares split, verified and added up a second on one core, beside the hash they cannot do without."""

from __future__ import annotations

from typing import Any

from benchmarks.case import Case, Peer, Prepare, Work

REPORTS = 5_000
CHUNK = 1_000


def circuits() -> dict[str, tuple[Any, int]]:
    """Each circuit with how many different answers it allows."""
    from bruit.aggregation import CountCircuit, HistogramCircuit, SumCircuit

    return {
        "Count": (CountCircuit(), 2),
        "Sum to 100": (SumCircuit(largest=100), 101),
        "Histogram 10": (HistogramCircuit(length=10, chunk=4), 10),
        "Histogram 100": (HistogramCircuit(length=100, chunk=10), 100),
    }


def scheme(name: str) -> tuple[Any, Any]:
    import numpy as np

    from bruit.aggregation import Prio3

    circuit, answers = circuits()[name]
    return Prio3(circuit, b"benchmark"), np.random.default_rng(1).integers(0, answers, REPORTS)


def sharding(name: str) -> Prepare:
    def prepare() -> Work:
        prio3, answers = scheme(name)
        return lambda: prio3.shard(answers)

    return prepare


def verifying(name: str) -> Prepare:
    """All that the second collector computes for a report: verify, decide with the other's message, add up."""

    def prepare() -> Work:
        import numpy as np

        prio3, answers = scheme(name)
        split, key = prio3.shard(answers), np.zeros(32, np.uint8)
        theirs = prio3.verify(key, 0, split.nonces, split.public, split.shares[0]).verifiers

        def work() -> None:
            own = prio3.verify(key, 1, split.nonces, split.public, split.shares[1])
            accepted = prio3.confirm(own, (theirs, own.verifiers))
            prio3.aggregate(own.outputs, accepted)
            if not accepted.all():
                raise RuntimeError("an honest report was refused")

        return work

    return prepare


def collecting(name: str) -> Prepare:
    """The whole of one collector with its database: receive in commits of a thousand, match, verify, settle, draw."""

    def prepare() -> Work:
        import tempfile

        from bruit.aggregation import Party, Task, key_hash
        from bruit.aggregation.collecting import Collector, ReportRow, converse, reply

        prio3, answers = scheme(name)
        key, folder, number = bytes(32), tempfile.mkdtemp(prefix="bruit-aggregation-"), iter(range(10**6))

        def work() -> None:
            task = Task(
                f"Benchmark {next(number)}?",
                prio3.circuit,
                labels=tuple(map(str, range(prio3.circuit.outputs))),
                epsilon=1,
                least_batch=10,
                parties=(Party("Ada"), Party("Bea")),
                key_hash=key_hash(key),
            )
            split = task.scheme.shard(answers)
            both = [Collector.create(f"sqlite:///{folder}/{role}.db", task, role=role, key=key) for role in (0, 1)]
            for role, collector in enumerate(both):
                columns = (split.nonces, split.nonces, split.public, split.shares[role])
                rows = [ReportRow(*(part.tobytes() for part in row)) for row in zip(*columns, strict=True)]
                for at in range(0, REPORTS, CHUNK):
                    collector.receive(rows[at : at + CHUNK])
                collector.close()
            converse(both[1], lambda step, message: reply(both[0], step, message))

        return work

    return prepare


def turboshake() -> Work:
    """SHAKE128 of the system's library on one block a report; a collector needs about eight, of half the rounds."""
    from hashlib import shake_128

    message = bytes(100)

    def work() -> None:
        for _ in range(REPORTS):
            shake_128(message).digest(168)

    return work


HASH = (Peer("one SHAKE128 block (OpenSSL)", turboshake, here=True),)

CASES = [
    *(
        Case(f"{name}: split", "reports/s", "higher", sharding(name), amount=REPORTS)
        for name in ("Count", "Sum to 100", "Histogram 10", "Histogram 100")
    ),
    Case("Count: verify and add", "reports/s", "higher", verifying("Count"), HASH, amount=REPORTS),
    Case("Sum to 100: verify and add", "reports/s", "higher", verifying("Sum to 100"), amount=REPORTS),
    Case(
        "Histogram 10: verify and add",
        "reports/s",
        "higher",
        verifying("Histogram 10"),
        HASH,
        amount=REPORTS,
        goal=50_000,
    ),
    Case("Histogram 100: verify and add", "reports/s", "higher", verifying("Histogram 100"), amount=REPORTS),
    Case("Histogram 10: both collectors, SQLite", "reports/s", "higher", collecting("Histogram 10"), amount=REPORTS),
]
