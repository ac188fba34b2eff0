"""Convolutional codes: a shift register sends several combinations of each bit and the bits before it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bruit.codes.soft import UNDECIDED, SoftWords, answer, read_soft_words
from bruit.codes.trellis._trellis_kernels import encode_words
from bruit.codes.trellis.bcjr import posterior
from bruit.codes.trellis.trellis import Trellis, checked_generators
from bruit.codes.trellis.viterbi import best_circles, best_path, is_short_circle
from bruit.codes.word import Decoded, Received, SoftBits, as_symbols, settle
from bruit.core.arguments import one_of, shown
from bruit.errors import InvalidArgument

SMALLEST_LEAD = 1e-6
"""A word leads another by less than this share of a typical bit: a rounding of float32, so neither leads."""

Ending = Literal["zero", "open", "bitten"]
Decoder = Literal["viterbi", "bcjr", "max-log"]


@dataclass(frozen=True)
class Convolutional(SoftBits):
    """A convolutional code for `k` message bits, its generators written in octal: (0o171, 0o133).

    With `feedback` the code is recursive and systematic: the message itself is the first output and `generators` are
    the parities, each divided by the feedback. `ending` says how the register is left: flushed to "zero" (costs
    K − 1 steps), "open", or "bitten", where it starts as it will end. `puncture` has one string of 0 and 1 per
    output, repeated along the word: a bit under 0 is not sent. "viterbi" finds the most likely word, "bcjr" the most
    likely value of each bit, and "max-log" is its cheaper approximation.       [Viterbi 1967; Bahl et al. 1974]
    """

    generators: tuple[int, ...]
    k: int
    feedback: int = 0
    ending: Ending = "zero"
    puncture: tuple[str, ...] | None = None
    decoder: Decoder = "viterbi"

    def __post_init__(self) -> None:
        object.__setattr__(self, "generators", checked_generators(self.generators))
        settle(self, k=(1, None), feedback=(0, None))
        one_of(self.ending, "ending", get_args(Ending))
        one_of(self.decoder, "decoder", get_args(Decoder))
        if self.feedback and self.feedback.bit_length() < self.trellis.length:
            raise InvalidArgument(f"feedback={oct(self.feedback)}: it must be as long as the longest generator")
        self._check_bitten()
        self._check_puncture()

    def _check_bitten(self) -> None:
        memory = self.trellis.memory
        if self.ending == "bitten" and (self.feedback or self.k < memory):
            raise InvalidArgument(
                f"ending='bitten' (tail-biting) is for codes without feedback and at least {memory} message bits"
            )

    def _check_puncture(self) -> None:
        rows = self.puncture
        if rows is None:
            return
        texts = isinstance(rows, tuple | list) and all(isinstance(row, str) and row for row in rows)
        alike = texts and len(rows) == self.trellis.outputs and len({len(row) for row in rows}) == 1
        if not alike or set("".join(rows)) - {"0", "1"} or self.place.size < self.k:
            raise InvalidArgument(
                f"puncture={shown(rows)}: give {self.trellis.outputs} strings of 0 and 1 of one length that keep k bits"
            )
        object.__setattr__(self, "puncture", tuple(rows))

    @cached_property
    def trellis(self) -> Trellis:
        """The trellis of the code; a recursive code uses that of the feed-forward code (feedback, parities)."""
        return Trellis((self.feedback, *self.generators) if self.feedback else self.generators)

    @property
    def steps(self) -> int:
        """The number of trellis steps, termination included."""
        return self.k + (self.trellis.memory if self.ending == "zero" else 0)

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """Where each sent bit stands in the word before puncturing."""
        every = np.arange(self.steps * self.trellis.outputs)
        if self.puncture is None:
            return every
        kept = np.array([[int(c) for c in row] for row in self.puncture], bool).T.reshape(-1)
        return every[np.resize(kept, every.size)]

    @property
    def n(self) -> int:
        """The length of a codeword in bits."""
        return int(self.place.size)

    def encode(self, messages: Received) -> NDArray[Any]:
        """The coded bits of all outputs, step by step, without the punctured ones."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        return self._words(bits.reshape(-1, self.k)).reshape(*bits.shape[:-1], self.n)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """The most likely message; a failure where another is equally likely, as after too many erasures.

        The code itself notices no wrong answer. Finding out whether there is another takes Viterbi a second pass.
        """
        batch = read_soft_words(received, self.n)
        if self.decoder == "viterbi":
            result = answer(self, batch, *self._likeliest(batch))
        else:
            message, decided = self._by_posterior(batch, exact=self.decoder == "bcjr")
            result = answer(self, batch, message, self._words(message), decided)
        return result.raised(self) if raise_on_failure else result

    def _likeliest(self, batch: SoftWords) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.bool_]]:
        """Messages, words, and whether they are likelier than all others.

        Viterbi counts in whole numbers. Where two paths come out equal although bits were unequally sure, the word is
        read again in finer ones.
        """
        path, other = best_path(self, batch), best_path(self, batch, mirrored=True)
        message, decided = np.ascontiguousarray(self._message_of(path)), (path == other).all(axis=1)
        if not decided.all() and (unsure := np.flatnonzero(~decided & ~batch.two_valued)).size:
            message[unsure], decided[unsure] = self._read_again(batch.chosen(unsure))
        return message, self._words(message), decided

    def _read_again(self, batch: SoftWords) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """The likeliest messages, and whether no other is as likely, slowly and in finer numbers than Viterbi's."""
        if not is_short_circle(self):
            return self._by_posterior(batch, exact=False)
        path, other = (best_circles(self, batch, mirrored=mirrored) for mirrored in (False, True))
        return self._message_of(path), (path == other).all(axis=1)

    def _by_posterior(self, batch: SoftWords, *, exact: bool) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """The most likely value of each bit, and whether all bits of a word are decided."""
        likely = posterior(self, batch if exact else batch.normalised(), exact=exact)
        return (likely < 0).astype(np.uint8), np.abs(likely).min(axis=1) > (UNDECIDED if exact else SMALLEST_LEAD)

    def messages(self, received: Received) -> NDArray[np.uint8]:
        """The decoded messages alone, without the other fields of `Decoded`, for speed."""
        batch = read_soft_words(received, self.n)
        return batch.in_callers_shape(self._messages(batch))

    def posterior(self, received: Received) -> NDArray[np.float64]:
        """The posterior log-likelihood ratios log p(0)/p(1) of the message bits."""
        batch = read_soft_words(received, self.n)
        return batch.in_callers_shape(posterior(self, batch, exact=self.decoder != "max-log"))

    def _messages(self, batch: SoftWords) -> NDArray[np.uint8]:
        if self.decoder != "viterbi":
            return (posterior(self, batch, exact=self.decoder == "bcjr") < 0).astype(np.uint8)
        return self._message_of(best_path(self, batch))

    def _message_of(self, path: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The message of a path of register bits."""
        if not self.feedback:
            return path[:, : self.k]
        return self._encode_bits(path, feedback=0)[:, : self.k * self.trellis.outputs : self.trellis.outputs]

    def _words(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        coded = self._encode_bits(bits, feedback=self.trellis.masks[0] if self.feedback else 0)
        return coded if self.puncture is None else np.take(coded, self.place, axis=1)

    def _encode_bits(self, bits: NDArray[np.uint8], *, feedback: int) -> NDArray[np.uint8]:
        memory, outputs = self.trellis.memory, self.trellis.outputs
        start = np.zeros(bits.shape[0], np.int64)
        if self.ending == "bitten":
            start = bits[:, : -memory - 1 : -1].astype(np.int64) @ (1 << np.arange(memory))
        coded = np.empty((bits.shape[0], self.steps * outputs), np.uint8)
        bits = np.ascontiguousarray(bits)
        encode_words(bits, feedback, self.trellis.patterns, outputs, start, min(self.k, bits.shape[1]), coded)
        return coded
