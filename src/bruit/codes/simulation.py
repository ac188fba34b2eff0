"""Monte Carlo word error rates of a code over a channel, run until enough failures are seen."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
import polars
import scipy
from numpy.typing import NDArray

from bruit import sweeps
from bruit.channels import ContinuousChannel, ErasureChannel, FiniteChannel, erasure, gaussian, symmetric
from bruit.codes.limits import KINDS, Kind
from bruit.codes.word import Code, Decoded
from bruit.core.arguments import number, one_of, shown, whole
from bruit.errors import InvalidArgument

BATCH_BITS = 1 << 18
"""Bits sent at a time, about; the words are rounded up to whole groups of 64, as decoders take them side by side."""

CONFIDENCE = 0.95
AnyChannel = FiniteChannel | ContinuousChannel
Family = Kind | Callable[[float], AnyChannel]
"""A family of channels by name, or a function from a level to a channel."""


def simulate(
    code: Code,
    channel: Family,
    levels: Sequence[float],
    *,
    word_errors: int = 100,
    words: int = 1_000_000,
    rng: np.random.Generator | None = None,
    workers: int = 1,
    file: str | PathLike[str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> polars.DataFrame:
    """One row per noise level: words sent, words decoded wrongly, and error rates with 95 % intervals.

    Each level sends random messages until `word_errors` of them were wrong, or `words` were sent. Levels are Eb/N0 in
    dB ("gaussian"), the chance of an error ("symmetric") or of a loss ("erasure"), or ε ("randomised response").
    `undetected` counts the wrong words that the decoder did not report; an interval is the exact one of Clopper and
    Pearson for the words sent, which stopping at a count of errors makes only slightly too hopeful. With `file` a
    stopped simulation goes on where it was; `on_progress` is told how many levels are done.
    """
    _check(code, channel, word_errors, words)
    one = partial(_level, code=code, family=channel, word_errors=word_errors, words=words)
    grid = {"level": _checked_levels(levels)}
    frame = sweeps.run(one, grid, repeats=1, rng=rng, workers=workers, file=file, on_progress=on_progress)
    return _with_rates(frame.drop("repeat"), code)


def channel_at(family: Family, level: float, code: Code) -> AnyChannel:
    """The channel of a family at a noise level, for the alphabet and rate of a code."""
    if not isinstance(family, str):
        return family(level)
    if family == "gaussian":
        return gaussian(snr=2 * float(code.rate) * 10 ** (level / 10))
    if family == "symmetric":
        return symmetric(code.symbols, error=level)
    if family == "erasure":
        return erasure(code.symbols, loss=level)
    return symmetric(code.symbols, epsilon=level)


def received_through(
    code: Code, channel: AnyChannel, words: NDArray[Any], *, rng: np.random.Generator | None = None
) -> Decoded:
    """Sends words over the channel and decodes them, by soft decisions where the code supports them.

    Larger symbols cross a Gaussian channel bit by bit, the highest bit first.
    """
    if isinstance(channel, ContinuousChannel):
        bits = words if code.symbols == 2 else _bits_of(words, code.symbols)
        received = channel.send(1.0 - 2.0 * bits, rng=rng)
        if code.soft:
            return code.decode(channel.log_likelihood(received))
        hard = (received < 0).astype(np.uint8)
        return code.decode(hard if code.symbols == 2 else _symbols_of(hard, code.symbols))
    seen = channel.send(words, rng=rng)
    if code.soft:
        return code.decode(channel.log_likelihood(seen))
    if isinstance(channel, ErasureChannel):
        lost = seen == code.symbols
        decode: Callable[..., Decoded] = code.decode
        return decode(np.where(lost, 0, seen).astype(words.dtype), erasures=lost)
    return code.decode(seen.astype(words.dtype))


def _level(
    *, level: float, rng: np.random.Generator, code: Code, family: Family, word_errors: int, words: int
) -> Mapping[str, float]:
    channel = channel_at(family, level, code)
    sent = wrong_words = wrong_bits = undetected = 0
    batch = 64 * -(-BATCH_BITS // (64 * code.n * (code.symbols - 1).bit_length()))
    while sent < words and wrong_words < word_errors:
        messages = code.random_messages(min(batch, words - sent), rng)
        decoded = received_through(code, channel, code.encode(messages), rng=rng)
        wrong = np.bitwise_count(decoded.message.astype(messages.dtype) ^ messages).sum(axis=1, dtype=np.int64)
        sent += len(messages)
        wrong_words += int(np.count_nonzero(wrong))
        wrong_bits += int(wrong.sum())
        undetected += int(np.count_nonzero((wrong > 0) & decoded.decoded))
    return {"words": sent, "word_errors": wrong_words, "bit_errors": wrong_bits, "undetected": undetected}


def _with_rates(frame: polars.DataFrame, code: Code) -> polars.DataFrame:
    words, wrong = frame["words"].to_numpy(), frame["word_errors"].to_numpy()
    tail = (1 - CONFIDENCE) / 2
    low = np.where(wrong > 0, scipy.stats.beta.ppf(tail, wrong, words - wrong + 1), 0.0)
    high = np.where(wrong < words, scipy.stats.beta.isf(tail, wrong + 1, words - wrong), 1.0)
    bits = code.k * (code.symbols - 1).bit_length()
    return frame.with_columns(
        polars.Series("word_error_rate", wrong / words),
        polars.Series("low", np.nan_to_num(low)),
        polars.Series("high", np.nan_to_num(high, nan=1.0)),
        polars.Series("bit_error_rate", frame["bit_errors"].to_numpy() / (words * bits)),
    )


def _checked_levels(levels: Any) -> list[float]:
    if isinstance(levels, str | bytes) or not hasattr(levels, "__iter__") or not getattr(levels, "ndim", 1):
        raise InvalidArgument(f"levels={shown(levels)}: give a list of numbers")
    return [number(level, "level") for level in levels]


def _bits_of(words: NDArray[Any], symbols: int) -> NDArray[np.uint8]:
    places = np.arange((symbols - 1).bit_length() - 1, -1, -1)
    return ((words[..., None] >> places) & 1).astype(np.uint8).reshape(*words.shape[:-1], -1)


def _symbols_of(bits: NDArray[np.uint8], symbols: int) -> NDArray[np.int64]:
    width = (symbols - 1).bit_length()
    places = np.arange(width - 1, -1, -1)
    grouped = bits.reshape(*bits.shape[:-1], -1, width).astype(np.int64)
    return np.asarray((grouped << places).sum(axis=-1))


def _check(code: Code, channel: Family, word_errors: int, words: int) -> None:
    if not isinstance(code, Code):
        raise InvalidArgument(f"code={shown(code)} is no code; make one, as by codes.Hamming(3)")
    if not callable(channel):
        one_of(channel, "channel", KINDS)
    whole(word_errors, "word_errors")
    whole(words, "words")
    if channel == "erasure" and not (code.soft or code.fills_erasures):
        raise InvalidArgument(f"{code} fills in no erasures; choose a code that does, or that hears log-likelihoods")
    if channel == "gaussian" and code.symbols & (code.symbols - 1):
        raise InvalidArgument(f"the {code.symbols} symbols of {code} are no whole bits; send them over 'symmetric'")
