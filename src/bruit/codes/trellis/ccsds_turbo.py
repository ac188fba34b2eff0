"""The turbo codes of spacecraft: 16 states, rates 1/2 to 1/6."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.codes.soft import UNDECIDED, SoftWords, answer, read_soft_words
from bruit.codes.trellis._log_map_kernels import LANES, STATES, log_map_pass
from bruit.codes.trellis.convolutional import Convolutional
from bruit.codes.word import Decoded, Received, SoftBits, as_symbols, settle
from bruit.core.arguments import one_of
from bruit.errors import InvalidArgument

FLUSH = 4
"""Steps that bring the registers back to 0."""

CHANCE = 4.0
"""At least so many deviations fewer parities are wrong than the half that an unrelated word has."""

SUREST = 80.0
"""Received log-likelihoods are clipped to this; a bit is then wrong with chance e^−80."""

SUREST_TOLD = 200.0
"""Extrinsic log-likelihoods, passed from one constituent decoder to the other, are clipped to this."""

SIZES = (1784, 3568, 7136, 8920)
BLOCK = 223
PRIMES = np.array([31, 37, 43, 47, 53, 59, 61, 67])

FEEDBACK = 0o23
FIRST, SECOND, THIRD = 0o33, 0o25, 0o37
PARITIES = {
    "1/2": ((FIRST,), (FIRST,)),
    "1/3": ((FIRST,), (FIRST,)),
    "1/4": ((SECOND, THIRD), (FIRST,)),
    "1/6": ((FIRST, SECOND, THIRD), (FIRST, THIRD)),
}
"""The parity generators of each of the two registers, by rate.          [CCSDS 131.0-B, Section 6.3, connections]"""


@dataclass(frozen=True)
class CcsdsTurbo(SoftBits):
    """The turbo code of k = 1784, 3568, 7136 or 8920 bits at rate "1/2", "1/3", "1/4" or "1/6".   [CCSDS 131.0-B]

    A word takes k + 4 steps. Each sends the message bit, the parities of the first register and those of the second,
    which reads the message in another order; at rate 1/2 one parity of the two in turn. Decoding takes log-MAP turns,
    so that log-likelihoods must be in their true scale.
    """

    k: int
    share: str = "1/2"
    iterations: int = 10

    def __post_init__(self) -> None:
        settle(self, k=(1, None), iterations=(1, None))
        if self.k not in SIZES:
            raise InvalidArgument(f"k={self.k}: the sizes are {', '.join(map(str, SIZES))}")
        one_of(self.share, "share", PARITIES)

    @property
    def steps(self) -> int:
        """Steps through the trellis, flushing included."""
        return self.k + FLUSH

    @property
    def n(self) -> int:
        """The length of a codeword in bits."""
        return int(self.place.size)

    @cached_property
    def interleaver(self) -> NDArray[np.int64]:
        """The second register reads bit `interleaver[i]` at step i.                  [CCSDS 131.0-B, Section 6.3]"""
        half, columns = 4, self.k // 8
        step = np.arange(self.k)
        odd, row = step % 2, step // (2 * columns)
        column = step // 2 - row * columns
        turned = (19 * row + 1) % half
        moved = (PRIMES[turned] * column + 21 * odd) % columns
        return np.asarray(2 * (turned + moved * half + 1) - odd - 1)

    @cached_property
    def registers(self) -> tuple[Convolutional, Convolutional]:
        """The two codes that see the message, the second one in another order."""
        first, second = (Convolutional(each, self.k, feedback=FEEDBACK) for each in PARITIES[self.share])
        return first, second

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """Where each sent bit stands in (1 + parities, steps): step by step, the message bit before the parities."""
        streams = 1 + sum(map(len, PARITIES[self.share]))
        every = np.arange(streams * self.steps).reshape(streams, self.steps).T
        if self.share != "1/2":
            return every.reshape(-1)
        step = np.arange(self.steps)
        return np.stack([every[:, 0], every[step, 1 + step % 2]], axis=1).reshape(-1)

    def encode(self, messages: Received) -> NDArray[Any]:
        """The codewords: the bits of each step in turn."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        return self._words(bits.reshape(-1, self.k)).reshape(*bits.shape[:-1], self.n)

    def _words(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        first, second = self.registers
        said = first.encode(bits).reshape(bits.shape[0], self.steps, -1)
        other = second.encode(bits[:, self.interleaver]).reshape(bits.shape[0], self.steps, -1)
        streams = np.concatenate([said, other[:, :, 1:]], axis=2).swapaxes(1, 2)
        return streams.reshape(bits.shape[0], -1)[:, self.place]

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """The message after the last iteration, or after the first in which both constituent decoders agree.

        A failure where they do not agree on every bit, or one is as likely 0 as 1, or where the parities fit what was
        heard little better than chance; the code itself notices no other wrong answer.
        """
        batch = read_soft_words(received, self.n)
        likely, agreed = self._posterior(batch)
        message = (likely < 0).astype(np.uint8)
        word = self._words(message)
        decided = agreed & (np.abs(likely).min(axis=1) > UNDECIDED) & self._fits(word, batch)
        result = answer(self, batch, message, word, decided)
        return result.raised(self) if raise_on_failure else result

    def _fits(self, word: NDArray[np.uint8], batch: SoftWords) -> NDArray[np.bool_]:
        """Whether the parities that differ from what was heard are nearer to those of a right word than to chance.

        A right word has as many as the log-likelihoods say, an unrelated one half of all. Where nearly nothing is
        heard, both decoders believe the message bits as they came, and agree.
        """
        parities = self.place >= self.steps
        heard = np.abs(batch.likelihoods[:, parities])
        count = np.count_nonzero(heard, axis=1)
        wrong = np.count_nonzero((word != batch.hard)[:, parities] & (heard != 0), axis=1)
        expected = (1 / (1 + np.exp(np.minimum(heard, SUREST)))).sum(axis=1, where=heard != 0)
        limit = np.minimum((expected + count / 2) / 2, count / 2 - CHANCE * np.sqrt(count) / 2)
        return np.asarray(wrong <= limit)

    def _posterior(self, batch: SoftWords) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The posterior log-likelihood ratios log p(0)/p(1) of the message bits (words, k), and who agreed on them."""
        words, streams = batch.likelihoods.shape[0], 1 + sum(map(len, PARITIES[self.share]))
        soft = np.zeros((streams * self.steps, LANES), np.float32)
        alpha = np.empty((self.steps + 1, STATES, LANES), np.float32)
        result, agreed = np.empty((words, self.k), np.float32), np.empty(words, bool)
        for first in range(0, words, LANES):
            group = batch.likelihoods[first : first + LANES]
            soft[:, group.shape[0] :] = 1  # unused words are clean, so that the group can stop
            soft[self.place, : group.shape[0]] = np.clip(group, -SUREST, SUREST).T
            likely, alike = self._turns(soft.reshape(streams, self.steps, LANES), alpha)
            result[first : first + LANES] = likely[:, : group.shape[0]].T
            agreed[first : first + LANES] = alike[: group.shape[0]]
        return result, agreed

    def _turns(
        self, soft: NDArray[np.float32], alpha: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The posterior of the message bits (k, LANES), each word's when both agree on it first, and who agreed.

        soft (1 + parities, steps, LANES) is what was heard: the message, the parities of both registers. The flushing
        bits of the second one are not sent.
        """
        order, first = self.interleaver, 1 + len(PARITIES[self.share][0])
        known, told = soft[0].copy(), np.zeros(soft.shape[1:], np.float32)
        posterior, other = np.empty(soft.shape[1:], np.float32), np.zeros(soft.shape[1:], np.float32)
        result, agreed = np.empty((self.k, LANES), np.float32), np.zeros(LANES, bool)
        for turn in range(self.iterations):
            log_map_pass(known, soft[1:first], self._branches[0], alpha, posterior)
            fresh = ~agreed & (turn > 0) & _alike(posterior[order], other[: self.k])
            result[:, fresh] = posterior[: self.k, fresh]
            agreed |= fresh
            if agreed.all():
                return result, agreed
            told[: self.k] = soft[0, order] + np.clip(posterior - known, -SUREST_TOLD, SUREST_TOLD)[order]
            log_map_pass(told, soft[first:], self._branches[1], alpha, other)
            known[order] = soft[0, order] + np.clip(other - told, -SUREST_TOLD, SUREST_TOLD)[: self.k]
        late, told[order] = ~agreed, other[: self.k]
        result[:, late] = told[: self.k, late]
        return result, agreed | _alike(posterior[: self.k], told[: self.k])

    @cached_property
    def _branches(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _branches(self.registers[0]), _branches(self.registers[1])


def _alike(posterior: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.bool_]:
    """In which words (lanes) both decide every bit alike."""
    return np.asarray(((posterior < 0) == (other < 0)).all(axis=0))


def _branches(register: Convolutional) -> NDArray[np.int64]:
    """The message bit and twice the parity bits of each (state, new bit)."""
    masks = register.trellis.masks
    registers = np.arange(2 * STATES).reshape(STATES, 2)
    said = [np.bitwise_count(registers & mask).astype(np.int64) & 1 for mask in masks]
    return np.asarray(sum(bit << q for q, bit in enumerate(said)))
