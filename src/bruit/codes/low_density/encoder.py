"""Systematic LDPC encoding by the sparse checks: solve one by one, guess where stuck, then correct the guesses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.codes.low_density._encoder_kernels import eliminate, multiply, peel, run_checks, sum_of_checks
from bruit.codes.low_density.parity_check import ParityChecks
from bruit.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class Schedule:
    """The order in which the checks are solved for the parity bits, some of which are first guessed to be 0.

    The checks left over then fail by a pattern that `mend` turns into the true guesses: a matrix as wide as the gap
    of the code, never as long as the code.                                  [Richardson & Urbanke 2001, Section III]
    """

    checks: NDArray[np.int64]
    variables: NDArray[np.int64]
    guessed: NDArray[np.int64]
    spare: NDArray[np.int64]
    mend: NDArray[np.bool_]


def parity_places(graph: ParityChecks) -> NDArray[np.int64]:
    """The columns of the parity bits (pivots of the matrix), preferring the last columns."""
    start, column = graph.flat
    rows = np.repeat(np.arange(graph.checks), np.diff(start))
    dense = np.zeros((graph.checks, -(-graph.variables // 64)), np.uint64)
    np.bitwise_xor.at(dense, (rows, column >> 6), np.uint64(1) << (column & 63).astype(np.uint64))
    pivots = np.empty(graph.checks, np.int64)
    rank = eliminate(dense, np.arange(graph.variables - 1, -1, -1), pivots)
    return np.sort(pivots[:rank])


def schedule(graph: ParityChecks, parity: NDArray[np.int64]) -> Schedule:
    """A `Schedule` that solves the checks for the given parity columns."""
    start, column = graph.flat
    unknown = np.zeros(graph.variables, bool)
    unknown[parity] = True
    checks, variables, guessed = (np.empty(parity.size, np.int64) for _ in range(3))
    steps, guesses = peel(start, column, unknown, checks, variables, guessed)
    checks, variables, guessed = checks[:steps], variables[:steps], guessed[:guesses]
    spare = np.setdiff1d(np.arange(graph.checks), checks)
    spare, mend = _mending_table(graph, checks, variables, guessed, spare)
    return Schedule(checks, variables, guessed, spare, mend)


def _mending_table(
    graph: ParityChecks,
    checks: NDArray[np.int64],
    variables: NDArray[np.int64],
    guessed: NDArray[np.int64],
    spare: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The spare checks from which the guessed bits can be corrected, and the inverse of the matrix that links the two.

    Every guess is given a bit of its own and run through the schedule, so that a spare check reads its combination.
    """
    gap = guessed.size
    values = np.zeros((graph.variables, -(-gap // 64) or 1), np.uint64)
    values[guessed] = _units(gap)
    run_checks(values, *graph.flat, checks, variables)
    said = np.zeros((spare.size, values.shape[1]), np.uint64)
    sum_of_checks(values, *graph.flat, spare, said)
    both = np.hstack([said, _units(spare.size)]) if gap else np.zeros((0, 1), np.uint64)
    pivots = np.empty(both.shape[0], np.int64)
    if eliminate(both, np.arange(gap), pivots) < gap:
        raise InvalidArgument("these parity places are not determined by the checks; choose others")
    inverse = _unpack(both[:gap, said.shape[1] :], spare.size)
    used = inverse.any(axis=0)
    return spare[used], np.ascontiguousarray(inverse[:, used])


def _units(size: int) -> NDArray[np.uint64]:
    """Row i holds bit i alone."""
    rows = np.zeros((size, -(-size // 64) or 1), np.uint64)
    rows[np.arange(size), np.arange(size) >> 6] = np.uint64(1) << (np.arange(size) & 63).astype(np.uint64)
    return rows


def _unpack(rows: NDArray[np.uint64], size: int) -> NDArray[np.bool_]:
    octets = np.ascontiguousarray(rows).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little", count=size).astype(bool)


def fill_parity(graph: ParityChecks, order: Schedule, bits: NDArray[np.uint8]) -> None:
    """Computes the parity bits of words (words, variables) in place, packing 64 words into one integer."""
    packed = np.packbits(bits.T, axis=1, bitorder="little")
    values = np.zeros((graph.variables, -(-packed.shape[1] // 8)), np.uint64)
    values.view(np.uint8)[:, : packed.shape[1]] = packed
    values[order.guessed] = 0
    run_checks(values, *graph.flat, order.checks, order.variables)
    if order.guessed.size:
        sums = np.empty((order.spare.size, values.shape[1]), np.uint64)
        truth = np.empty((order.guessed.size, values.shape[1]), np.uint64)
        sum_of_checks(values, *graph.flat, order.spare, sums)
        multiply(order.mend, sums, truth)
        values[order.guessed] = truth
        run_checks(values, *graph.flat, order.checks, order.variables)
    bits[:] = np.unpackbits(values.view(np.uint8), axis=1, bitorder="little", count=bits.shape[0]).T
