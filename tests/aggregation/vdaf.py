"""The specification's test vectors, where BRUIT_DATA holds them."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit.aggregation import CountCircuit, HistogramCircuit, MultihotCountVecCircuit, Prio3, SumCircuit, SumVecCircuit
from bruit.aggregation.fields import FIELD64
from bruit.aggregation.scheme import Bytes

FOLDER = Path(os.environ.get("BRUIT_DATA", "")) / "vdaf"
HERE = FOLDER.is_dir()
NEEDED = pytest.mark.skipif(not HERE, reason="no VDAF test vectors: BRUIT_DATA names no folder with vdaf/ in it")

WHOLE = [
    *(f"Prio3{kind}_{i}" for kind in ("Count", "Sum", "Histogram", "MultihotCountVec") for i in range(3)),
    *(f"Prio3{kind}_{i}" for kind in ("SumVec", "SumVecWithMultiproof") for i in range(2)),
]
"""Vectors that shard, verify, add up and unshard."""

REFUSED = [
    *(f"Prio3Count_bad_{what}" for what in ("gadget_poly", "helper_seed", "meas_share", "wire_seed")),
    *(f"Prio3Histogram_bad_{what}" for what in ("helper_jr_blind", "leader_jr_blind", "public_share")),
    "Prio3Histogram_bad_verifier_message",
]
"""Vectors whose report must not be accepted."""


def load(name: str) -> dict[str, Any]:
    """One file of vectors."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def rows(texts: list[str]) -> Bytes:
    """Hexadecimal texts as rows of bytes."""
    return np.array([list(bytes.fromhex(text)) for text in texts], np.uint8).reshape(len(texts), -1)


def texts(values: Bytes) -> list[str]:
    """Rows of bytes as hexadecimal texts."""
    return [row.tobytes().hex() for row in values]


def scheme_of(name: str, vector: dict[str, Any]) -> Prio3:
    """The scheme that a file of vectors is about."""
    kind, chunk, length = name.split("_")[0].removeprefix("Prio3"), vector.get("chunk_length"), vector.get("length")
    context, shares = bytes.fromhex(vector["ctx"]), vector["shares"]
    if kind == "Count":
        return Prio3(CountCircuit(), context, shares)
    if kind == "Sum":
        return Prio3(SumCircuit(largest=vector["max_measurement"]), context, shares)
    if kind == "Histogram":
        return Prio3(HistogramCircuit(length=length, chunk=chunk), context, shares)
    if kind == "MultihotCountVec":
        return Prio3(MultihotCountVecCircuit(length=length, chunk=chunk, most=vector["max_weight"]), context, shares)
    circuit = SumVecCircuit(length=length, chunk=chunk, largest=vector["max_measurement"])
    if kind == "SumVec":
        return Prio3(circuit, context, shares)
    return Prio3(circuit, context, shares, proofs=3, field=FIELD64, identifier=0xFFFFFFFF)
