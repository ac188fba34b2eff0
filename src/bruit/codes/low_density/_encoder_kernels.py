"""Kernels for encoding by parity checks: ordering, elimination over packed bits, and sums of 64 words at once."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Index = NDArray[np.int64]


@kernel
def peel(
    row_start: Index, column: Index, unknown: NDArray[np.bool_], checks: Index, variables: Index, guessed: Index
) -> tuple[int, int]:
    """Orders the checks so that each solves for one unknown variable, guessing variables where none does.

    `unknown` is used up. Returns how many steps (check, variable) and how many guesses were written.
    """
    rows = row_start.size - 1
    degree = np.zeros(unknown.size + 1, np.int64)
    for e in range(column.size):
        degree[column[e] + 1] += 1
    start = np.cumsum(degree)
    fill = start.copy()
    of_variable = np.empty(column.size, np.int64)
    left = np.zeros(rows, np.int64)
    for r in range(rows):
        for e in range(row_start[r], row_start[r + 1]):
            v = column[e]
            of_variable[fill[v]] = r
            fill[v] += 1
            if unknown[v]:
                left[r] += 1
    remaining = np.count_nonzero(unknown)
    ready = np.empty(rows + column.size, np.int64)
    begin = 0
    end = 0
    for r in range(rows):
        if left[r] == 1:
            ready[end] = r
            end += 1
    used = np.zeros(rows, np.bool_)
    steps = 0
    guesses = 0
    while remaining > 0:
        chosen = -1
        while begin < end and chosen < 0:
            r = ready[begin]
            begin += 1
            if left[r] == 1 and not used[r]:
                for e in range(row_start[r], row_start[r + 1]):
                    if unknown[column[e]]:
                        chosen = column[e]
                used[r] = True
                checks[steps] = r
                variables[steps] = chosen
                steps += 1
        if chosen < 0:  # guess the variable with most checks in the check with fewest unknowns
            best = -1
            for r in range(rows):
                if left[r] > 1 and (best < 0 or left[r] < left[best]):
                    best = r
            most = -1
            for e in range(row_start[best], row_start[best + 1]):
                v = column[e]
                if unknown[v] and start[v + 1] - start[v] > most:
                    most = start[v + 1] - start[v]
                    chosen = v
            guessed[guesses] = chosen
            guesses += 1
        unknown[chosen] = False
        remaining -= 1
        for i in range(start[chosen], start[chosen + 1]):
            r = of_variable[i]
            left[r] -= 1
            if left[r] == 1:
                ready[end] = r
                end += 1
    return steps, guesses


@kernel
def eliminate(bits: NDArray[np.uint64], columns: Index, pivots: Index) -> int:
    """Row-reduces packed rows over the columns in the order given and returns the rank; pivots[i] is row i's column."""
    rank = 0
    rows = bits.shape[0]
    for c in columns:
        word = c >> 6
        mask = np.uint64(1) << np.uint64(c & 63)
        found = -1
        for r in range(rank, rows):
            if bits[r, word] & mask:
                found = r
                break
        if found < 0:
            continue
        for w in range(bits.shape[1]):
            bits[rank, w], bits[found, w] = bits[found, w], bits[rank, w]
        for r in range(rows):
            if r != rank and bits[r, word] & mask:
                for w in range(bits.shape[1]):
                    bits[r, w] ^= bits[rank, w]
        pivots[rank] = c
        rank += 1
        if rank == rows:
            break
    return rank


@kernel
def run_checks(values: NDArray[np.uint64], row_start: Index, column: Index, checks: Index, variables: Index) -> None:
    """Solves the checks in order: values[variable] = sum of its check's other variables (last axis: words)."""
    for i in range(checks.size):
        v = variables[i]
        for w in range(values.shape[1]):
            values[v, w] = 0
        for e in range(row_start[checks[i]], row_start[checks[i] + 1]):
            u = column[e]
            if u != v:
                for w in range(values.shape[1]):
                    values[v, w] ^= values[u, w]


@kernel
def sum_of_checks(
    values: NDArray[np.uint64], row_start: Index, column: Index, checks: Index, sums: NDArray[np.uint64]
) -> None:
    """sums[i] = the sum of all variables in checks[i]."""
    for i in range(checks.size):
        for w in range(values.shape[1]):
            sums[i, w] = 0
        for e in range(row_start[checks[i]], row_start[checks[i] + 1]):
            for w in range(values.shape[1]):
                sums[i, w] ^= values[column[e], w]


@kernel
def multiply(matrix: NDArray[np.bool_], values: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """The product out = matrix · values over GF(2) (last axis of values: words)."""
    for i in range(matrix.shape[0]):
        for w in range(values.shape[1]):
            out[i, w] = 0
        for j in range(matrix.shape[1]):
            if matrix[i, j]:
                for w in range(values.shape[1]):
                    out[i, w] ^= values[j, w]
