"""The LTE turbo code: a message, its parity and the parity of the interleaved message, decoded iteratively."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.codes.low_density.standards import lines_of
from bruit.codes.soft import SoftWords, answer, lanes_of, read_soft_words, rounds_of
from bruit.codes.trellis._turbo_kernels import LANES, parity_bits, turbo_lanes
from bruit.codes.word import Decoded, Received, SoftBits, as_symbols, settle
from bruit.core.arguments import flag
from bruit.errors import InvalidArgument

FLUSH = 12
"""Bits that bring the two registers back to 0."""


COLUMNS = 32
COLUMN_ORDER = np.array([int(f"{column:05b}"[::-1], 2) for column in range(COLUMNS)])
"""The columns of the sub-block interleaver, their bits turned round.          [3GPP TS 36.212, Table 5.1.4-1]"""


@cache
def lte_sizes() -> dict[int, tuple[int, int]]:
    """The 188 message lengths and their interleaver parameters (f1, f2). [3GPP TS 36.212, Table 5.1.3-3]"""
    return {int(k): (int(f1), int(f2)) for k, f1, f2 in lines_of("lte.txt")}


def matched_places(k: int, length: int, version: int) -> NDArray[np.int64]:
    """Which of the 3k + 12 coded bits, stream by stream, are sent, in order: `length` of them from a circular buffer.

    Each stream is written in rows of 32 behind dummy bits and read column by column, the last stream one bit later; the
    parity streams then alternate behind the systematic one.                 [3GPP TS 36.212, Section 5.1.4.1]
    """
    size = k + 4
    rows = -(-size // COLUMNS)
    dummies = rows * COLUMNS - size
    read = (COLUMN_ORDER[:, None] + COLUMNS * np.arange(rows)).reshape(-1)
    later = (read + 1) % read.size
    parities = np.stack([size + read, 2 * size + later], axis=1).reshape(-1)
    dummy = np.concatenate([read < dummies, np.stack([read, later], axis=1).reshape(-1) < dummies])
    buffer = np.concatenate([read, parities]) - dummies
    start = rows * (2 * -(-buffer.size // (8 * rows)) * version + 2)
    turned = np.roll(np.where(dummy, -1, buffer), -start)
    return np.resize(turned[turned >= 0], length)


@dataclass(frozen=True)
class LteTurbo(SoftBits):
    """The rate-1/3 code for k message bits, k one of 188 sizes from 40 to 6144.            [Berrou et al. 1993]

    A word is the systematic stream, then the two parity streams, each with four of the flushing bits at its end;
    without `flushed` the registers are left open and n = 3k. Where `length` is stated, so many bits are sent, chosen by
    the standard's rate matching: `version` 0 to 3 says where in its buffer they begin, so that a second sending brings
    what the first left out. The decoder takes max-log turns scaled by 3/4.
    """

    k: int
    iterations: int = 6
    flushed: bool = True
    length: int | None = None
    version: int = 0

    def __post_init__(self) -> None:
        settle(self, k=(1, None), iterations=(1, None), length=(1, None), version=(0, 3))
        object.__setattr__(self, "flushed", flag(self.flushed, "flushed"))
        if self.k not in lte_sizes():
            near = sorted(lte_sizes(), key=lambda size: abs(size - self.k))[:2]
            raise InvalidArgument(f"k={self.k} is not one of the 188 sizes of LTE; the nearest are {sorted(near)}")
        if self.length is None and self.version:
            raise InvalidArgument(f"version={self.version}: state the length, how many bits are sent")
        if self.length is not None and (not self.flushed or self.length <= self.k):
            raise InvalidArgument(f"length={self.length}: a flushed code sends more than its k={self.k} bits")

    @property
    def n(self) -> int:
        """The length of a codeword in bits."""
        return 3 * self.k + (FLUSH if self.flushed else 0) if self.length is None else self.length

    @cached_property
    def interleaver(self) -> NDArray[np.int64]:
        """The interleaver: the second code reads bit (f1·i + f2·i²) mod k at step i."""
        f1, f2 = lte_sizes()[self.k]
        i = np.arange(self.k)
        return (f1 * i + f2 * i * i) % self.k

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The decoder's row for each sent bit: three streams of k, then the tail as (bit, parity) · 3 of each code.

        The twelve flushing bits go to the ends of the three streams in turn.    [3GPP TS 36.212, Section 5.1.3.2.2]
        """
        k = self.k
        streams = np.arange(3 * k).reshape(3, k)
        if not self.flushed:
            return streams.reshape(-1)
        whole = np.hstack([streams, 3 * k + np.arange(FLUSH).reshape(4, 3).T]).reshape(-1)
        return whole if self.length is None else whole[matched_places(k, self.length, self.version)]

    @cached_property
    def _rounds(self) -> list[NDArray[np.int64]]:
        return rounds_of(self.place)

    def encode(self, messages: Received) -> NDArray[Any]:
        """The codewords: message, parity, parity of the interleaved message, and tail bits."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        return self._words(bits.reshape(-1, self.k)).reshape(*bits.shape[:-1], self.n)

    def _words(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        plain = np.empty((bits.shape[0], 3 * self.k + FLUSH), np.uint8)
        plain[:, : self.k] = bits
        for code, order in enumerate((np.arange(self.k), self.interleaver)):
            parity = np.empty_like(bits)
            flush = np.empty((bits.shape[0], 3, 2), np.uint8)
            parity_bits(np.ascontiguousarray(bits[:, order]), parity, flush)
            plain[:, (code + 1) * self.k : (code + 2) * self.k] = parity
            plain[:, 3 * self.k + 6 * code : 3 * self.k + 6 * code + 6] = flush.reshape(-1, 6)
        return np.take(plain, self.place, axis=1)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """The messages after the last iteration; a failure where a bit is equally likely 0 and 1.

        The code itself notices no wrong answer: LTE adds a checksum for that (`crc`).
        """
        batch = read_soft_words(received, self.n)
        message, decided = self._messages(batch)
        result = answer(self, batch, message, self._words(message), decided)
        return result.raised(self) if raise_on_failure else result

    def messages(self, received: Received) -> NDArray[np.uint8]:
        """The decoded messages alone, without the other fields of `Decoded`, for speed."""
        batch = read_soft_words(received, self.n)
        return batch.in_callers_shape(self._messages(batch)[0])

    def _messages(self, batch: SoftWords) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """The messages, and whether every bit of each was decided."""
        soft = np.zeros((3 * self.k + FLUSH, LANES), np.int16)
        work = np.empty((5, self.k, LANES), np.int16)
        alpha = np.empty((self.k + 1, 8 * LANES), np.int16)
        message = np.empty((batch.likelihoods.shape[0], self.k), np.uint8)
        decided = np.empty(message.shape[0], bool)
        factors, place = batch.factors(), self.place
        if len(self._rounds) > 1:
            batch, place = batch.gathered(place, self._rounds, soft.shape[0]), np.arange(soft.shape[0])
        for first in range(0, message.shape[0], LANES):
            lanes_of(batch, first, factors, place, soft, 127)
            rows = slice(first, first + LANES)
            turbo_lanes(soft, self.interleaver, self.iterations, work, alpha, message[rows], decided[rows])
        return message, decided
