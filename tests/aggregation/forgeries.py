"""Reports that must not be accepted, made by somebody who knows the protocol."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bruit.aggregation import (
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    Prio3,
    SplitReports,
    SumCircuit,
    SumVecCircuit,
)
from bruit.aggregation.scheme import NONCE, random_bytes

KEY = np.arange(32, dtype=np.uint8)
SCHEMES = {
    "Count": Prio3(CountCircuit(), b"poll"),
    "Sum": Prio3(SumCircuit(largest=100), b"poll"),
    "SumVec": Prio3(SumVecCircuit(length=2, chunk=3, largest=9), b"poll"),
    "Histogram": Prio3(HistogramCircuit(length=10, chunk=4), b"poll"),
    "MultihotCountVec": Prio3(MultihotCountVecCircuit(length=10, chunk=4, most=3), b"poll"),
}
Elements = NDArray[np.uint64]


def accepted(scheme: Prio3, split: SplitReports) -> NDArray[np.bool_]:
    """Which reports both collectors accept."""
    checks = [scheme.verify(KEY, role, split.nonces, split.public, split.shares[role]) for role in (0, 1)]
    return scheme.accept(checks)


def split_elements(scheme: Prio3, elements: Elements, rng: np.random.Generator) -> SplitReports:
    """Elements, allowed or not, split with an honest proof of them."""
    count = len(elements)
    return scheme.shard_encoded(elements, random_bytes(count, NONCE, rng), random_bytes(count, scheme.rand_size, rng))


def honest(name: str, count: int, rng: np.random.Generator) -> Elements:
    """Encoded answers that are allowed."""
    scheme = SCHEMES[name]
    answers = {  # type: ignore[no-untyped-call]
        "Count": lambda: rng.integers(0, 2, count),
        "Sum": lambda: rng.integers(0, 101, count),
        "SumVec": lambda: rng.integers(0, 10, (count, 2)),
        "Histogram": lambda: rng.integers(0, 10, count),
        "MultihotCountVec": lambda: np.eye(10, dtype=np.int64)[rng.integers(0, 10, count)],
    }[name]()
    out = np.zeros((count, scheme.circuit.inputs, 2), np.uint64)
    out[..., 0] = scheme.circuit.encode(answers)
    return out


def forged_reports(name: str, count: int, rng: np.random.Generator) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Each way to forge `count` reports, with which of them were accepted."""
    scheme = SCHEMES[name]
    for how, elements in forged_elements(name, count, rng):
        yield how, accepted(scheme, split_elements(scheme, elements, rng))
    for how, split in tampered(scheme, name, count, rng):
        yield how, accepted(scheme, split)


def forged_elements(name: str, count: int, rng: np.random.Generator) -> Iterator[tuple[str, Elements]]:
    """Measurements that are not allowed, with honest proofs."""
    scheme, rows = SCHEMES[name], np.arange(count)
    for how, low, high in (("a large number", 2, 2**63), ("a small number", 2, 5), ("minus a small number", 1, 5)):
        elements = honest(name, count, rng)
        places, numbers = rng.integers(0, scheme.circuit.inputs, count), rng.integers(low, high, count, dtype=np.uint64)
        if how.startswith("minus"):
            low_word, high_word, _ = scheme.elements.words
            elements[rows, places, 0], elements[rows, places, 1] = low_word - numbers, high_word
        else:
            elements[rows, places, 0] = numbers
        yield how, elements
    if name in ("Histogram", "MultihotCountVec"):
        marks = np.zeros((count, scheme.circuit.inputs, 2), np.uint64)
        marks[:, :2, 0] = 1  # two marks; their stated number is none
        yield "two marks", marks
        ones = np.ones_like(marks)
        ones[..., 1] = 0
        yield "every mark", ones
        if name == "Histogram":
            yield "no mark", np.zeros_like(marks)


def tampered(scheme: Prio3, name: str, count: int, rng: np.random.Generator) -> Iterator[tuple[str, SplitReports]]:
    """Honest reports of which something was altered on the way.

    The proof of Count and Sum does not bind the nonce: it is left alone there, and replays are stopped by tokens.
    """
    split = split_elements(scheme, honest(name, count, rng), rng)
    parts = [*split.shares, *((split.public, split.nonces) if scheme.joint else ())]
    for row, which in enumerate(rng.integers(0, len(parts), count)):
        part = parts[which]
        part[row, rng.integers(part.shape[1])] ^= 1 << rng.integers(8)
    yield "a flipped bit", split
    split = split_elements(scheme, honest(name, count, rng), rng)
    yield (
        "halves of two people",
        SplitReports(split.nonces, split.public, (split.shares[0], np.roll(split.shares[1], 1, 0))),
    )
    split = split_elements(scheme, honest(name, count, rng), rng)
    yield (
        "a random first share",
        SplitReports(split.nonces, split.public, (random_bytes(count, scheme.share_size(0), rng), split.shares[1])),
    )
    other = Prio3(scheme.circuit, b"another poll")
    yield "of another poll", split_elements(other, honest(name, count, rng), rng)
