"""RaptorQ as a code of bytes: any k of its n symbols, and seldom a few more, give the message back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.codes.fountain.block import MOST_NUMBERS, MOST_SYMBOLS, Arrived, decode_block, repair_symbols
from bruit.codes.word import BlockWords, Decoded, Received, as_symbols, erasure_flags, settle
from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class RaptorQ(BlockWords):
    """k source bytes sent as n: the message itself, then n − k repair symbols.                        [RFC 6330]

    It fills in losses and corrects no errors; a word that contradicts itself is a failure. n may be as large as 2^24.
    From as many symbols as the message has it fails about once in 170 words, from one more once in 8000 (measured).
    Words that lost the same symbols are decoded together. For files in packets, see `RaptorQFile`.

    >>> code = RaptorQ(10, 15)
    >>> word = code.encode(bytes(range(10)))
    >>> lost = np.arange(15) < 4
    >>> code.decode(np.where(lost, 0, word), erasures=lost).message.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    k: int
    n: int

    def __post_init__(self) -> None:
        settle(self, k=(1, MOST_SYMBOLS), n=(2, MOST_NUMBERS))
        if self.n <= self.k:
            raise InvalidArgument(f"RaptorQ({self.k}, {self.n}): the message must be shorter than the word")

    @property
    def symbols(self) -> int:
        """The size of the alphabet, 256."""
        return 256

    @property
    def fills_erasures(self) -> bool:
        """True: `decode` takes the places of lost symbols."""
        return True

    def encode(self, messages: Received) -> NDArray[np.uint8]:
        """Messages of k bytes, each followed by its n − k repair symbols."""
        source = as_symbols(messages, self.k, symbols=256, what="messages")
        return self._words(source.reshape(-1, self.k)).reshape(*source.shape[:-1], self.n)

    def _words(self, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.hstack([rows, repair_symbols(rows.T, np.arange(self.k, self.n)).T])

    def decode(
        self, received: Received, *, erasures: ArrayLike | None = None, raise_on_failure: bool = False
    ) -> Decoded:
        """Recovers the messages from the symbols that arrived, or reports that too many were lost.

        `erasures` marks the symbols known to be lost: flags of the shape of `received`, or for one word their places.
        """
        symbols = as_symbols(received, self.n, symbols=256, what="received words")
        rows = symbols.reshape(-1, self.n)
        lost = erasure_flags(erasures, symbols.shape).reshape(-1, self.n)
        word, good = rows.copy(), np.zeros(rows.shape[0], bool)
        patterns, kind = np.unique(np.packbits(lost, axis=1), axis=0, return_inverse=True)
        for pattern in range(patterns.shape[0]):
            alike = np.flatnonzero(kind.reshape(-1) == pattern)
            word[alike], good[alike] = self._decode_alike(rows[alike], lost[alike[0]])
        answer = self._answer(symbols, word, good, lost)
        return answer.raised(self) if raise_on_failure else answer

    def _decode_alike(
        self, rows: NDArray[np.uint8], lost: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Words that lost the same symbols, and which of them were decoded, whatever the others hold."""
        numbers = np.flatnonzero(~lost)
        source = np.empty((self.k, rows.shape[0]), np.uint8)
        if not decode_block(source, Arrived(numbers, numbers, np.ascontiguousarray(rows.T)), consistent=False):
            return rows, np.zeros(rows.shape[0], bool)
        words = self._words(source.T)
        good = (words[:, numbers] == rows[:, numbers]).all(axis=1)
        return np.where(good[:, None], words, rows), good

    def _answer(
        self, received: NDArray[np.uint8], word: NDArray[np.uint8], good: NDArray[np.bool_], lost: NDArray[np.bool_]
    ) -> Decoded:
        leading = received.shape[:-1]
        word = word.reshape(received.shape)
        corrected = np.asarray(np.count_nonzero(word != received, axis=-1))
        left = np.maximum(self.n - self.k - np.count_nonzero(lost, axis=1), 0).reshape(leading)
        return Decoded(word[..., : self.k], word, received, corrected[()], good.reshape(leading)[()], left)
