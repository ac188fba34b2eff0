"""Channels over finitely many symbols, as exact probability tables that privacy, statistics and codes share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels import _kernels
from bruit.channels.capacity import blahut_arimoto
from bruit.channels.channel import Channel
from bruit.channels.rounding import round_rows
from bruit.channels.unmixed import Unmixed
from bruit.channels.weights import ONE, loss_of
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.randomness import generator, words

_BLOCK: Final = 1 << 16  # words drawn at a time: they stay in the cache between the generator and the kernel


class FiniteChannel(Channel):
    """A channel over finitely many symbols: input x comes out as y with probability weights[x, y] / 2^52, exactly.

    Inputs are 0 … inputs-1, outputs 0 … outputs-1. The same integers are used by `send`, by `epsilon`, by the JSON
    and by the browser, so what is proved of them holds of every report.
    """

    @property
    @abstractmethod
    def weights(self) -> NDArray[np.int64]:
        """The law: one row of integers that sum to 2^52 for each input."""

    @property
    def inputs(self) -> int:
        """How many symbols can be sent."""
        return int(self.weights.shape[0])

    @property
    def outputs(self) -> int:
        """How many symbols can be received."""
        return int(self.weights.shape[1])

    def probabilities(self) -> NDArray[np.float64]:
        """The law as a matrix of doubles, one row per input; each entry is exact."""
        return self.weights / ONE

    @cached_property
    def epsilon(self) -> Fraction | float:
        """The privacy loss of one symbol, computed from the integer weights and rounded up.

        It is math.inf when some output can rule out an input.
        max over y, x, x' of ln(W[x, y] / W[x', y])                     [Dwork & Roth 2014, Def. 2.4, on one record]
        """
        high, low = self.weights.max(axis=0), self.weights.min(axis=0)
        pairs = {(int(a), int(b)) for a, b in zip(high, low, strict=True) if a > 0}
        return max(loss_of(a, b) for a, b in pairs)

    def send(self, values: ArrayLike, rng: np.random.Generator | None = None) -> NDArray[Any]:
        """Draws the output of each symbol sent, with one random word per symbol or less.

        The shape is kept, and the integer type where it can hold every output.
        """
        sent = _check_symbols(values, self.inputs, "symbol")
        received = self.send_checked(np.ascontiguousarray(sent, dtype=np.int32).reshape(-1), generator(rng))
        return received.reshape(sent.shape).astype(_dtype_for(sent.dtype, self.outputs), copy=False)

    def send_checked(self, symbols: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        """As `send`, without checks, for a flat array of symbols that the caller has already checked."""
        received = np.empty_like(symbols)
        for start in range(0, symbols.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            self._send(symbols[part], words(rng, symbols[part].size), received[part])
        return received

    def _send(self, symbols: NDArray[np.int32], drawn: NDArray[np.uint64], received: NDArray[np.int32]) -> None:
        _kernels.send_rows(symbols, self._upper, drawn, received)

    @cached_property
    def _upper(self) -> NDArray[np.int64]:
        return np.cumsum(self.weights, axis=1)

    def capacity(self, *, tolerance: float = 1e-6) -> float:
        """The most bits one use can carry [Shannon 1948]; at most `tolerance` too low, never too high."""
        return self.capacity_bounds(tolerance=tolerance)[0]

    def capacity_bounds(self, *, tolerance: float = 1e-6) -> tuple[float, float]:
        """A lower and an upper bound on the capacity in bits, by Blahut–Arimoto; equal where a closed form is known."""
        return blahut_arimoto(self.probabilities(), tolerance=tolerance)

    def log_likelihood(self, received: ArrayLike) -> NDArray[np.float64]:
        """The log-likelihood of each input (with two inputs, their log-ratio) given each received symbol.

        With two inputs, log W[0, y] / W[1, y]: positive means zero. Otherwise a last axis of log W[x, y], one entry
        for each input x.
        """
        seen = _check_symbols(received, self.outputs, "received symbol")
        return np.asarray(self._log_table[seen])

    @cached_property
    def _log_table(self) -> NDArray[np.float64]:
        return log_table(self.probabilities())

    def unmix(self, counts: ArrayLike) -> Unmixed:
        """Unbiased estimates of how often each input was sent, from how often each output was received.

        c B with W B = I; of the many such B of a channel with more outputs than inputs, the one of least variance
        when all inputs are equally frequent. `Unmixed.variance` is unbiased too.
        """
        observed = checked_counts(counts, self.outputs)
        return Unmixed.through(self._inverse, observed)

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        law = self.probabilities()
        average = law.mean(axis=0)
        scaled = np.divide(law, average, out=np.zeros_like(law), where=average > 0)
        gram = law @ scaled.T
        if np.linalg.matrix_rank(law) < self.inputs:
            raise InvalidArgument(
                f"the outputs of this channel cannot tell its {self.inputs} inputs apart: their laws are linearly "
                "dependent, so no unbiased inversion exists"
            )
        return np.asarray(np.linalg.solve(gram, scaled).T)

    def then(self, other: FiniteChannel) -> FiniteChannel:
        """The channel followed by another; rounding never makes the series less private than the exact product."""
        if self.outputs != other.inputs:
            raise InvalidArgument(f"a channel with {self.outputs} outputs cannot feed one with {other.inputs} inputs")
        product = self.weights.astype(object) @ other.weights.astype(object)
        return MatrixChannel(round_rows(product, [ONE * ONE] * self.inputs))

    def cascade(self, times: int) -> FiniteChannel:
        """The channel followed by itself, `times` times in all."""
        check_times(times)
        if times == 1:
            return self
        half = self.cascade(times // 2)
        both = half.then(half)
        return both.then(self) if times % 2 else both

    def repeat(self, times: int) -> Repeated:
        """The channel with every symbol sent `times` times, each time with fresh noise; the losses add up."""
        return Repeated(self, check_times(times))


@dataclass(frozen=True, eq=False)
class MatrixChannel(FiniteChannel):
    """A finite channel that stores its whole table of weights."""

    table: NDArray[np.int64]

    def __post_init__(self) -> None:
        table = np.array(self.table, dtype=np.int64)
        if table.ndim != 2 or table.size == 0 or table.min() < 0 or (table.sum(axis=1) != ONE).any():
            raise InvalidArgument("weights must be a table of integers, none negative, whose every row sums to 2^52")
        table.setflags(write=False)
        object.__setattr__(self, "table", table)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MatrixChannel) and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash((self.table.shape, self.table.tobytes()))

    @property
    def weights(self) -> NDArray[np.int64]:
        """The law: one row of integers that sum to 2^52 for each input."""
        return self.table

    def to_json(self) -> dict[str, Any]:
        """The law in JSON types; `channel_from_json` reads it back and checks it."""
        return {"kind": "matrix", "out_of": ONE, "weights": self.table.tolist(), "epsilon": str(self.epsilon)}


@dataclass(frozen=True)
class Repeated(Channel):
    """A channel used several times on the same symbol; the outputs of one symbol are the last axis of arrays."""

    channel: FiniteChannel
    times: int

    @property
    def epsilon(self) -> Fraction | float:
        """The loss of all uses together: the number of uses times the epsilon of one."""
        return self.channel.epsilon * self.times

    def send(self, values: ArrayLike, rng: np.random.Generator | None = None) -> NDArray[Any]:
        """Sends each symbol several times; its outputs are a new last axis."""
        sent = np.asarray(values)
        return self.channel.send(np.repeat(sent[..., None], self.times, axis=-1), rng)

    def to_json(self) -> dict[str, Any]:
        """The channel of one use and the number of uses, in JSON types."""
        law = {"kind": "repeated", "times": self.times, "channel": self.channel.to_json()}
        return {**law, "epsilon": str(self.epsilon)}

    def counts(self, received: ArrayLike) -> NDArray[np.int64]:
        """How often each output occurs among the uses of each symbol: a sufficient statistic."""
        seen = _check_symbols(received, self.channel.outputs, "received symbol")
        return np.stack([(seen == output).sum(axis=-1) for output in range(self.channel.outputs)], axis=-1)

    def log_likelihood(self, received: ArrayLike) -> NDArray[np.float64]:
        """The log-likelihoods of all uses of each symbol, added up."""
        each = self.channel.log_likelihood(received)
        return np.asarray(each.sum(axis=-1 if self.channel.inputs == 2 else -2))


def log_table(law: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each output y, log W[0, y] / W[1, y] with two inputs (0 if y never occurs), else log W[x, y] for each x."""
    with np.errstate(divide="ignore"):
        logs = np.log(law.T)
    if law.shape[0] != 2:
        return np.asarray(logs)
    never = ~law.any(axis=0)
    return np.asarray(np.subtract(logs[:, 0], logs[:, 1], out=np.zeros(law.shape[1]), where=~never))


def checked_counts(counts: ArrayLike, outputs: int) -> NDArray[np.float64]:
    """Checks counts of received symbols, one for each output, and returns them as doubles."""
    observed = np.asarray(counts, dtype=np.float64)
    if observed.shape != (outputs,) or not np.isfinite(observed).all() or (observed < 0).any():
        raise InvalidArgument(f"unmix needs {outputs} counts, one for each output and none negative")
    return observed


def check_times(times: int) -> int:
    """Checks a number of uses, which is at least one."""
    return whole(times, "times")


def _check_symbols(symbols: ArrayLike, size: int, what: str) -> NDArray[Any]:
    array = np.asarray(symbols)
    if array.size == 0:
        return array.astype(np.int32)
    if array.dtype.kind not in "iub":
        raise InvalidArgument(f"a {what} is a whole number from 0 to {size - 1}; this array holds {array.dtype}")
    if array.min() < 0 or array.max() >= size:
        raise InvalidArgument(f"a {what} must lie from 0 to {size - 1}; map other values into that range first")
    return array


def _dtype_for(wanted: np.dtype[Any], outputs: int) -> np.dtype[Any]:
    return wanted if wanted.kind in "iu" and outputs - 1 <= np.iinfo(wanted).max else np.dtype(np.int32)
