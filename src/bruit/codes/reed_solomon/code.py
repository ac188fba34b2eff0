"""Reed–Solomon codes: multi-bit symbols, errors and erasures, the largest possible minimum distance."""

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.codes.block.binary_field import Field, field
from bruit.codes.reed_solomon import _kernels as short_kernels
from bruit.codes.reed_solomon import _long_kernels as long_kernels
from bruit.codes.reed_solomon import _vector_kernels as vector_kernels
from bruit.codes.reed_solomon.tables import generator_polynomial, short_tables
from bruit.codes.reed_solomon.vector_tables import has_vectors, vector_tables
from bruit.codes.word import BlockWords, Decoded, Received, as_symbols, erasure_flags, read_only, settle
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument

MOST_BITS = 16


@dataclass(frozen=True)
class ReedSolomon(BlockWords):
    """The systematic code RS(n, k) over GF(2^bits), highest degree first.                  [Reed & Solomon 1960]

    The generator is ∏ (x + α^(first_root + i)) for i below n − k. E wrong and S erased symbols are corrected while
    2E + S ≤ n − k. An n below 2^bits − 1 is the shortened code; `bits` left out is the fewest that n allows.
    `polynomial` is any primitive one; `step` takes α^step for α.

    Beyond the limit a failure is stated, but for the few words that lie near another codeword: see
    `miscorrection_bound`. With S erasures only n − k − S checks remain, which `Decoded.checks` returns; with none
    left every further error goes unseen.

    >>> code = ReedSolomon(7, 3)
    >>> word = code.encode([1, 2, 3])
    >>> word[0] ^= 5
    >>> found = code.decode(word)
    >>> found.message.tolist(), found.positions.tolist(), bool(found.decoded)
    ([1, 2, 3], [0], True)
    """

    n: int
    k: int
    _: KW_ONLY
    bits: int | None = None
    polynomial: int | None = None
    first_root: int = 1
    step: int = 1

    def __post_init__(self) -> None:
        settle(self, n=(2, (1 << MOST_BITS) - 1), k=(1, None), bits=(2, MOST_BITS), polynomial=(1, None))
        settle(self, first_root=(None, None), step=(1, None))
        if self.k >= self.n:
            raise InvalidArgument(f"RS({self.n}, {self.k}): the message must be shorter than the word")
        if self.n > self.field.order:
            raise InvalidArgument(f"n={self.n} is more than the {self.field.order} symbols that {self.bits} bits allow")

    def __str__(self) -> str:
        return f"RS({self.n}, {self.k})"

    @cached_property
    def field(self) -> Field:
        """The field of the symbols."""
        return field(max(2, self.n.bit_length()) if self.bits is None else self.bits, self.polynomial, self.step)

    @property
    def checks(self) -> int:
        """The number of check symbols, n − k."""
        return self.n - self.k

    @property
    def symbols(self) -> int:
        """The size of the alphabet, 2^bits."""
        return self.field.size

    @property
    def fills_erasures(self) -> bool:
        """True: `decode` takes the positions of erased symbols, each of which counts as half an error."""
        return True

    @property
    def generator(self) -> NDArray[np.uint16]:
        """The generator polynomial, highest degree first."""
        return generator_polynomial(self.field, self.checks, self.first_root)

    @property
    def _is_short(self) -> bool:
        return self.field.bits <= 8 and self.checks <= short_kernels.REGISTER

    @cached_property
    def _tables(self) -> short_kernels.Tables:
        return short_tables(self.field, self.checks, self.first_root % self.field.order)

    @cached_property
    def _generator_logs(self) -> NDArray[np.int32]:
        return self.field.log[self.generator[1:]]

    def encode(self, messages: Received) -> NDArray[Any]:
        """The codewords: messages of k symbols, or k bytes, followed by their n − k check symbols."""
        symbols = as_symbols(messages, self.k, symbols=self.symbols, what="messages")
        rows = symbols.reshape(-1, self.k)
        if self._is_short:
            words: NDArray[Any] = np.empty((rows.shape[0], self.n), np.uint8)
            short_kernels.encode(read_only(rows), self._tables.feed, words)
        else:
            words = np.empty((rows.shape[0], self.n), np.uint16)
            wide = read_only(rows.astype(np.uint16, copy=False))
            long_kernels.encode(wide, self._generator_logs, self.field.exp, self.field.log, words)
        return words.astype(symbols.dtype, copy=False).reshape(*symbols.shape[:-1], self.n)

    def decode(
        self, received: Received, *, erasures: ArrayLike | None = None, raise_on_failure: bool = False
    ) -> Decoded:
        """The unique codeword with 2·errors + erasures ≤ n − k, or a marked failure that returns the word as received.

        `erasures` marks the symbols known to be lost: flags of the shape of `received`, or for one word their places.
        A word that lost more than n − k is a failure.
        """
        symbols = as_symbols(received, self.n, symbols=self.symbols, what="received words")
        rows = symbols.reshape(-1, self.n)
        erased, left = self._erased(erasures, symbols.shape)
        word, status = self._run(rows, erased)
        if erased is not None:
            word[left < 0], status[left < 0] = rows[left < 0], short_kernels.FAILED
        word, status = word.reshape(symbols.shape), status.reshape(symbols.shape[:-1])
        good = np.asarray(status != short_kernels.FAILED)
        checks = np.broadcast_to(left if erased is None else np.maximum(left, 0).reshape(status.shape), status.shape)
        answer = Decoded(word[..., : self.k], word, symbols, np.asarray(np.maximum(status, 0)), good, checks)
        return answer.raised(self) if raise_on_failure else answer

    def _run(self, rows: NDArray[Any], erased: NDArray[np.uint8] | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
        status = np.empty(rows.shape[0], np.int64)
        flags = read_only(np.zeros((1, 1), np.uint8)) if erased is None else erased
        order = self.field.order
        if self._is_short and self.field.bits == 8 and has_vectors():
            word: NDArray[Any] = rows.copy()
            tables = vector_tables(self.field, self.checks, self.first_root % order)
            vector_kernels.decode(word, flags, erased is not None, self.checks, tables, status)
            return word, status
        if self._is_short:
            word = np.empty_like(rows)
            terms = (flags, erased is not None, self.checks, order, self._tables)
            short_kernels.decode(read_only(rows), *terms, word, status)
            return word, status
        wide = read_only(rows.astype(np.uint16, copy=False))
        word = np.empty(rows.shape, np.uint16)
        logs = (self._generator_logs, self.field.exp, self.field.log)
        long_kernels.decode(wide, flags, erased is not None, self.first_root % order, order, *logs, word, status)
        return word.astype(rows.dtype, copy=False), status

    def _erased(
        self, erasures: ArrayLike | None, shape: tuple[int, ...]
    ) -> tuple[NDArray[np.uint8] | None, NDArray[np.int64]]:
        """Flags of lost symbols, one row per word, none where they are too many; how many checks each word has left."""
        if erasures is None:
            return None, np.asarray(self.checks, np.int64)
        rows = np.ascontiguousarray(erasure_flags(erasures, shape).reshape(-1, self.n))
        left = self.checks - np.count_nonzero(rows, axis=1).astype(np.int64)
        return read_only((rows & (left >= 0)[:, None]).view(np.uint8)), left

    def miscorrection_bound(self, erasures: int = 0) -> float:
        """A bound on the miscorrection probability of words beyond the decoding radius, over random errors.

        (q−1)^(−c) · Σ_{s≤⌊c/2⌋} C(n−S, s)·(q−1)^s with c = n − k − S checks left, about 1/⌊c/2⌋!
        [McEliece & Swanson 1986]
        """
        erasures = whole(erasures, "erasures", least=0, most=self.checks, why="so many can be filled in")
        left, others = self.checks - erasures, self.symbols - 1
        near = sum(comb(self.n - erasures, s) * others**s for s in range(left // 2 + 1))
        return float(min(Fraction(1), Fraction(near, others**left)))


def ccsds() -> ReedSolomon:
    """The CCSDS RS(255, 223) code in the usual basis: x^8+x^7+x^2+x+1, α^11, roots 112 to 143. [CCSDS 131.0-B]"""
    return ReedSolomon(255, 223, polynomial=0x187, first_root=112, step=11)


def qr(n: int, k: int) -> ReedSolomon:
    """The code of one block of a QR symbol: x^8+x^4+x^3+x^2+1, roots from α^0. [ISO/IEC 18004]"""
    return ReedSolomon(n, k, bits=8, polynomial=0x11D, first_root=0)
