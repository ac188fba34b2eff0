"""Input of the soft decoders: log-likelihood ratios log p(0)/p(1), and their quantisation for the kernels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.codes._soft_kernels import are_two_valued, largest_size, quantise, scale_words
from bruit.codes.word import Code, Decoded, Received, as_array, as_symbols, check_shape, is_soft
from bruit.errors import InvalidArgument

LEVEL = 24.0
"""The integer that a log-likelihood of typical size becomes; decoders lose under 0.02 dB against floats."""

CERTAIN = 8.0
"""An infinite log-likelihood counts as this many times the largest finite one."""

FINITE = 1e18
"""Log-likelihoods beyond this count as infinite, since their squares would overflow."""


FAR = 1e4
"""A log-likelihood so many times the typical one says all: sums of float32 numbers up to it are exact in float64."""

UNDECIDED = 1e-9
"""A log-likelihood no further from 0 than this says nothing: what rounding leaves of a sum that cancels."""


@dataclass(frozen=True)
class SoftWords:
    """A batch of received words: log-likelihood ratios (words, n), and the leading axes of the caller's array.

    `certain` marks the bits whose log-likelihood was infinite; None where there was none. `plain` says that bits were
    given, all equally sure.
    """

    likelihoods: NDArray[np.float32]
    leading: tuple[int, ...]
    certain: NDArray[np.bool_] | None = None
    plain: bool = False

    @property
    def two_valued(self) -> NDArray[np.bool_]:
        """A mask of the words whose bits are all equally reliable or erased, as from a binary symmetric channel."""
        alike = np.empty(self.likelihoods.shape[0], bool)
        are_two_valued(self.likelihoods, alike)
        return alike

    @property
    def hard(self) -> NDArray[np.uint8]:
        """The hard decisions: the bit that each log-likelihood ratio favours."""
        return (self.likelihoods < 0).view(np.uint8)

    def chosen(self, words: NDArray[Any]) -> "SoftWords":
        """The chosen words of the batch, as they would be read alone."""
        certain = None if self.certain is None else self.certain[words]
        return SoftWords(self.likelihoods[words], (), certain, self.plain)

    def in_callers_shape(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows of the batch, reshaped to the leading axes of the array that the caller gave."""
        return rows.reshape(self.leading + rows.shape[1:])

    def gathered(self, places: NDArray[np.int64], rounds: list[NDArray[np.int64]], size: int) -> "SoftWords":
        """Words of `size` bits: 0 where nothing was sent, the sum where a bit was sent twice; see `rounds_of`."""
        whole = np.zeros((self.likelihoods.shape[0], size), np.float32)
        for part in rounds:
            whole[:, places[part]] += self.likelihoods[:, part]
        return SoftWords(whole, ())

    def normalised(self) -> "SoftWords":
        """Words whose typical log-likelihood is 1 and none beyond FAR, for decoders that need no true scale."""
        values = self.likelihoods.astype(np.float64)
        sizes = np.array([typical_size(word) for word in values])[:, None]
        return SoftWords(np.clip(values / sizes, -FAR, FAR).astype(np.float32), self.leading, self.certain)

    def factors(self, level: float = LEVEL) -> NDArray[np.float32]:
        """For each word, the factor that scales its root mean square to `level` (independent of other words).

        Certain bits do not count. Where a few bits are so much surer than the others that these would be rounded to
        nothing, no bit counts more than CERTAIN times the typical one.
        """
        values = self.likelihoods if self.certain is None else np.where(self.certain, np.float32(0), self.likelihoods)
        factors = np.empty(values.shape[0], np.float32)
        if scale_words(values, np.float32(level), factors):
            for word in np.flatnonzero(factors == 0):
                factors[word] = _factor_of_typical(values[word], level)
        return factors


def typical_size(values: NDArray[Any]) -> float:
    """The median size of what was heard of a word, 1 where that is nothing."""
    sizes = np.abs(values[values != 0])
    return float(np.median(sizes)) if sizes.size else 1.0


def _factor_of_typical(values: NDArray[np.float32], level: float) -> float:
    """The factor that scales the root mean square of a word to `level` after its outliers were cut."""
    if not values.any():
        return level / CERTAIN
    heard = values[values != 0].astype(np.float64)
    cut = np.minimum(np.abs(heard), CERTAIN * typical_size(heard))
    return min(level / float(np.sqrt(np.mean(cut**2))), float(np.finfo(np.float32).max))


def read_soft_words(received: Received, n: int) -> SoftWords:
    """Received words as log-likelihood ratios: floats unchanged, bits as plus or minus one."""
    if not is_soft(received):
        bits = as_symbols(received, n, symbols=2, what="received words")
        signs = (1 - 2 * bits.reshape(-1, n).astype(np.float32)).astype(np.float32)
        return SoftWords(signs, bits.shape[:-1], plain=True)
    array = as_array(received, "log-likelihoods")
    check_shape(array, n, "log-likelihoods")
    with np.errstate(over="ignore"):  # what is too large for a float32 is certain
        values = np.ascontiguousarray(array, np.float32).reshape(-1, n)
    largest = np.int32(largest_size(values.reshape(-1).view(np.int32))).view(np.float32)
    if np.isnan(largest):
        raise InvalidArgument("log-likelihoods hold NaN; give 0 for a bit of which nothing is known")
    if largest < FINITE:
        return SoftWords(values, array.shape[:-1])
    certain = np.abs(values) >= FINITE
    return SoftWords(_tame(values, ~certain), array.shape[:-1], certain)


def _tame(values: NDArray[np.float32], finite: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Replaces infinite log-likelihoods by CERTAIN times the largest finite one of their word."""
    largest = np.abs(np.where(finite, values, 0)).max(axis=1)
    bound = (CERTAIN * np.where(largest > 0, largest, 1)).astype(np.float32)[:, None]
    return np.where(finite, values, np.sign(values) * bound).astype(np.float32)


def rounds_of(sent: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The indices of sent bits, split into rounds of first, second, … transmissions of each bit."""
    order = np.argsort(sent, kind="stable")
    ordered = sent[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    coming = np.empty(sent.size, np.int64)
    coming[order] = np.arange(sent.size) - np.repeat(first, np.diff(np.append(first, sent.size)))
    return [np.flatnonzero(coming == part) for part in range(int(coming.max()) + 1)]


def lanes_of(
    batch: SoftWords,
    first: int,
    factors: NDArray[np.float32],
    place: NDArray[np.int64],
    out: NDArray[np.int16],
    limit: int,
) -> int:
    """Quantises a group of words into `out`, one word a column, and returns how many words there were."""
    used: int = min(out.shape[1], batch.likelihoods.shape[0] - first)
    quantise(batch.likelihoods[first : first + used], factors[first : first + used], place, np.float32(limit), out)
    return used


def answer(
    code: Code, batch: SoftWords, message: NDArray[np.uint8], word: NDArray[np.uint8], decided: NDArray[np.bool_]
) -> Decoded:
    """The `Decoded` result of a soft decoder; failed words are returned as their hard decisions.

    A word counts as decoded where every bit was `decided` and none contradicts a bit that was certain, and where what
    was heard is a word without an error.
    """
    hard = batch.hard
    decoded = decided if batch.certain is None else decided & ~((word != hard) & batch.certain).any(axis=1)
    if not decoded.all():
        word = np.where(decoded[:, None], word, hard)
        message, decoded = _with_clean_words(code, batch, message, decoded)
    corrected = np.count_nonzero(word != hard, axis=1).astype(np.int64)
    return Decoded(
        batch.in_callers_shape(message),
        batch.in_callers_shape(word),
        batch.in_callers_shape(hard),
        batch.in_callers_shape(corrected)[()],
        batch.in_callers_shape(decoded)[()],
    )


def _with_clean_words(
    code: Code, batch: SoftWords, message: NDArray[np.uint8], decoded: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Decodes the failed words all of whose bits were heard and are a codeword: no other can be as likely.

    Decoders that count in steps, or need the true scale, miss some of them where bits were very unequally sure.
    """
    heard = np.flatnonzero(~decoded & (batch.likelihoods != 0).all(axis=1))
    if batch.plain or not heard.size:
        return message, decoded
    found = code.decode(batch.hard[heard])
    clean = found.decoded & (found.corrected == 0)
    message, decoded = message.copy(), decoded.copy()
    message[heard[clean]], decoded[heard[clean]] = found.message[clean], True
    return message, decoded
