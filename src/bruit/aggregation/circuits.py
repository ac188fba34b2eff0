"""Validity circuits of Prio3: the allowed answers, their encoding as field elements, and their sensitivity.

Written from the text of the specification [draft-irtf-cfrg-vdaf-20, section 7.4].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.aggregation import _kernels
from bruit.aggregation.fields import FIELD64, FIELD128, Pair, PrimeField
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument

MOST_INPUTS: Final = 100_000
"""Field elements of one encoded answer: a report of 1.6 MB."""
LARGEST_NUMBER: Final = 2**32 - 1
"""A sum over 2^30 people of such numbers, with noise, stays below half of Field64, so that its sign can be read."""


class Layout(NamedTuple):
    """The numbers and Montgomery constants that the kernels need of a circuit in a field.

    `width` inputs make one output; `points` is n, the least power of two above the gadget's `calls`; `query` and
    `joint` are lengths of randomness for one proof; weights [width, 2], roots [2 n, 2] of the 2n-th root of unity,
    prefix [8, bytes] the length-prefixed tag of each use of the XOF.
    """

    kind: int
    wide: bool
    shares: int
    proofs: int
    inputs: int
    length: int
    width: int
    calls: int
    arity: int
    points: int
    joint: int
    outputs_checked: int
    query: int
    proof_length: int
    p: tuple[np.uint64, np.uint64, np.uint64]
    one: Pair
    square: Pair
    over_n: Pair
    over_2n: Pair
    share_inverse: Pair
    weights: NDArray[np.uint64]
    roots: NDArray[np.uint64]
    prefix: NDArray[np.uint8]


@dataclass(frozen=True)
class Circuit(ABC):
    """A set of allowed answers to be summed, and the circuit that proves an answer is allowed."""

    kind: ClassVar[int]
    field: ClassVar[PrimeField] = FIELD128

    @property
    def name(self) -> str:
        """The circuit's name in the specification."""
        return type(self).__name__.removesuffix("Circuit")

    @property
    @abstractmethod
    def inputs(self) -> int:
        """The number of field elements of an encoded answer."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """The number of entries in the sum."""

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """The l1 sensitivity of the sum when one person's answer is replaced by another."""

    @property
    def width(self) -> int:
        """The number of encoded bits per entry of the sum."""
        return 1

    @property
    def weights(self) -> list[int]:
        """The weights of the encoded bits of one entry of the sum."""
        return [1]

    @property
    def calls(self) -> int:
        """How often the proof calls its gadget, the circuit's only non-linear gate."""
        return self.inputs

    @property
    @abstractmethod
    def arity(self) -> int:
        """The number of inputs of the gadget."""

    @property
    def outputs_checked(self) -> int:
        """The number of circuit outputs that must all be zero for a valid answer."""
        return 1

    @abstractmethod
    def encode(self, answers: ArrayLike) -> NDArray[np.uint8]:
        """Encodes answers as rows of bits [answer, input]; refuses answers that are not allowed."""

    def to_json(self) -> dict[str, Any]:
        """The circuit in JSON types."""
        return {"kind": self.name, **vars(self)}


@dataclass(frozen=True)
class CountCircuit(Circuit):
    """Answers yes or no; the sum is the number of yes."""

    kind, field = _kernels.COUNT, FIELD64
    inputs, outputs, sensitivity, arity = 1, 1, 1, 2

    def encode(self, answers: ArrayLike) -> NDArray[np.uint8]:
        return _read(answers, 1, 1).reshape(-1, 1).astype(np.uint8)


@dataclass(frozen=True)
class SumCircuit(Circuit):
    """Answers from 0 to `largest`, which are summed."""

    largest: int
    kind = _kernels.SUM
    field = FIELD64
    outputs, arity = 1, 1

    def __post_init__(self) -> None:
        _keep_whole(self, "largest", 1, LARGEST_NUMBER)

    @property
    def inputs(self) -> int:
        return self.largest.bit_length()

    @property
    def width(self) -> int:
        return self.inputs

    @property
    def weights(self) -> list[int]:
        return _bit_weights(self.largest)

    @property
    def outputs_checked(self) -> int:
        return self.inputs

    @property
    def sensitivity(self) -> int:
        return self.largest

    def encode(self, answers: ArrayLike) -> NDArray[np.uint8]:
        return _bits(_read(answers, 1, self.largest), self.largest)


@dataclass(frozen=True)
class _Chunked(Circuit):
    """A circuit that checks its bits in chunks with joint randomness; a chunk near the root of the inputs is best."""

    length: int
    chunk: int

    def _check(self) -> None:
        _keep_whole(self, "length", 1, MOST_INPUTS)
        _keep_whole(self, "chunk", 1, self.inputs)
        whole(self.inputs, "inputs of an encoded answer", most=MOST_INPUTS)

    @property
    def inputs(self) -> int:
        return self.length

    @property
    def outputs(self) -> int:
        return self.length

    @property
    def calls(self) -> int:
        return -(-self.inputs // self.chunk)

    @property
    def arity(self) -> int:
        return 2 * self.chunk


@dataclass(frozen=True)
class SumVecCircuit(_Chunked):
    """Answers of `length` integers from 0 to `largest`, summed entry by entry."""

    largest: int
    kind = _kernels.SUM_VEC

    def __post_init__(self) -> None:
        _keep_whole(self, "largest", 1, LARGEST_NUMBER)
        self._check()

    @property
    def inputs(self) -> int:
        return self.length * self.width

    @property
    def width(self) -> int:
        return self.largest.bit_length()

    @property
    def weights(self) -> list[int]:
        return _bit_weights(self.largest)

    @property
    def sensitivity(self) -> int:
        return self.length * self.largest

    def encode(self, answers: ArrayLike) -> NDArray[np.uint8]:
        numbers = _read(answers, self.length, self.largest)
        return _bits(numbers.reshape(-1), self.largest).reshape(len(numbers), self.inputs)


@dataclass(frozen=True)
class HistogramCircuit(_Chunked):
    """Answers that name one of `length` choices by its index; the sum counts each choice."""

    kind = _kernels.HISTOGRAM

    def __post_init__(self) -> None:
        self._check()

    @property
    def outputs_checked(self) -> int:
        return 2

    @property
    def sensitivity(self) -> int:
        return 2 if self.length > 1 else 1

    def encode(self, answers: ArrayLike) -> NDArray[np.uint8]:
        return np.eye(self.length, dtype=np.uint8)[_read(answers, 1, self.length - 1).reshape(-1)]


@dataclass(frozen=True)
class MultihotCountVecCircuit(_Chunked):
    """Answers that mark at most `most` of `length` choices by 0 and 1; the sum counts each choice's marks."""

    most: int
    kind = _kernels.MULTIHOT

    def __post_init__(self) -> None:
        _keep_whole(self, "length", 1, MOST_INPUTS)
        _keep_whole(self, "most", 1, self.length)
        self._check()

    @property
    def inputs(self) -> int:
        return self.length + self.most.bit_length()

    @property
    def weights(self) -> list[int]:
        return _bit_weights(self.most)

    @property
    def outputs_checked(self) -> int:
        return 2

    @property
    def sensitivity(self) -> int:
        return min(2 * self.most, self.length)

    def encode(self, answers: ArrayLike) -> NDArray[np.uint8]:
        marks = _read(answers, self.length, 1)
        numbers = marks.sum(axis=1)
        if (numbers > self.most).any():
            raise InvalidArgument(f"an answer has more than most={self.most} marks; take some away")
        return np.concatenate([marks.astype(np.uint8), _bits(numbers, self.most)], axis=1)


KINDS: Final[dict[str, type[Circuit]]] = {
    kind.__name__.removesuffix("Circuit"): kind
    for kind in (CountCircuit, SumCircuit, SumVecCircuit, HistogramCircuit, MultihotCountVecCircuit)
}


def chunk_for(inputs: int) -> int:
    """The chunk length that makes a proof nearly as short as possible: about the root of the number of inputs."""
    return max(1, isqrt(inputs - 1) + 1)


def circuit_from_json(description: dict[str, Any]) -> Circuit:
    """Rebuilds a circuit from what `Circuit.to_json` wrote, with the same checks as its constructor."""
    values = dict(description)
    kind = KINDS.get(str(values.pop("kind", "")))
    if kind is None:
        raise InvalidArgument(f"not a kind of answer that this version knows: give one of {', '.join(KINDS)}")
    try:
        return kind(**values)
    except TypeError as error:
        raise InvalidArgument(f"{description!r} does not describe its circuit: {error}") from error


def _bit_weights(largest: int) -> list[int]:
    """Weights of bits that make every number from 0 to `largest` and no other [section 7.4.2]."""
    bits = largest.bit_length()
    return [1 << i for i in range(bits - 1)] + [largest - 2 ** (bits - 1) + 1]


def _bits(numbers: NDArray[np.int64], largest: int) -> NDArray[np.uint8]:
    """Encodes each number as bits whose weights sum to it; the last bit is set where the others cannot reach it."""
    bits = largest.bit_length()
    reach = 2 ** (bits - 1) - 1
    last = numbers > reach
    rest = numbers - last * (largest - reach)
    lower = rest[:, None] >> np.arange(bits - 1) & 1
    return np.concatenate([lower, last[:, None]], axis=1).astype(np.uint8)


def _read(answers: ArrayLike, length: int, largest: int) -> NDArray[np.int64]:
    """Answers as integers [answer] or [answer, length]; the message tells the range and no answer."""
    values = np.asarray(answers)
    shaped = values.ndim == 1 if length == 1 and values.ndim == 1 else values.shape[1:] == (length,)
    if values.dtype.kind not in "biu" or not shaped or values.min(initial=0) < 0 or values.max(initial=0) > largest:
        each = "a whole number" if length == 1 else f"a row of {length} whole numbers"
        raise InvalidArgument(f"an answer is not allowed: each is {each} from 0 to {largest}")
    return values.astype(np.int64).reshape(len(values) if length == 1 else values.shape)


def _keep_whole(circuit: Circuit, name: str, least: int, most: int) -> None:
    """Keeps a number of a circuit as Python's own, or refuses one that is not whole or out of range."""
    object.__setattr__(circuit, name, whole(getattr(circuit, name), name, least=least, most=most))


def answers_of(values: Sequence[int]) -> int | tuple[int, ...]:
    """The aggregated sums as a tuple, or as a plain number where there is only one."""
    return values[0] if len(values) == 1 else tuple(values)
