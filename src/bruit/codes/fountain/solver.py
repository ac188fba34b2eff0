"""The system of equations of a RaptorQ block: from any symbols that arrived to the intermediate ones.

Sparse rows are solved one after the other, each for one symbol; where all have several left, a symbol is made inactive
and carried along as an unknown. The rows left over and the dense checks, as many as the inactive symbols and the spare
ones, then give the unknowns by elimination, and a second pass over the sparse rows gives the rest.
                                                                                  [RFC 6330, Section 5.4]
"""

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from bruit.codes.block.binary_field import field
from bruit.codes.fountain._kernels import WIDEST, dense_pairs, dense_sums, solve, symbol_rows
from bruit.codes.fountain.parameters import DEGREES, Shape, random_tables
from bruit.codes.low_density._encoder_kernels import peel, run_checks, sum_of_checks

Values = NDArray[np.uint64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Plan:
    """How to solve a block from encoding symbols of known numbers; it depends on no content.

    Rows are `column[start[r] : start[r + 1]]`: the sparse checks, then one row for each symbol that arrived, whose own
    content stands at place L + its number. Row `order[i]` gives symbol `variables[i]`; `inactive` ones are unknowns,
    and `factors` says how the `spare` rows, then the dense checks, depend on them, a byte each.
    """

    shape: Shape
    start: Index
    column: Index
    order: Index
    variables: Index
    inactive: Index
    spare: Index
    factors: Values

    @property
    def arrived(self) -> int:
        """How many encoding symbols it starts from."""
        return self.start.size - 1 - self.shape.sparse


def mixed_symbols(shape: Shape, ids: Index) -> tuple[Index, Index]:
    """Which intermediate symbols add up to each encoding symbol: (start, column) of its row."""
    start, column = np.empty(ids.size + 1, np.int64), np.empty(ids.size * WIDEST, np.int64)
    symbol_rows(ids, shape.numbers, DEGREES, random_tables(), start, column)
    return start, column[: start[-1]]


def sparse_checks(shape: Shape) -> tuple[Index, Index]:
    """The S sparse checks as (row, column) of their ones.                          [RFC 6330, Section 5.3.3.3]"""
    s, lt = shape.sparse, shape.lt
    mixed, own = np.arange(lt - s), np.arange(s)
    step = 1 + mixed // s
    rows = [(mixed + times * step) % s for times in range(3)] + [own] * 3
    columns = [mixed] * 3 + [lt - s + own, lt + own % shape.permanent, lt + (own + 1) % shape.permanent]
    return np.concatenate(rows), np.concatenate(columns)


def _rows(shape: Shape, ids: Index) -> tuple[Index, Index]:
    """The rows of the sparse checks and of the symbols that arrived, each of these with its own content at the end."""
    check, column = sparse_checks(shape)
    start, mixed = mixed_symbols(shape, ids)
    row = np.concatenate([check, shape.sparse + np.repeat(np.arange(ids.size), np.diff(start))])
    row = np.concatenate([row, shape.sparse + np.arange(ids.size)])
    column = np.concatenate([column, mixed, shape.intermediate + np.arange(ids.size)])
    sizes = np.bincount(row, minlength=shape.sparse + ids.size)
    return np.concatenate([[0], np.cumsum(sizes)]), column[np.argsort(row, kind="stable")]


def plan(shape: Shape, ids: Index) -> Plan:
    """The plan for encoding symbols of these (internal) numbers."""
    start, column = _rows(shape, ids)
    size = shape.intermediate + ids.size
    unknown = np.zeros(size, bool)
    unknown[: shape.lt] = True
    order, variables, guessed = (np.empty(shape.lt, np.int64) for _ in range(3))
    steps, guesses = peel(start, column, unknown, order, variables, guessed)
    inactive = np.concatenate([guessed[:guesses], np.arange(shape.lt, shape.intermediate)])
    used = np.zeros(start.size - 1, bool)
    used[order[:steps]] = True
    parts = (start, column, order[:steps], variables[:steps], inactive, np.flatnonzero(~used))
    units = np.zeros((size, -(-inactive.size // 8)), np.uint64)
    units.view(np.uint8)[inactive, np.arange(inactive.size)] = 1
    run_checks(units, start, column, *parts[2:4])
    return Plan(shape, *parts, _checks_left(Plan(shape, *parts, units), units))


@lru_cache(maxsize=8)
def encoding_plan(shape: Shape) -> Plan:
    """The plan for the source symbols themselves."""
    return plan(shape, np.arange(shape.source))


@lru_cache(maxsize=8)
def _pairs(shape: Shape) -> Index:
    pairs = np.empty((shape.source + shape.sparse - 1, 2), np.int64)
    dense_pairs(pairs.shape[0], shape.dense, random_tables(), pairs)
    return pairs


def _checks_left(steps: Plan, values: Values) -> Values:
    """The sums of the values over the unused rows, then over the dense checks."""
    shape = steps.shape
    sums = np.empty((steps.spare.size + shape.dense, values.shape[1]), np.uint64)
    sum_of_checks(values, steps.start, steps.column, steps.spare, sums[: steps.spare.size])
    dense = sums[steps.spare.size :]
    dense_sums(values, _pairs(shape), dense)
    dense ^= values[shape.intermediate - shape.dense : shape.intermediate]
    return sums


def find_intermediate(steps: Plan, values: Values, *, consistent: bool = True) -> bool:
    """Fills values[:L] with the intermediate symbols, given those that arrived in values[L:].

    Returns whether these determine all of them and, where they have to be `consistent`, none contradicts the others.
    """
    unknowns = steps.inactive.size
    values[steps.inactive] = 0
    run_checks(values, steps.start, steps.column, steps.order, steps.variables)
    rows = np.hstack([steps.factors, _checks_left(steps, values)])
    pivots = np.empty(unknowns, np.int64)
    if solve(rows, rows.view(np.uint8), unknowns, steps.spare.size, _inverses(), pivots) < unknowns:
        return False
    served = np.zeros(rows.shape[0], bool)
    served[pivots] = True
    if consistent and rows[~served].any():
        return False
    values[steps.inactive] = rows[pivots, steps.factors.shape[1] :]
    run_checks(values, steps.start, steps.column, steps.order, steps.variables)
    return True


@cache
def _inverses() -> NDArray[np.uint8]:
    return field(8).inverse(np.arange(256)).astype(np.uint8)


def encoding_symbols(shape: Shape, intermediate: Values, ids: Index) -> Values:
    """The encoding symbols of these (internal) numbers."""
    start, column = mixed_symbols(shape, ids)
    symbols = np.empty((ids.size, intermediate.shape[1]), np.uint64)
    sum_of_checks(intermediate, start, column, np.arange(ids.size), symbols)
    return symbols
