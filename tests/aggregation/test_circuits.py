"""Encodings, sensitivities by brute force, and sums that come out whole."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.aggregation import (
    Circuit,
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    Prio3,
    SumCircuit,
    SumVecCircuit,
    chunk_for,
)
from bruit.aggregation.circuits import circuit_from_json
from bruit.errors import InvalidArgument

KEY = np.arange(32, dtype=np.uint8)
SMALL: list[tuple[Circuit, list[object]]] = [
    (CountCircuit(), [0, 1]),
    (SumCircuit(largest=5), list(range(6))),
    (SumCircuit(largest=1), [0, 1]),
    (HistogramCircuit(length=1, chunk=1), [0]),
    (HistogramCircuit(length=4, chunk=2), list(range(4))),
    (SumVecCircuit(length=2, chunk=2, largest=2), [list(each) for each in product(range(3), repeat=2)]),
    *(
        (
            MultihotCountVecCircuit(length=3, chunk=2, most=most),
            [list(x) for x in product((0, 1), repeat=3) if sum(x) <= most],
        )
        for most in (1, 2, 3)
    ),
]
NAMED = pytest.mark.parametrize(("circuit", "answers"), SMALL, ids=lambda value: str(value)[:40])


@pytest.mark.parametrize("circuit", [each for each, _ in SMALL], ids=lambda value: str(value)[:40])
def test_numbers_of_a_circuit_may_be_numpys(circuit: Circuit) -> None:
    own = type(circuit)(**{name: np.int64(value) for name, value in vars(circuit).items()})
    assert json.dumps(own.to_json()) == json.dumps(circuit.to_json())
    for name in vars(circuit):
        with pytest.raises(InvalidArgument, match=f"{name}=True must be a whole number"):
            type(circuit)(**{**vars(circuit), name: True})


def sums(circuit: Circuit, answers: list[object]) -> tuple[int, ...]:
    scheme = Prio3(circuit, b"context")
    split = scheme.shard(answers)
    checks = [scheme.verify(KEY, role, split.nonces, split.public, split.shares[role]) for role in (0, 1)]
    accepted = scheme.accept(checks)
    assert accepted.all()
    return scheme.unshard([scheme.aggregate(check.outputs, accepted) for check in checks])


@NAMED
def test_every_allowed_answer_is_accepted_and_counted(circuit: Circuit, answers: list[object]) -> None:
    expected = {
        "Count": lambda: [sum(answers)],  # type: ignore[arg-type]
        "Sum": lambda: [sum(answers)],  # type: ignore[arg-type]
        "Histogram": lambda: np.bincount(answers, minlength=circuit.outputs).tolist(),  # type: ignore[arg-type]
    }.get(circuit.name, lambda: np.sum(answers, axis=0).tolist())
    assert list(sums(circuit, answers)) == expected()  # type: ignore[no-untyped-call]


@NAMED
def test_the_sensitivity_is_the_most_that_one_replaced_answer_moves(circuit: Circuit, answers: list[object]) -> None:
    outputs = [np.array(sums(circuit, [each])) for each in answers]
    moved = max(int(np.abs(one - two).sum()) for one in outputs for two in outputs)
    assert moved <= circuit.sensitivity
    assert moved == circuit.sensitivity or len(answers) == 1


@settings(max_examples=20)
@given(largest=st.integers(1, 2**32 - 1), data=st.data())
def test_sums_of_any_numbers(largest: int, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, largest), min_size=1, max_size=5))
    assert sums(SumCircuit(largest=largest), numbers) == (sum(numbers),)


@settings(max_examples=20)
@given(length=st.integers(1, 12), data=st.data())
def test_every_chunk_gives_the_same_sums(length: int, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=5))
    chunk = data.draw(st.integers(1, length))
    assert (
        list(sums(HistogramCircuit(length=length, chunk=chunk), places))
        == np.bincount(places, minlength=length).tolist()
    )


@NAMED
def test_a_description_is_read_back(circuit: Circuit, answers: list[object]) -> None:
    assert circuit_from_json(circuit.to_json()) == circuit


@pytest.mark.parametrize(
    "make",
    [
        lambda: CountCircuit().encode([2]),
        lambda: CountCircuit().encode([0.5]),
        lambda: CountCircuit().encode([[1]] * 2).reshape(3),
        lambda: SumCircuit(largest=5).encode([6]),
        lambda: SumCircuit(largest=5).encode([-1]),
        lambda: HistogramCircuit(length=3, chunk=1).encode([3]),
        lambda: MultihotCountVecCircuit(length=3, chunk=1, most=2).encode([[1, 1, 1]]),
        lambda: SumVecCircuit(length=2, chunk=1, largest=3).encode([[1, 2, 3]]),
        lambda: SumCircuit(largest=0),
        lambda: SumCircuit(largest=2**32),
        lambda: SumCircuit(largest=True),
        lambda: HistogramCircuit(length=0, chunk=1),
        lambda: HistogramCircuit(length=3, chunk=4),
        lambda: MultihotCountVecCircuit(length=3, chunk=1, most=4),
        lambda: SumVecCircuit(length=100_000, chunk=1, largest=255),
        lambda: circuit_from_json({"kind": "Poplar1"}),
        lambda: circuit_from_json({"kind": "Sum", "most": 3}),
        lambda: Prio3(CountCircuit(), b"", shares=1),
        lambda: Prio3(CountCircuit(), b"x" * 2**16),
    ],
)
def test_what_is_not_allowed_is_refused(make: object) -> None:
    with pytest.raises((InvalidArgument, ValueError)):
        make()  # type: ignore[operator]


def test_no_error_tells_an_answer() -> None:
    with pytest.raises(InvalidArgument) as refused:
        SumCircuit(largest=5).encode([3, 777])
    assert "777" not in str(refused.value)


def test_rows_of_a_wrong_length_are_refused_in_words() -> None:
    scheme = Prio3(HistogramCircuit(length=3, chunk=2), b"context")
    split = scheme.shard([1, 2])
    rows = [split.nonces, split.public, split.shares[0]]
    for place, name in enumerate(("nonces", "public", "shares")):
        cut = [row[:, :-1] if at == place else row for at, row in enumerate(rows)]
        with pytest.raises(InvalidArgument, match=f"{name} have shape"):
            scheme.verify(KEY, 0, *cut)
    with pytest.raises(InvalidArgument, match="32 bytes"):
        scheme.verify(KEY[:5], 0, *rows)
    with pytest.raises(InvalidArgument, match="verifiers have shape"):
        scheme.decide([np.zeros((2, 5), np.uint8)] * 2)


def test_a_share_alone_is_the_same_for_every_answer_of_the_second_and_uniform_for_the_first() -> None:
    """The seeds do not depend on the answer; the first share is the answer minus what uniform seeds expand to."""
    scheme = Prio3(HistogramCircuit(length=3, chunk=2), b"context")
    one, two = (scheme.shard([place], rng=np.random.default_rng(4)) for place in (0, 2))
    assert np.array_equal(one.shares[1], two.shares[1])
    assert not np.array_equal(one.shares[0], two.shares[0])


def test_the_chunk_is_near_the_root() -> None:
    assert [chunk_for(n) for n in (1, 2, 4, 10, 100, 101)] == [1, 2, 2, 4, 10, 11]
