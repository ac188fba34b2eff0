"""The interface of all codes, and the checks of messages and received words.

Batch first: the last axis is the word, the axes before it count words; a single word is a one-dimensional array.
Integers are symbols. Floats are log-likelihoods log p(0)/p(1), for the codes whose `soft` is true.
"""

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.core.arguments import whole
from bruit.errors import DecodingFailure, InvalidArgument

Received = ArrayLike
"""What a caller may hand over: bytes, or anything NumPy reads as integers (symbols) or floats (log-likelihoods)."""


LARGEST: Final = (1 << 31) - 1
"""What a length or a count may be at most where a code states no bound of its own."""


@dataclass(frozen=True)
class Decoded:
    """The result of decoding: message, corrected word, number of changes and success for each received word.

    `message` and `word` have the word on their last axis; `corrected` (symbols changed), `decoded` and `checks`
    have one entry per word. A word that was not decoded is returned as it was received, with `corrected` 0.
    `checks` counts the parity checks that were left over to notice a wrong answer; with none left, none was noticed.
    """

    message: NDArray[Any]
    word: NDArray[Any]
    received: NDArray[Any]
    corrected: NDArray[np.int64]
    decoded: NDArray[np.bool_]
    checks: NDArray[np.int64] | None = None

    @property
    def positions(self) -> Any:
        """The indices of changed symbols: one array, or a list of arrays for a batch."""
        changed = self.word != self.received
        if changed.ndim == 1:
            return np.flatnonzero(changed)
        return [np.flatnonzero(row) for row in changed.reshape(-1, changed.shape[-1])]

    def raised(self, code: object) -> "Decoded":
        """Returns itself if every word was decoded, or raises a `DecodingFailure` that names the failed words."""
        good = np.atleast_1d(self.decoded).reshape(-1)
        if good.all():
            return self
        bad = np.flatnonzero(~good)
        raise DecodingFailure(
            f"{bad.size} of {good.size} words, the first at {bad[0]}, are beyond what {code} corrects; "
            "ask for raise_on_failure=False to see the others"
        )


@runtime_checkable
class Code(Protocol):
    """The interface of every code: k message symbols are sent as n, each with `symbols` values."""

    @property
    def n(self) -> int:
        """The length of a codeword in symbols."""

    @property
    def k(self) -> int:
        """The number of message symbols."""

    @property
    def rate(self) -> float | Fraction:
        """The code rate, k / n."""

    @property
    def symbols(self) -> int:
        """The size of the alphabet: 2 for a binary code."""

    @property
    def soft(self) -> bool:
        """Whether `decode` also takes log-likelihood ratios log p(0)/p(1)."""

    @property
    def fills_erasures(self) -> bool:
        """Whether `decode` takes `erasures`, the positions of symbols known to be lost."""

    def random_messages(self, words: int, rng: np.random.Generator) -> NDArray[Any]:
        """Uniformly random messages, `words` of them."""

    def encode(self, messages: Received, /) -> NDArray[Any]:
        """The codewords of the messages."""

    def decode(self, received: Received, /, *, raise_on_failure: bool = False) -> Decoded:
        """The most likely messages, as a `Decoded` result."""


class BlockWords:
    """The defaults of a code: it decodes hard symbols only, and no erasures."""

    @property
    def rate(self: Code) -> float | Fraction:
        """The code rate, k / n."""
        return self.k / self.n

    @property
    def soft(self) -> bool:
        """False: `decode` takes symbols, not log-likelihood ratios."""
        return False

    @property
    def fills_erasures(self) -> bool:
        """False: `decode` takes no erasures."""
        return False

    def random_messages(self: Code, words: int, rng: np.random.Generator) -> NDArray[Any]:
        """Uniformly random messages, `words` of them."""
        return rng.integers(0, self.symbols, (words, self.k), np.uint8 if self.symbols <= 256 else np.uint16)


class HardBits(BlockWords):
    """The base class of binary codes with hard-decision decoding only."""

    @property
    def symbols(self) -> int:
        """The size of the alphabet, 2."""
        return 2


class SoftBits(HardBits):
    """The base class of binary codes that can also decode log-likelihood ratios."""

    @property
    def soft(self) -> bool:
        """True: `decode` also takes log-likelihood ratios."""
        return True


def settle(code: Any, **spans: tuple[int | None, int | None]) -> None:
    """Checks the integer fields of a frozen code against their bounds, and stores them as Python integers.

    A field may be None where that is its default: it is left to the code.
    """
    optional = {field.name for field in fields(code) if field.default is None}
    for name, (least, most) in spans.items():
        value = getattr(code, name)
        if value is not None or name not in optional:
            bound = LARGEST if most is None and least is not None else most
            object.__setattr__(code, name, whole(value, name, least=least, most=bound))


def is_soft(received: Received) -> bool:
    """Whether the values are log-likelihood ratios (floats) rather than symbols (integers)."""
    return as_array(received, "received words").dtype.kind == "f"


def as_array(values: Received, what: str) -> NDArray[Any]:
    """An array of the values; bytes are symbols, and rows of unequal length are refused."""
    if isinstance(values, bytes | bytearray | memoryview):
        return np.frombuffer(values, np.uint8)
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InvalidArgument(f"{what} are no array: give words of one length each") from error


def as_symbols(values: Received, length: int, *, symbols: int, what: str) -> NDArray[Any]:
    """Checked symbols below `symbols`, `length` on the last axis, contiguous in the smallest unsigned type."""
    array = as_array(values, what)
    if array.dtype.kind not in "biu":
        raise InvalidArgument(f"{what} of type {array.dtype}: give whole numbers from 0 to {symbols - 1}")
    check_shape(array, length, what)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and symbols <= np.iinfo(array.dtype).max):
        low, high = int(array.min()), int(array.max())
        if low < 0 or high >= symbols:
            raise InvalidArgument(f"{what} hold symbols from {low} to {high}; this code has 0 to {symbols - 1}")
    return np.ascontiguousarray(array, np.uint8 if symbols <= 256 else np.uint16)


def as_log_likelihoods(values: ArrayLike, length: int, *, what: str = "log-likelihoods") -> NDArray[np.float64]:
    """Checked log-likelihood ratios, `length` on the last axis; infinities mean certainty, NaN is refused."""
    array = np.ascontiguousarray(as_array(values, what), np.float64)
    check_shape(array, length, what)
    if np.isnan(array).any():
        raise InvalidArgument(f"{what} hold NaN; give 0 for a bit of which nothing is known")
    return array


def check_shape(array: NDArray[Any], length: int, what: str) -> None:
    """Refuses an empty batch and words of another length."""
    if array.ndim == 0 or array.shape[-1] != length:
        raise InvalidArgument(f"{what} of shape {array.shape}: the last axis must hold {length} symbols, one word")
    if array.size == 0:
        raise InvalidArgument(f"{what} of shape {array.shape} hold no word; give at least one")


def erasure_flags(erasures: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Flags of lost symbols for words of this shape: given as such, as the places of one word, or not at all."""
    if erasures is None:
        return np.zeros(shape, bool)
    given = as_array(erasures, "erasures")
    if given.dtype == bool and given.shape == shape:
        return given
    if (given.dtype.kind not in "iu" and given.size) or not given.ndim == len(shape) == 1:
        raise InvalidArgument(
            f"erasures of type {given.dtype} and shape {given.shape}: give flags (bool) of shape {shape}, "
            "or the places of one word"
        )
    if given.size and (int(given.min()) < 0 or int(given.max()) >= shape[-1]):
        raise InvalidArgument(f"erasures={given.tolist()}: the places go from 0 to {shape[-1] - 1}")
    flags = np.zeros(shape, bool)
    flags[given.astype(np.int64)] = True
    return flags


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of the array: kernels are compiled for read-only input alone."""
    view = array.view()
    view.flags.writeable = False
    return view
