"""Constructors of well-known channels: binary, erasure, and any stochastic matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bruit.channels.finite import FiniteChannel, MatrixChannel
from bruit.channels.rounding import integers_out_of, round_rows
from bruit.channels.symmetric_channel import symmetric
from bruit.channels.weights import ONE
from bruit.core.arguments import whole
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument


def binary(
    *,
    epsilon: Exact | None = None,
    error: Exact | None = None,
    zero_to_one: Exact | None = None,
    one_to_zero: Exact | None = None,
) -> FiniteChannel:
    """A channel over bits: symmetric by `epsilon` or `error`, or with a separate chance for each of the two errors."""
    if zero_to_one is None and one_to_zero is None:
        return symmetric(2, epsilon=epsilon, error=error)
    if zero_to_one is None or one_to_zero is None or epsilon is not None or error is not None:
        raise InvalidArgument("give epsilon=, or error=, or both zero_to_one= and one_to_zero=")
    up, down = exactly(zero_to_one, "zero_to_one"), exactly(one_to_zero, "one_to_zero")
    return matrix([[1 - up, up], [down, 1 - down]])


@dataclass(frozen=True, eq=False)
class ErasureChannel(MatrixChannel):
    """A channel that delivers a symbol or reports its loss as the last output; its epsilon is infinite."""

    def capacity_bounds(self, *, tolerance: float = 1e-6) -> tuple[float, float]:  # noqa: ARG002
        """The exact capacity (1 - loss) log2 k as both bounds."""
        bits = float(self.weights[0, 0] / ONE * np.log2(self.inputs))
        return bits, bits


def erasure(size: int, *, loss: Exact) -> ErasureChannel:
    """Makes the channel over `size` symbols that loses each with chance `loss`; output `size` means "lost".

    What arrives is certainly true, so epsilon is infinite: for codes and for teaching, never for people's answers.
    """
    chance = exactly(loss, "loss")
    size = whole(size, "size", least=2)
    if not 0 <= chance <= 1:
        raise InvalidArgument(f"loss={loss} must lie from 0 to 1: the chance that a symbol is lost")
    lost = round(chance * ONE)
    table = np.zeros((size, size + 1), dtype=np.int64)
    np.fill_diagonal(table, ONE - lost)
    table[:, size] = lost
    return ErasureChannel(table)


def matrix(rows: ArrayLike | Sequence[Sequence[Exact]]) -> MatrixChannel:
    """Makes the channel of any stochastic matrix, one row of output probabilities per input.

    A float is read as its shortest decimal. The rows are rounded to integers that sum to 2^52 by largest remainders,
    after a padding common to all rows that keeps every likelihood ratio at or below that of the exact matrix
    (`bruit.channels.rounding.round_rows` has the proof).
    """
    return MatrixChannel(round_rows(*integers_out_of(rows)))
