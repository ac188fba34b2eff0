"""Numbers with check digits as words of a code: symbols in place of characters."""

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.codes.word import BlockWords, Decoded, Received, as_symbols
from bruit.errors import InvalidArgument

DIGITS = "0123456789"


class CheckWords(BlockWords):
    """The base class that makes a check-digit scheme a code: it detects errors and corrects none.

    A symbol is the place of a character in `alphabet`.
    """

    alphabet: str = DIGITS

    @property
    @abstractmethod
    def check_places(self) -> tuple[int, ...]:
        """The indices of the check digits in a word."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The length of a word in characters."""

    @abstractmethod
    def complete(self, values: Any) -> Any:
        """Each value with its check digits put in."""

    @abstractmethod
    def valid(self, values: Any) -> Any:
        """Whether each value has valid check digits."""

    @property
    def k(self) -> int:
        """The number of message characters."""
        return self.n - len(self.check_places)

    @property
    def rate(self) -> Fraction:
        """The code rate, k / n."""
        return Fraction(self.k, self.n)

    @property
    def symbols(self) -> int:
        """The size of the alphabet."""
        return len(self.alphabet)

    @cached_property
    def _message_places(self) -> NDArray[np.int64]:
        return np.setdiff1d(np.arange(self.n), self.check_places)

    def encode(self, messages: Received) -> NDArray[np.uint8]:
        """The words of messages of k symbols, with their check digits inserted."""
        symbols = as_symbols(messages, self.k, symbols=self.symbols, what="messages")
        whole = self._complete_rows(self._characters(symbols.reshape(-1, self.k)))
        if not whole.all():
            raise InvalidArgument(f"messages hold characters that stand at no such place of {self}")
        places = np.full(256, len(self.alphabet), np.uint8)
        places[np.frombuffer(self.alphabet.encode(), np.uint8)] = np.arange(len(self.alphabet), dtype=np.uint8)
        return places[whole].reshape(*symbols.shape[:-1], self.n)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """Words with valid check digits, as received; the others are failures, since nothing is corrected."""
        word = as_symbols(received, self.n, symbols=self.symbols, what="received words")
        batch = word.shape[:-1]
        good = np.asarray(self.valid(self._characters(word.reshape(-1, self.n)))).reshape(batch)
        left = np.full(batch, len(self.check_places))
        answer = Decoded(word[..., self._message_places], word, word, np.zeros(batch, np.int64), good, left)
        return answer.raised(self) if raise_on_failure else answer

    def _complete_rows(self, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.asarray(self.complete(rows))

    def _characters(self, symbols: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Rows of character codes."""
        return np.frombuffer(self.alphabet.encode(), np.uint8)[symbols]
