"""The single parity-check code, which detects one wrong bit."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bruit.codes.word import Decoded, HardBits, Received, as_symbols, settle
from bruit.errors import InvalidArgument

MOST_BITS = 62  # with their parity they fit a whole number of 63 bits


@dataclass(frozen=True)
class Parity(HardBits):
    """One bit added to `bits` so that the number of ones is even.

    It notices any odd number of wrong bits, misses any even number, and corrects nothing. Values are numbers (the
    parity bit is put on the right, as the lowest bit) or texts of 0 and 1; what comes out is of the kind that came in.
    """

    bits: int = 7

    def __post_init__(self) -> None:
        settle(self, bits=(1, MOST_BITS))

    @property
    def n(self) -> int:
        """The length of a codeword in bits."""
        return self.bits + 1

    @property
    def k(self) -> int:
        """The number of message bits."""
        return self.bits

    @property
    def rate(self) -> Fraction:
        """The code rate, bits / (bits + 1)."""
        return Fraction(self.bits, self.bits + 1)

    @property
    def chance(self) -> Fraction:
        """The probability that random bits pass the check."""
        return Fraction(1, 2)

    def encode(self, messages: Received) -> NDArray[np.uint8]:
        """The codewords: each message followed by its parity bit."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        return np.concatenate([bits, np.bitwise_xor.reduce(bits, axis=-1, keepdims=True)], axis=-1)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """Even words as received; an odd word is a failure, as the wrong bit cannot be located."""
        word = as_symbols(received, self.n, symbols=2, what="received words")
        good = np.asarray(np.bitwise_xor.reduce(word, axis=-1) == 0)
        answer = Decoded(
            word[..., : self.k], word, word, np.zeros(good.shape, np.int64), good, np.ones(good.shape, np.int64)
        )
        return answer.raised(self) if raise_on_failure else answer

    def valid(self, values: Any) -> Any:
        """Whether the number of ones is even, over bits + 1 bits."""
        even = np.bitwise_count(self._numbers(values, self.bits + 1)) & 1 == 0
        return self._like(values, even)

    def complete(self, values: Any) -> Any:
        """The values with their parity bit on the right."""
        numbers = self._numbers(values, self.bits)
        whole = (numbers << 1) | (np.bitwise_count(numbers) & 1)
        if isinstance(values, str):
            return f"{int(whole[0]):0{self.bits + 1}b}"
        if isinstance(values, list | tuple) and values and isinstance(values[0], str):
            return [f"{number:0{self.bits + 1}b}" for number in whole.tolist()]
        return self._like(values, whole)

    def _numbers(self, values: Any, width: int) -> NDArray[Any]:
        """The values as whole numbers below 2^width, in one axis at least; small types stay small."""
        if isinstance(values, str):
            values = [values]
        if isinstance(values, list | tuple) and any(isinstance(value, str) for value in values):
            return np.array([self._read(value, width) for value in values], np.int64)
        array = values.to_numpy() if isinstance(values, pl.Series) else np.asarray(values)
        if array.dtype.kind not in "iu":
            raise InvalidArgument(f"values of type {array.dtype}: give whole numbers or texts of 0 and 1, none missing")
        limit = 1 << width
        if array.size and (int(array.min()) < 0 or int(array.max()) >= limit):
            raise InvalidArgument(f"values must lie from 0 to {limit - 1} to have {width} bits")
        roomy = width < 8 * array.dtype.itemsize or width > self.bits  # room for the bit that `complete` adds
        return np.atleast_1d(array if roomy else array.astype(np.int64))

    @staticmethod
    def _read(value: Any, width: int) -> int:
        if not isinstance(value, str) or len(value) != width or set(value) - {"0", "1"}:
            raise InvalidArgument(f"a text must hold {width} characters 0 or 1")
        return int(value, 2)

    @staticmethod
    def _like(values: Any, answer: NDArray[Any]) -> Any:
        if isinstance(values, pl.Series):
            return pl.Series(values.name, answer)
        if isinstance(values, np.ndarray) and values.ndim:
            return answer
        return answer.tolist() if isinstance(values, list | tuple) else answer[0].item()
