"""The repetition code: each symbol is sent several times and decoded by majority vote."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.codes.soft import UNDECIDED
from bruit.codes.word import BlockWords, Decoded, Received, as_log_likelihoods, as_symbols, is_soft, settle
from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class Repetition(BlockWords):
    """Sends each of `k` symbols `times` times in a row, and decodes by majority vote.

    It corrects ⌊(times−1)/2⌋ errors per symbol at rate 1/times. Over a randomised response it is the composition
    attack: `times` answers of the same person cost times·ε, and the vote finds the truth.
    """

    times: int
    k: int = 1
    symbols: int = 2

    def __post_init__(self) -> None:
        settle(self, times=(1, None), k=(1, None), symbols=(2, 1 << 16))

    @property
    def n(self) -> int:
        """The length of a codeword in symbols."""
        return self.times * self.k

    @property
    def rate(self) -> float:
        """The code rate, 1 / times."""
        return 1 / self.times

    @property
    def soft(self) -> bool:
        """True for binary symbols, where summing log-likelihood ratios is optimal decoding."""
        return self.symbols == 2

    def encode(self, messages: Received) -> NDArray[Any]:
        """Every symbol `times` times in a row."""
        return np.repeat(as_symbols(messages, self.k, symbols=self.symbols, what="messages"), self.times, axis=-1)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """The symbol with most votes, or by the sign of the summed log-likelihood ratios; a tie is a failure.

        At a tie the smallest of the leading symbols stands in the message.
        """
        if is_soft(received):
            hard, message, tied = self._listen(received)
        else:
            hard = as_symbols(received, self.n, symbols=self.symbols, what="received words")
            message, tied = self._vote(hard)
        good = np.logical_not(tied.any(axis=-1, keepdims=True))
        word = np.where(good, np.repeat(message, self.times, axis=-1), hard)
        changed = (word != hard).sum(axis=-1, dtype=np.int64)
        answer = Decoded(message, word, hard, changed, good[..., 0], np.full(good.shape[:-1], self.n - self.k))
        return answer.raised(self) if raise_on_failure else answer

    def _vote(self, hard: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Winner and tie of every group, counting each group's votes for each of its own members."""
        groups = hard.reshape(*hard.shape[:-1], self.k, self.times)
        if self.symbols == 2:
            ones = groups.sum(axis=-1, dtype=np.int64)
            return (2 * ones > self.times).astype(hard.dtype), 2 * ones == self.times
        groups = np.sort(groups, axis=-1)
        votes = np.stack([(groups == groups[..., i : i + 1]).sum(axis=-1) for i in range(self.times)], axis=-1)
        best = votes.argmax(axis=-1)[..., None]
        leading = votes == np.take_along_axis(votes, best, axis=-1)
        winner = np.take_along_axis(groups, best, axis=-1)
        return winner[..., 0], (leading & (groups != winner)).any(axis=-1)

    def _listen(self, values: ArrayLike) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """Hard decisions, the decisions by summed log-likelihoods, and where the sum is a rounding of zero (a tie)."""
        if not self.soft:
            raise InvalidArgument(f"log-likelihoods are for two symbols, this code has {self.symbols}")
        likelihoods = as_log_likelihoods(values, self.n)
        with np.errstate(invalid="ignore"):  # +inf and −inf contradict each other: NaN, a tie
            groups = likelihoods.reshape(*likelihoods.shape[:-1], self.k, self.times)
            sums = groups.sum(axis=-1)
            left = UNDECIDED * np.where(np.isinf(groups), 0, np.abs(groups)).sum(axis=-1)
        return (likelihoods < 0).astype(np.uint8), (sums < 0).astype(np.uint8), ~(np.abs(sums) > left)
