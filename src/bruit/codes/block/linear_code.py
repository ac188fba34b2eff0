"""Short binary linear codes by generator matrix (Golay, Reed–Muller, any other), with near-optimal decoding."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.codes.block._linear_kernels import decode_ordered
from bruit.codes.soft import answer, read_soft_words
from bruit.codes.word import Decoded, Received, SoftBits, as_symbols, settle
from bruit.core.arguments import flag, whole
from bruit.errors import InvalidArgument

LONGEST = 1024
DEEPEST = 5
GOLAY = 0xC75
"""x^11 + x^10 + x^6 + x^5 + x^4 + x^2 + 1, which divides x^23 + 1.                                [Golay 1949]"""


@dataclass(frozen=True, eq=False)
class Linear(SoftBits):
    """The words m·G of a generator matrix (k, n), decoded by ordered statistics.            [Fossorier & Lin 1995]

    The decoder believes the k surest independent bits, and then tries every change of up to `depth` of them: the work
    grows as k^depth, and the answer comes near the likeliest word of all from depth d/4 on, d the least distance.
    """

    generator: NDArray[np.uint8]
    depth: int = 2
    name: str = "linear"

    def __post_init__(self) -> None:
        settle(self, depth=(0, DEEPEST))
        given = np.asarray(self.generator)
        if given.ndim != 2 or given.dtype.kind not in "biu" or not np.isin(given, (0, 1)).all():
            raise InvalidArgument("a generator matrix has rows of zeros and ones")
        if not 1 <= given.shape[0] <= given.shape[1] <= LONGEST:
            raise InvalidArgument(
                f"a generator matrix of shape {given.shape}: give k rows of n bits, k ≤ n ≤ {LONGEST}"
            )
        object.__setattr__(self, "generator", np.ascontiguousarray(given, np.uint8))
        if self._inverse[0].size < self.k:
            raise InvalidArgument("the rows of the generator matrix depend on one another; leave some out")

    def __repr__(self) -> str:
        return f"{self.name}({self.n}, {self.k}, depth={self.depth})"

    @property
    def n(self) -> int:
        """The length of a codeword in bits."""
        return int(self.generator.shape[1])

    @property
    def k(self) -> int:
        """The number of message bits."""
        return int(self.generator.shape[0])

    @cached_property
    def _inverse(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Places of a word that determine its message, and the matrix by which they do."""
        both = np.hstack([self.generator, np.eye(self.k, dtype=np.uint8)])
        places: list[int] = []
        for column in range(self.n):
            row = len(places)
            ones = np.flatnonzero(both[row:, column]) if row < self.k else np.zeros(0, np.int64)
            if ones.size:
                both[[row, row + ones[0]]] = both[[row + ones[0], row]]
                others = np.flatnonzero(both[:, column])
                both[others[others != row]] ^= both[row]
                places.append(column)
        return np.array(places, np.int64), both[:, self.n :]

    def encode(self, messages: Received) -> NDArray[np.uint8]:
        """The codewords: messages times the generator matrix."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        return (bits.astype(np.int64) @ self.generator & 1).astype(np.uint8)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """The likeliest codeword found; a failure where another is equally likely, as after too many erasures."""
        batch = read_soft_words(received, self.n)
        word, decided = np.empty(batch.likelihoods.shape, np.uint8), np.empty(batch.likelihoods.shape[0], bool)
        orders = np.argsort(-np.abs(batch.likelihoods), axis=1, kind="stable")
        decode_ordered(batch.likelihoods, orders, self.generator, self.depth, word, decided)
        places, inverse = self._inverse
        message = (word[:, places].astype(np.int64) @ inverse & 1).astype(np.uint8)
        result = answer(self, batch, message, word, decided)
        return result.raised(self) if raise_on_failure else result


def linear(generator: ArrayLike, *, depth: int = 2) -> Linear:
    """The code of any generator matrix of independent rows."""
    return Linear(np.asarray(generator), depth)


def golay(*, extended: bool = True, depth: int = 3) -> Linear:
    """The extended Golay (24, 12) code, which corrects three errors, or the perfect (23, 12) code.    [Golay 1949]"""
    rows = np.array([[(GOLAY << row) >> (22 - i) & 1 for i in range(23)] for row in range(11, -1, -1)], np.uint8)
    if flag(extended, "extended"):
        rows = np.hstack([rows, rows.sum(axis=1, keepdims=True) & 1])
    return Linear(rows.astype(np.uint8), depth, "golay")


def quadratic_residue(prime: int, *, depth: int = 3) -> Linear:
    """The extended quadratic-residue code of length prime + 1, prime ±1 modulo 8; that of 47 has distance 12.

    Its words are the multiples of Σ x^(i²), of 1 + Σ x^(i²) where the prime is 1 modulo 8, and their parity.
    """
    whole(prime, "prime", least=7, most=LONGEST - 1)
    if prime % 8 not in (1, 7) or any(prime % divisor == 0 for divisor in range(3, int(prime**0.5) + 1, 2)):
        raise InvalidArgument(f"prime={prime}: give a prime number next to a multiple of 8, as 7, 17, 23, 31, 41, 47")
    first = np.zeros(prime, np.uint8)
    first[[i * i % prime for i in range(1, prime)]] = 1
    first[0] = prime % 8 == 1
    rows = np.array([np.roll(first, shift) for shift in range((prime + 1) // 2)])
    return Linear(np.hstack([rows, rows.sum(axis=1, keepdims=True) & 1]).astype(np.uint8), depth, "quadratic_residue")


def reed_muller(r: int, m: int, *, depth: int = 2) -> Linear:
    """The Reed–Muller code RM(r, m) of length 2^m and minimum distance 2^(m − r).                     [Muller 1954]"""
    whole(m, "m", most=10)
    whole(r, "r", least=0, most=m)
    places = np.arange(1 << m)
    bits = [(places >> (m - 1 - i) & 1).astype(np.uint8) for i in range(m)]
    rows = [
        np.prod([np.ones(1 << m, np.uint8), *(bits[i] for i in chosen)], axis=0)
        for degree in range(r + 1)
        for chosen in combinations(range(m), degree)
    ]
    return Linear(np.array(rows, np.uint8), depth, "reed_muller")
