"""Convolutional codes: a shift register that says every bit several times, mixed with the bits before it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bruit.codes._trellis_kernels import encode_words
from bruit.codes.bcjr import posterior
from bruit.codes.soft import Heard, answer, hear
from bruit.codes.trellis import Trellis
from bruit.codes.viterbi import best_path
from bruit.codes.word import Decoded, Received, SoftBits, as_symbols
from bruit.errors import InvalidArgument

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
        object.__setattr__(self, "generators", tuple(self.generators))
        if self.k < 1:
            raise InvalidArgument(f"k={self.k}: a message has at least one bit")
        if self.ending not in ("zero", "open", "bitten"):
            raise InvalidArgument(f"ending={self.ending!r}: give 'zero', 'open' or 'bitten'")
        if self.decoder not in ("viterbi", "bcjr", "max-log"):
            raise InvalidArgument(f"decoder={self.decoder!r}: give 'viterbi', 'bcjr' or 'max-log'")
        if self.feedback and self.feedback.bit_length() < self.trellis.length:
            raise InvalidArgument(f"feedback={oct(self.feedback)}: it must be as long as the longest generator")
        self._check_bitten()
        self._check_puncture()

    def _check_bitten(self) -> None:
        memory = self.trellis.memory
        if self.ending == "bitten" and (self.feedback or self.k < memory):
            raise InvalidArgument(f"a bitten tail needs no feedback and at least {memory} message bits")

    def _check_puncture(self) -> None:
        rows = self.puncture
        if rows is None:
            return
        shaped = len(rows) == self.trellis.outputs and len({len(row) for row in rows}) == 1 and len(rows[0]) > 0
        if not shaped or set("".join(rows)) - {"0", "1"} or self.place.size < self.k:
            raise InvalidArgument(
                f"puncture={rows}: give {self.trellis.outputs} strings of 0 and 1 of one length that keep k bits"
            )

    @cached_property
    def trellis(self) -> Trellis:
        """The register; a recursive code runs through the words of the feed-forward code (feedback, parities)."""
        return Trellis((self.feedback, *self.generators) if self.feedback else self.generators)

    @property
    def steps(self) -> int:
        """Steps through the trellis."""
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
        """Bits sent."""
        return int(self.place.size)

    def encode(self, messages: Received) -> NDArray[Any]:
        """The bits of the outputs in turn, step by step, without the punctured ones."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        return self._words(bits.reshape(-1, self.k)).reshape(*bits.shape[:-1], self.n)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """The most likely message; a trellis decoder always answers, so that nothing is ever refused."""
        heard = hear(received, self.n)
        message = self._messages(heard)
        result = answer(heard, message, self._words(message), np.ones(message.shape[0], bool))
        return result.raised(self) if raise_on_failure else result

    def messages(self, received: Received) -> NDArray[np.uint8]:
        """The decoded messages alone, for speed."""
        heard = hear(received, self.n)
        return heard.shaped(self._messages(heard))

    def posterior(self, received: Received) -> NDArray[np.float64]:
        """What is known, log p(0)/p(1), of every message bit given all that was received."""
        heard = hear(received, self.n)
        return heard.shaped(posterior(self, heard, exact=self.decoder != "max-log"))

    def _messages(self, heard: Heard) -> NDArray[np.uint8]:
        if self.decoder != "viterbi":
            return (posterior(self, heard, exact=self.decoder == "bcjr") < 0).astype(np.uint8)
        path = best_path(self, heard)
        if not self.feedback:
            return path[:, : self.k]
        return self._coded(path, feedback=0)[:, : self.k * self.trellis.outputs : self.trellis.outputs]

    def _words(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        coded = self._coded(bits, feedback=self.trellis.masks[0] if self.feedback else 0)
        return coded if self.puncture is None else coded[:, self.place]

    def _coded(self, bits: NDArray[np.uint8], *, feedback: int) -> NDArray[np.uint8]:
        memory, outputs = self.trellis.memory, self.trellis.outputs
        start = np.zeros(bits.shape[0], np.int64)
        if self.ending == "bitten":
            start = bits[:, : -memory - 1 : -1].astype(np.int64) @ (1 << np.arange(memory))
        coded = np.empty((bits.shape[0], self.steps * outputs), np.uint8)
        bits = np.ascontiguousarray(bits)
        encode_words(bits, feedback, self.trellis.patterns, outputs, start, min(self.k, bits.shape[1]), coded)
        return coded
