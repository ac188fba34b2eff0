"""One RaptorQ block: repair symbols from source symbols, and back from whichever of both arrived."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.codes.fountain._kernels import copy_rows
from bruit.codes.fountain.parameters import Shape, shape_for, shapes
from bruit.codes.fountain.solver import Plan, Values, encoding_plan, encoding_symbols, find_intermediate, plan

Symbols = NDArray[np.uint8]
Index = NDArray[np.int64]

MOST_SYMBOLS = shapes()[-1].source
MOST_NUMBERS = 1 << 24
"""Encoding symbols are numbered with 24 bits.                                           [RFC 6330, Section 3.2]"""

SPARE = 2
"""Repair symbols taken beyond the missing ones at first: about one block in a million needs more."""


@dataclass(frozen=True, eq=False)
class Arrived:
    """Distinct encoding symbols that came: symbol `numbers[i]` is row `rows[i]` of `octets`, from byte `offset` on."""

    numbers: Index
    rows: Index
    octets: Symbols
    offset: int = 0

    def part(self, chosen: NDArray[np.bool_]) -> "Arrived":
        """The chosen ones of these encoding symbols."""
        return Arrived(self.numbers[chosen], self.rows[chosen], self.octets, self.offset)


def _internal(numbers: Index, k: int, shape: Shape) -> Index:
    """Internal symbol numbers: padding stands between source and repair symbols.   [RFC 6330, Section 5.3.1]"""
    return np.where(numbers < k, numbers, numbers + shape.source - k)


def _workspace(steps: Plan, size: int) -> Values:
    """Room for the intermediate symbols and those that arrived, of `size` bytes; padding in and behind them is 0."""
    make = np.empty if size % 8 == 0 else np.zeros
    values: Values = make((steps.shape.intermediate + steps.arrived, -(-size // 8)), np.uint64)
    return values


def repair_symbols(source: Symbols, numbers: Index) -> Symbols:
    """The encoding symbols of these numbers, from k on, of k source symbols (k, size)."""
    k, size = source.shape
    shape = shape_for(k)
    steps = encoding_plan(shape)
    values = _workspace(steps, size)
    values.view(np.uint8)[shape.intermediate : shape.intermediate + k, :size] = source
    values[shape.intermediate + k :] = 0
    if not find_intermediate(steps, values):
        raise AssertionError(f"the {shape.source} source symbols of {shape} determine it")
    mixed = encoding_symbols(shape, values, _internal(numbers, k, shape))
    return np.asarray(mixed.view(np.uint8)[:, :size])


def decode_block(source: Symbols, came: Arrived, *, consistent: bool = True) -> bool:
    """Writes the source symbols (k, size); returns whether those that came determine them all.

    Where they have to be `consistent`, also whether none of those that were needed contradicts the others.
    """
    k = source.shape[0]
    plain = came.numbers < k
    direct = came.part(plain)
    copy_rows(came.octets, direct.rows, came.offset, source.shape[1], source, direct.numbers)
    there = np.zeros(k, bool)
    there[direct.numbers] = True
    missing = np.flatnonzero(~there)
    repairs = np.cumsum(~plain)
    for taken in (missing.size + SPARE, plain.size):
        if missing.size == 0:
            return True
        if missing.size > repairs[-1:].sum():
            return False
        found = _missing_symbols(
            k, came.part(plain | (repairs <= taken)), missing, source.shape[1], consistent=consistent
        )
        if found is not None:
            source[missing] = found
            return True
    return False


def _missing_symbols(k: int, came: Arrived, missing: Index, size: int, *, consistent: bool) -> Symbols | None:
    shape = shape_for(k)
    steps = plan(shape, np.concatenate([_internal(came.numbers, k, shape), np.arange(k, shape.source)]))
    values = _workspace(steps, size)
    end = shape.intermediate + came.rows.size
    places = np.arange(shape.intermediate, end)
    copy_rows(came.octets, came.rows, came.offset, size, values.view(np.uint8), places)
    values[end:] = 0
    if not find_intermediate(steps, values, consistent=consistent):
        return None
    return np.asarray(encoding_symbols(shape, values, missing).view(np.uint8)[:, :size])
