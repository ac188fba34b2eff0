"""Secure aggregation (Prio3): sums of answers that no collector can read, with proofs of validity and noise.

Experimental: the cryptography passes the specification's vectors and was not reviewed from outside.
"""

from bruit.aggregation.circuits import (
    Circuit,
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    SumCircuit,
    SumVecCircuit,
    chunk_for,
)
from bruit.aggregation.noise import TwoLaplaceNoises, expected_error
from bruit.aggregation.scheme import Prio3, SplitReports, Verification
from bruit.aggregation.tasks import Party, Task, fingerprint, key_hash, task_from_text

__all__ = [
    "Circuit",
    "CountCircuit",
    "HistogramCircuit",
    "MultihotCountVecCircuit",
    "Party",
    "Prio3",
    "SplitReports",
    "SumCircuit",
    "SumVecCircuit",
    "Task",
    "TwoLaplaceNoises",
    "Verification",
    "chunk_for",
    "expected_error",
    "fingerprint",
    "key_hash",
    "task_from_text",
]
