"""Hamming codes, plain or extended: the fewest check bits that locate one wrong bit."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bruit.codes.block import _hamming_kernels as kernels
from bruit.codes.word import Decoded, HardBits, Received, as_symbols, settle
from bruit.core.arguments import flag, shown
from bruit.errors import InvalidArgument

MOST_CHECKS = 16
LONG_WORD = 24  # bytes from which ands and xors over the whole word beat one look-up per byte


@dataclass(frozen=True)
class Hamming(HardBits):
    """The code of length 2^c − 1 with c checks, systematic: G = (I | P) and H = (P over I).          [Hamming 1950]

    `rows` states the rows of P in any order, as texts or numbers; left out, they stand by weight and then by size
    from above: 110, 101, 011, 111 for three checks. Fewer rows give the shortened code.
    It corrects one wrong bit. `extended` adds a bit that makes every word even: one wrong bit is corrected and two
    are noticed (a stated failure); without it two wrong bits become three.
    """

    checks: int
    rows: tuple[str | int, ...] | None = None
    extended: bool = False

    def __post_init__(self) -> None:
        settle(self, checks=(2, MOST_CHECKS))
        object.__setattr__(self, "extended", flag(self.extended, "extended"))
        found = self._row_numbers()
        allowed = [row for row in found if 0 < row < 1 << self.checks and row & (row - 1)]
        if not found or len(allowed) < len(found) or len(set(found)) < len(found):
            raise InvalidArgument(
                f"rows={shown(self.rows)}: give different rows of {self.checks} bits with two or more ones in each"
            )

    def __str__(self) -> str:
        return f"Hamming({self.n}, {self.k})"

    def _row_numbers(self) -> list[int]:
        if self.rows is None:
            every = [row for row in range(1 << self.checks) if row.bit_count() > 1]
            return sorted(every, key=lambda row: (row.bit_count(), -row))
        try:
            return [row if isinstance(row, int) else int(row, 2) if len(row) == self.checks else 0 for row in self.rows]
        except (TypeError, ValueError):
            return []

    @property
    def redundancy(self) -> int:
        """The number of check bits in a word."""
        return self.checks + self.extended

    @property
    def k(self) -> int:
        """The number of message bits."""
        return len(self._rows)

    @property
    def n(self) -> int:
        """The length of a codeword in bits."""
        return self.k + self.redundancy

    @cached_property
    def _rows(self) -> NDArray[np.uint32]:
        """The rows of P as numbers; the extended code's have an odd number of ones, so that words are even."""
        rows = np.array(self._row_numbers(), np.uint32)
        return np.asarray((rows << 1) | (np.bitwise_count(rows) + 1 & 1), np.uint32) if self.extended else rows

    @cached_property
    def _columns(self) -> NDArray[np.uint32]:
        """The rows of H as numbers: the syndrome that a wrong bit at each place leaves."""
        return np.concatenate([self._rows, np.uint32(1) << np.arange(self.redundancy, dtype=np.uint32)[::-1]])

    @cached_property
    def _position(self) -> NDArray[np.int32]:
        """The place that a syndrome names."""
        position = np.full(1 << self.redundancy, kernels.FAILED)
        position[0] = kernels.CLEAN
        position[self._columns] = np.arange(self.n, dtype=np.int32)
        return position

    @cached_property
    def _table(self) -> NDArray[np.uint32]:
        """For each byte of a packed word and each of its values, what it adds to the syndrome."""
        padded = np.zeros(-(-self.n // 8) * 8, np.uint32)
        padded[: self.n] = self._columns
        table = np.zeros((padded.size // 8, 256), np.uint32)
        for bit in range(8):
            table[:, np.arange(256) >> (7 - bit) & 1 == 1] ^= padded.reshape(-1, 8)[:, bit, None]
        return table

    @cached_property
    def _masks(self) -> NDArray[np.uint8]:
        return np.packbits(np.ascontiguousarray(self.check_matrix.T), axis=1)

    @property
    def parity(self) -> NDArray[np.uint8]:
        """The parity part P of the generator matrix (I | P), one row for each message bit."""
        return self._bits(self._rows)

    @property
    def generator(self) -> NDArray[np.uint8]:
        """G = (I | P): a message u is sent as u·G."""
        return np.hstack([np.eye(self.k, dtype=np.uint8), self.parity])

    @property
    def check_matrix(self) -> NDArray[np.uint8]:
        """H = (P over I): a received word r has the syndrome r·H."""
        return self._bits(self._columns)

    def _bits(self, rows: NDArray[np.uint32]) -> NDArray[np.uint8]:
        return (rows[:, None] >> np.arange(self.redundancy, dtype=np.uint32)[::-1] & 1).astype(np.uint8)

    def encode(self, messages: Received) -> NDArray[np.uint8]:
        """The codewords of messages of k bits: the message followed by its check bits."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        words = self.encode_packed(np.packbits(bits.reshape(-1, self.k), axis=1))
        return np.unpackbits(words, axis=1, count=self.n).reshape(*bits.shape[:-1], self.n)

    def syndromes(self, received: Received) -> NDArray[np.uint8]:
        """The syndromes: the row of H at the wrong bit, or zeros for a codeword."""
        bits = as_symbols(received, self.n, symbols=2, what="received words")
        packed = np.packbits(bits.reshape(-1, self.n), axis=1)
        sums = np.bitwise_xor.reduce(self._table[np.arange(packed.shape[1]), packed], axis=1)
        return self._bits(sums).reshape(*bits.shape[:-1], self.redundancy)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """The nearest codeword of each word; two wrong bits are a failure where the extended code detects them."""
        bits = as_symbols(received, self.n, symbols=2, what="received words")
        words, place = self.decode_packed(np.packbits(bits.reshape(-1, self.n), axis=1))
        word = np.unpackbits(words, axis=1, count=self.n).reshape(bits.shape)
        batch = bits.shape[:-1]
        answer = Decoded(
            word[..., : self.k],
            word,
            bits,
            (place >= 0).astype(np.int64).reshape(batch),
            (place != kernels.FAILED).reshape(batch),
            np.full(batch, self.redundancy),
        )
        return answer.raised(self) if raise_on_failure else answer

    def encode_packed(self, messages: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Encodes messages packed as by `numpy.packbits`, from rows of ⌈k/8⌉ bytes to rows of ⌈n/8⌉ bytes."""
        packed = self._require_packed(messages, self.k)
        words = np.empty((packed.shape[0], -(-self.n // 8)), np.uint8)
        kernels.encode(packed, self._table, self.k, self.redundancy, words)
        return words

    def decode_packed(self, received: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Corrected packed words, whose first k bits are the message, and the position of the flipped bit in each.

        The place is −1 for a word that came clean and −2 for one that was not decoded.
        """
        packed = self._require_packed(received, self.n)
        words = np.empty_like(packed)
        place = np.empty(packed.shape[0], np.int32)
        if packed.shape[1] < LONG_WORD:
            kernels.decode_short(packed, self._table, self._position, words, place)
        else:
            kernels.decode_long(packed, self._masks, self._position, words, place)
        return words, place

    @staticmethod
    def _require_packed(values: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
        array = np.asarray(values)
        if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != -(-bits // 8) or not array.size:
            raise InvalidArgument(
                f"packed bits of type {array.dtype} and shape {array.shape}: give rows of {-(-bits // 8)} bytes (uint8)"
            )
        return np.ascontiguousarray(array)
