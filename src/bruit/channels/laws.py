"""The channels people name: binary, erasure, any matrix; and the law that a JSON text describes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bruit.channels.channel import Channel, MatrixChannel
from bruit.channels.gaussian import ContinuousChannel
from bruit.channels.loss import ONE
from bruit.channels.rounding import integers_out_of, round_rows
from bruit.channels.symmetric import SymmetricChannel, symmetric
from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.privacy import Exact, exactly


def binary(
    *,
    epsilon: Exact | None = None,
    error: Exact | None = None,
    zero_to_one: Exact | None = None,
    one_to_zero: Exact | None = None,
) -> Channel:
    """A channel over bits: symmetric from `epsilon` or `error`, or with its own chance of each of the two errors."""
    if zero_to_one is None and one_to_zero is None:
        return symmetric(2, epsilon=epsilon, error=error)
    if zero_to_one is None or one_to_zero is None or epsilon is not None or error is not None:
        raise InvalidArgument("give epsilon=, or error=, or both zero_to_one= and one_to_zero=")
    up, down = exactly(zero_to_one, "zero_to_one"), exactly(one_to_zero, "one_to_zero")
    return matrix([[1 - up, up], [down, 1 - down]])


@dataclass(frozen=True, eq=False)
class ErasureChannel(MatrixChannel):
    """A channel that delivers a symbol or says that it was lost: the last output says so; epsilon is infinite."""

    def capacity_bounds(self, *, tolerance: float = 1e-6) -> tuple[float, float]:  # noqa: ARG002
        """The closed form, twice: (1 - loss) log2 k."""
        bits = float(self.weights[0, 0] / ONE * np.log2(self.inputs))
        return bits, bits


def erasure(size: int, *, loss: Exact) -> ErasureChannel:
    """The channel over `size` symbols that loses each with chance `loss`; output `size` says "lost".

    What arrives is certainly true, so epsilon is infinite: for codes and for teaching, never for people's answers.
    """
    chance = exactly(loss, "loss")
    if isinstance(size, bool) or not isinstance(size, int) or size < 2 or not 0 <= chance <= 1:
        raise InvalidArgument(
            f"erasure(size={size!r}, loss={loss}): give a whole size of at least 2 and a loss from 0 to 1"
        )
    lost = round(chance * ONE)
    table = np.zeros((size, size + 1), dtype=np.int64)
    np.fill_diagonal(table, ONE - lost)
    table[:, size] = lost
    return ErasureChannel(table)


def matrix(rows: ArrayLike | Sequence[Sequence[Exact]]) -> MatrixChannel:
    """The channel of any stochastic matrix, one row of output probabilities for each input.

    A float is read as its shortest decimal. The rows are rounded to integers that sum to 2^52 by largest remainders,
    after a padding common to all rows that keeps every likelihood ratio at or below that of the exact matrix
    (`bruit.channels.rounding.round_rows` has the proof).
    """
    return MatrixChannel(round_rows(*integers_out_of(rows)))


def channel_from_json(description: Mapping[str, Any] | str) -> Channel | ContinuousChannel:
    """The channel that `to_json` described; a block that is no law, or less private than it says, is refused."""
    try:
        block = json.loads(description) if isinstance(description, str) else dict(description)
        channel = _read(block)
    except BruitError as error:
        raise BadFile(f"this block describes no channel: {error}") from error
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise BadFile("this block describes no channel: it was cut, changed, or written by something else") from error
    if isinstance(channel, Channel) and str(channel.epsilon) != block.get("epsilon"):
        raise BadFile(
            "this block states another epsilon than its own weights have: it was changed after it was written"
        )
    return channel


def _read(block: dict[str, Any]) -> Channel | ContinuousChannel:
    if block["kind"] == "gaussian":
        return ContinuousChannel(float(exactly(block["noise"], "noise")))
    if block["out_of"] != ONE:
        raise InvalidArgument(f"weights must be integers out of 2^52, not of {block['out_of']!r}")
    if block["kind"] == "symmetric":
        return SymmetricChannel(*(_whole(block[name]) for name in ("size", "keep", "other")))
    if block["kind"] != "matrix":
        raise InvalidArgument(f"{block['kind']!r} is no kind of channel that this version knows")
    return MatrixChannel(np.array([[_whole(cell) for cell in row] for row in block["weights"]], dtype=np.int64))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= ONE:
        raise InvalidArgument("a weight must be a whole number from 0 to 2^52")
    return value
