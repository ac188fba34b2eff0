"""What a soft decoder hears: log-likelihoods log p(0)/p(1), in the small whole numbers its kernels count with."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.codes._soft_kernels import quantise
from bruit.codes.word import Decoded, Received, as_symbols, check_shape, is_soft
from bruit.errors import InvalidArgument

LEVEL = 24.0
"""What a log-likelihood of typical size becomes: the decoders lose under 0.02 dB against floats at this grain."""

CERTAIN = 8.0
"""An infinite log-likelihood counts as this many times the typical one."""


@dataclass(frozen=True)
class Heard:
    """A batch of received words: log-likelihoods (words, n), hard decisions, and the caller's leading axes."""

    likelihoods: NDArray[np.float32]
    leading: tuple[int, ...]

    @property
    def hard(self) -> NDArray[np.uint8]:
        """The bit each log-likelihood favours."""
        return (self.likelihoods < 0).view(np.uint8)

    def shaped(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows of the batch under the caller's leading axes."""
        return rows.reshape(self.leading + rows.shape[1:])

    def factors(self, level: float = LEVEL) -> NDArray[np.float32]:
        """For each word the factor that brings its root mean square to `level`, so that no word sees its neighbours."""
        values = self.likelihoods
        power = np.einsum("ij,ij->i", values, values) / values.shape[1]
        return (level / np.sqrt(np.where(power > 0, power, 1))).astype(np.float32)


def hear(received: Received, n: int) -> Heard:
    """Log-likelihoods of received words: floats as they are, bits as plus or minus one."""
    if not is_soft(received):
        bits = as_symbols(received, n, symbols=2, what="received words")
        return Heard((1 - 2 * bits.reshape(-1, n).astype(np.float32)).astype(np.float32), bits.shape[:-1])
    array = np.asarray(received)
    check_shape(array, n, "log-likelihoods")
    with np.errstate(over="ignore"):  # what is too large for a float32 is certain
        values = np.ascontiguousarray(array, np.float32).reshape(-1, n)
    low, high = values.min(), values.max()  # both are NaN when any value is
    if np.isnan(low):
        raise InvalidArgument("log-likelihoods hold NaN; give 0 for a bit of which nothing is known")
    if not (np.abs(low) < 1e18 and np.abs(high) < 1e18):  # squares would overflow
        values = _tamed(values)
    return Heard(values, array.shape[:-1])


def _tamed(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Infinities replaced, word by word, by what is certain beside the finite ones."""
    finite = np.abs(values) < 1e18
    typical = np.abs(np.where(finite, values, 0)).sum(axis=1, dtype=np.float64) / np.maximum(finite.sum(axis=1), 1)
    bound = (CERTAIN * np.where(typical > 0, typical, 1)).astype(np.float32)[:, None]
    return np.where(finite, values, np.sign(values) * bound).astype(np.float32)


def lanes_of(
    heard: Heard, first: int, factors: NDArray[np.float32], place: NDArray[np.int64], out: NDArray[np.int16], limit: int
) -> int:
    """Writes the words from `first` on as whole numbers, one word per column of `out`; returns how many."""
    used: int = min(out.shape[1], heard.likelihoods.shape[0] - first)
    quantise(heard.likelihoods[first : first + used], factors[first : first + used], place, np.float32(limit), out)
    return used


def answer(heard: Heard, message: NDArray[np.uint8], word: NDArray[np.uint8], decoded: NDArray[np.bool_]) -> Decoded:
    """The common report of the soft decoders; a word that was not decoded is given back as it was heard."""
    hard = heard.hard
    word = word if decoded.all() else np.where(decoded[:, None], word, hard)
    corrected = np.count_nonzero(word != hard, axis=1).astype(np.int64)
    return Decoded(
        heard.shaped(message),
        heard.shaped(word),
        heard.shaped(hard),
        heard.shaped(corrected)[()],
        heard.shaped(decoded)[()],
    )
