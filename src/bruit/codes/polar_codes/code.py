"""Polar codes of power-of-two lengths, rate-matched to other lengths, with list decoding."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bruit.codes.checksums.cyclic import Crc
from bruit.codes.polar_codes import _kernels as kernels
from bruit.codes.polar_codes.construction import LONGEST, Construction, plan_of, reliability
from bruit.codes.soft import SoftWords, answer, read_soft_words, rounds_of
from bruit.codes.word import Decoded, Received, SoftBits, as_symbols, settle
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument

MOST_PATHS = 32  # the bits of all paths stand in one number


def _none() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Polar(SoftBits):
    """The polar code of words u·G, where u holds the message at the reliable `places` and 0 elsewhere. [Arıkan 2009]

    `places` says where each bit of message and checksum stands among the 2^m inputs, in that order; `sent` which of
    the 2^m coded bits go over the channel, in order, a place that comes twice being sent twice; `known` coded bits are
    0 whatever the message is. The decoder keeps the `paths` likeliest beginnings of a word and ends with the likeliest
    one whose checksum is right; one path is successive cancellation.                          [Tal & Vardy 2015]
    """

    length: int
    places: NDArray[np.int64]
    sent: NDArray[np.int64]
    known: NDArray[np.int64] = field(default_factory=_none)
    checks: Crc | None = None
    paths: int = 8
    name: str = "polar"

    def __post_init__(self) -> None:
        settle(self, length=(2, LONGEST), paths=(1, MOST_PATHS))
        if self.length & (self.length - 1):
            raise InvalidArgument(f"length={self.length}: a polar code has a power of two")

    def __repr__(self) -> str:
        return f"{self.name}({self.k}, {self.n}, paths={self.paths})"

    @property
    def n(self) -> int:
        """The length of a codeword in bits."""
        return int(self.sent.size)

    @property
    def k(self) -> int:
        """Bits of the message, without the checksum."""
        return int(self.places.size) - (0 if self.checks is None else self.checks.checks)

    @cached_property
    def _plan(self) -> NDArray[np.int64]:
        free = np.zeros(self.length, bool)
        free[self.places] = True
        return plan_of(free)

    @cached_property
    def _sends_all(self) -> bool:
        """Whether all coded bits are sent, once each and in order."""
        return np.array_equal(self.sent, np.arange(self.length))

    @cached_property
    def _rounds(self) -> list[NDArray[np.int64]]:
        return rounds_of(self.sent)

    @cached_property
    def _columns(self) -> NDArray[np.uint64]:
        return np.zeros(self.places.size, np.uint64) if self.checks is None else self.checks.columns

    def encode(self, messages: Received) -> NDArray[np.uint8]:
        """The codewords, which are not systematic (the message bits do not appear in them)."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        return self._words(bits.reshape(-1, self.k)).reshape(*bits.shape[:-1], self.n)

    def _words(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        word = np.zeros((bits.shape[0], self.length), np.uint8)
        word[:, self.places] = bits if self.checks is None else self.checks.encode(bits)
        kernels.transform(word)
        return word if self._sends_all else np.take(word, self.sent, axis=1)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """The likeliest listed message with a valid checksum; a failure where there is none, or a tie."""
        batch = read_soft_words(received, self.n)
        message = np.empty((batch.likelihoods.shape[0], self.places.size), np.uint8)
        decided = np.empty(message.shape[0], bool)
        kernels.decode_list(
            self._whole_word(batch), self._plan, self.paths, self.places, self._columns, message, decided
        )
        result = answer(self, batch, message[:, : self.k], self._words(message[:, : self.k]), decided)
        return result.raised(self) if raise_on_failure else result

    def _whole_word(self, batch: SoftWords) -> NDArray[np.float32]:
        """Log-likelihoods of all coded bits: sums where sent twice, 0 where not sent, beyond all others where known."""
        if self._sends_all and not self.known.size:
            return batch.likelihoods
        whole_word = np.zeros((batch.likelihoods.shape[0], self.length), np.float32)
        for part in self._rounds:
            whole_word[:, self.sent[part]] += batch.likelihoods[:, part]
        whole_word[:, self.known] = 1 + np.abs(batch.likelihoods).sum(axis=1, keepdims=True)
        return whole_word


def polar(
    k: int,
    n: int,
    *,
    construction: Construction = "5G",
    level: float = 0.5,
    polynomial: str | int | None = None,
    paths: int = 8,
) -> Polar:
    """The polar code with k message bits and n = 2^m, with a checksum where a `polynomial` is given (see `Crc`).

    The most reliable places carry message and checksum: by the order of 5G, for an erasure channel with loss `level`,
    or for a Gaussian one with a ratio of powers of `level`.
    """
    length = whole(n, "n", least=2, most=LONGEST)
    checks = None if polynomial is None else Crc(whole(k, "k"), polynomial)
    wanted = whole(k, "k") if checks is None else checks.n
    if length & (length - 1) or wanted > length:
        raise InvalidArgument(f"polar({k}, {n}): n must be a power of two, at least the {wanted} bits it carries")
    order = reliability(length, construction, level)
    return Polar(length, np.sort(order[-wanted:]), np.arange(length), checks=checks, paths=paths)
