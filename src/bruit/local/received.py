"""Checks the shape and range of reports that the collector receives.

A refusal here depends on what arrived over the wire, never on a true answer: a respondent's device cannot send it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument


def checked_places(values: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Checks reports that are whole numbers below `size`, and returns them."""
    if values.size == 0:
        return np.zeros(0, np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iu" or values.min() < 0 or values.max() >= size:
        raise InvalidArgument(
            f"a report of this protocol is a whole number from 0 to {size - 1}, one for each respondent"
        )
    return values


def checked_bits(values: NDArray[Any], bits: int) -> NDArray[np.uint64]:
    """Checks reports of `bits` bits, packed in 64-bit words with the first bit lowest, and returns them."""
    width = -(-bits // 64)
    if values.size == 0:
        return np.zeros((0, width), np.uint64)
    if values.dtype != np.uint64 or values.ndim != 2 or values.shape[1] != width:
        raise InvalidArgument(f"a report of this protocol is {bits} bits in {width} words of type uint64, one row each")
    if bits % 64 and (values[:, -1] >> np.uint64(bits % 64)).any():
        raise InvalidArgument(f"a report of this protocol has {bits} bits; these have more")
    return np.ascontiguousarray(values)


def checked_flag(value: Any) -> bool:
    """Checks that a value is a boolean, and returns it."""
    if not isinstance(value, bool):
        raise InvalidArgument("whether noise was seeded is true or false")
    return value
