"""The symmetric channel: every wrong symbol is equally likely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels import _kernels
from bruit.channels.capacity import plogp
from bruit.channels.finite import FiniteChannel, check_times, checked_counts
from bruit.channels.support import Support
from bruit.channels.unmixed import Unmixed
from bruit.channels.weights import ONE, checked_epsilon, log_above, loss_of, share
from bruit.core.arguments import whole
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument
from bruit.randomness import is_strong, words

_LANES: Final = 1 << 18  # symbols sent at a time: their lanes stay in the cache
_MANY: Final = 1 << 13  # from so many on their lanes are drawn by the vectorised cipher
_MOST: Final = 1 << 10  # so many different ones leave a lane in 64 open; with more, a word a symbol is as quick


@dataclass(frozen=True)
class SymmetricChannel(FiniteChannel):
    """A channel over `size` symbols: keeps a symbol with weight `keep`, or makes it any other with weight `other`.

    keep + (size - 1) other = 2^52. Two integers are stored, whatever the size.
    """

    size: int
    keep: int
    other: int

    def __post_init__(self) -> None:
        if self.keep < 0 or self.other < 0 or self.keep + (self.size - 1) * self.other != ONE:
            raise InvalidArgument(
                f"weights {self.keep} and {self.size - 1} times {self.other} must not be negative and sum to 2^52"
            )

    @property
    def inputs(self) -> int:
        """How many symbols can be sent."""
        return self.size

    @property
    def outputs(self) -> int:
        """How many symbols can be received."""
        return self.size

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """The whole table of weights, built on request."""
        table = np.full((self.size, self.size), self.other, dtype=np.int64)
        np.fill_diagonal(table, self.keep)
        table.setflags(write=False)
        return table

    @cached_property
    def epsilon(self) -> Fraction | float:
        """The loss |ln(keep / other)| of one symbol, rounded up."""
        return loss_of(max(self.keep, self.other), min(self.keep, self.other))

    def send_checked(self, symbols: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        """As `send`, without checks, for a flat array of symbols that the caller has already checked.

        From a strong source many symbols take 16 bits each, and 36 more where those leave it open; a seeded one gives
        each a word. The law is the same.
        """
        in_lanes = self.other > 0 and self.size <= _MOST and symbols.size >= _MANY
        return self._send_in_lanes(symbols, rng) if in_lanes and is_strong(rng) else super().send_checked(symbols, rng)

    def _send_in_lanes(self, symbols: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        received, places = np.empty_like(symbols), np.empty(min(symbols.size, _LANES), np.int32)
        for start in range(0, symbols.size, _LANES):
            sent, got = symbols[start : start + _LANES], received[start : start + _LANES]
            lanes = words(rng, -(-sent.size // 4)).view(np.uint16)[: sent.size]
            _kernels.send_lanes(sent, self.keep, self.other, self.size, lanes, got)
            left = places[: _kernels.find_open(got, places)]
            _kernels.settle_open(sent, self.keep, self.other, lanes, left, words(rng, left.size), got)
        return received

    def _send(self, symbols: NDArray[np.int32], drawn: NDArray[np.uint64], received: NDArray[np.int32]) -> None:
        if self.other == 0:
            received[:] = symbols
        else:
            _kernels.send_symmetric(symbols, self.keep, self.other, drawn, received)

    def capacity_bounds(self, *, tolerance: float = 1e-6) -> tuple[float, float]:  # noqa: ARG002
        """The exact capacity log2 k + p log2 p + (k - 1) q log2 q as both bounds."""
        p, q = self.keep / ONE, self.other / ONE
        bits = max(0.0, math.log2(self.size) + float(plogp(p)) + (self.size - 1) * float(plogp(q)))
        return bits, bits

    @cached_property
    def support(self) -> Support:
        """The chances that one symbol is received when it was sent, and when another was."""
        return Support(self.keep / ONE, self.other / ONE)

    def unmix(self, counts: ArrayLike) -> Unmixed:
        """Unbiased counts in closed form [docs/spec.md S0.2] with their variance [docs/spec.md S0.3]."""
        return Unmixed.from_support(checked_counts(counts, self.size), self.support)

    def then(self, other: FiniteChannel) -> FiniteChannel:
        """The channel followed by another; two symmetric channels make a symmetric one."""
        if not isinstance(other, SymmetricChannel) or other.size != self.size:
            return super().then(other)
        moved = self.keep * other.other + self.other * other.keep + (self.size - 2) * self.other * other.other
        return _towards_uniform(self.size, Fraction(moved, ONE))

    def cascade(self, times: int) -> FiniteChannel:
        """The channel followed by itself, `times` times in all, in closed form: (keep - other) ** times."""
        gap = Fraction(self.keep - self.other, ONE) ** check_times(times)
        return self if times == 1 else _towards_uniform(self.size, (1 - gap) / self.size * ONE)

    def to_json(self) -> dict[str, Any]:
        """The law in JSON types: two integers out of 2^52."""
        law = {"kind": "symmetric", "out_of": ONE, "size": self.size, "keep": self.keep, "other": self.other}
        return {**law, "epsilon": str(self.epsilon)}


def symmetric(size: int, *, epsilon: Exact | None = None, error: Exact | None = None) -> SymmetricChannel:
    """The symmetric channel over `size` symbols, of at most the given epsilon or of the given chance of any error.

    p = e^epsilon / (e^epsilon + k - 1), q = 1 / (e^epsilon + k - 1)           [Kairouz et al. 2016; docs/spec.md S0.1]
    q is rounded up to an integer out of 2^52 and p takes what is left, so `channel.epsilon <= epsilon` exactly.

    >>> channel = symmetric(4, epsilon=1)
    >>> channel.probabilities()[0].round(3).tolist(), round(channel.capacity(), 3), channel.epsilon <= 1
    ([0.475, 0.175, 0.175, 0.175], 0.17, True)
    """
    size = whole(size, "size", least=2, most=2**31 - 1, why="one symbol alone says nothing")
    if (epsilon is None) == (error is None):
        raise InvalidArgument("give either epsilon= or error=, and not both")
    if epsilon is not None:
        return _private(size, checked_epsilon(epsilon))
    assert error is not None
    chance = exactly(error, "error")
    if not 0 <= chance <= 1:
        raise InvalidArgument(f"error={error} must lie from 0 to 1: the chance that a symbol is changed")
    return _towards_uniform(size, chance * ONE / (size - 1))


def _private(size: int, epsilon: Fraction) -> SymmetricChannel:
    other = share(epsilon, size - 1)
    keep = ONE - (size - 1) * other
    while keep > other and log_above(keep, other) > epsilon:
        other += 1
        keep -= size - 1
    if keep <= other:
        raise InvalidArgument(
            f"epsilon={float(epsilon):.3g} over {size} symbols is too small for integers out of 2^52 to carry "
            "anything: take a larger epsilon or fewer symbols"
        )
    return SymmetricChannel(size, keep, other)


def _towards_uniform(size: int, other: Fraction) -> SymmetricChannel:
    """The channel with integer weights out of 2^52, rounded so that it is never less private than asked for."""
    rounded = math.ceil(other) if other * size < ONE else math.floor(other)
    rounded = min(rounded, ONE // (size - 1))
    return SymmetricChannel(size, ONE - (size - 1) * rounded, rounded)
