"""The correlated noise of each period as exact integers, computed from d + 1 buffers per cell.

Layout: `buffers` is (poles, cells), integers in units of 2^-spare; `fresh` and what comes out are (cells,). Both are
int64, or Python integers (dtype object) where a cell left 64 bits, which nobody will see.

g_t = N_t + h_t,   h_t = rint(Σ_j a_j v_j),   v_j ← rint(p_j v_j) + N_t

h_t is a function of the buffers, so of the past alone: each cell chooses between floats and fractions of any size by
its buffers, never by the fresh draw. What a cell gives depends on nothing but that cell, to the last bit, so no BLAS,
whose order of summation depends on the number of columns.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.continual.factorisation import Factor
from bruit.continual.noise._kernels import LARGEST, step_narrow

Integers = NDArray[Any]

WIDEST = 2**62
"""Sums of two numbers below it stay in 64 bits."""


def empty(factor: Factor, cells: int) -> Integers:
    """The noise buffers of a stream before its first period: zeros."""
    return np.zeros((len(factor.poles), cells), np.int64)


def step(factor: Factor, spare: int, buffers: Integers, fresh: Integers) -> tuple[Integers, Integers]:
    """Advances the noise buffers by one period; returns the new buffers and the noise of this period's totals."""
    if buffers.dtype != object:
        after, noise = np.empty_like(buffers), np.empty_like(fresh)
        if step_narrow(*factor.arrays, spare, buffers, fresh, after, noise):
            return after, noise
    return step_wide(factor, spare, buffers, fresh)


def step_wide(factor: Factor, spare: int, buffers: Integers, fresh: Integers) -> tuple[Integers, Integers]:
    """As `step`, but for numbers beyond 64 bits: slower, with equal results wherever both apply."""
    kept, gone = _filtered(factor, spare, buffers)
    if len(fresh) and int(np.abs(fresh).max()) >= WIDEST >> spare:
        fresh = fresh.astype(object)
    return _narrowed(kept + fresh * 2**spare), _narrowed(fresh + gone)


def _filtered(factor: Factor, spare: int, buffers: Integers) -> tuple[Integers, Integers]:
    """rint(p_j v_j) and h, from the buffers alone."""
    wide = np.flatnonzero(np.abs(buffers).max(axis=0, initial=0) >= LARGEST)
    floats = np.where(np.abs(buffers) < LARGEST, buffers, 0).astype(np.float64)
    gone, kept = np.zeros(buffers.shape[1]), np.empty_like(floats)
    for j, (weight, pole) in enumerate(zip(factor.weights, factor.poles, strict=True)):
        gone += weight * floats[j]
        np.multiply(pole, floats[j], out=kept[j])
    whole, noise = np.rint(kept).astype(np.int64), np.rint(gone * 2.0**-spare).astype(np.int64)
    if not len(wide):
        return whole, noise
    return _widened(factor, spare, buffers, wide, whole.astype(object), noise.astype(object))


def _widened(
    factor: Factor, spare: int, buffers: Integers, wide: Integers, kept: Integers, gone: Integers
) -> tuple[Integers, Integers]:
    """The same, with the wide cells done in fractions: sixteen deviations away and beyond."""
    for cell in wide:
        column = [int(value) for value in buffers[:, cell]]
        kept[:, cell] = [round(Fraction(pole) * value) for pole, value in zip(factor.poles, column, strict=True)]
        weighed = sum(Fraction(weight) * value for weight, value in zip(factor.weights, column, strict=True))
        gone[cell] = round(weighed / 2**spare)
    return kept, gone


def _narrowed(numbers: Integers) -> Integers:
    """The numbers in 64 bits, where all of them fit."""
    if numbers.dtype != object or any(abs(int(value)) >= 2**63 for value in numbers.flat):
        return numbers
    return numbers.astype(np.int64)


def rounded(noise: Integers, unit: int) -> Integers:
    """Noise divided by U and rounded to the nearest integer, halves up."""
    if noise.dtype != object and len(noise) and int(np.abs(noise).max()) >= WIDEST - unit:
        noise = noise.astype(object)
    return _narrowed((noise * 2 + unit) // (2 * unit))


def published(totals: NDArray[np.int64], noise: Integers, unit: int) -> NDArray[np.int64]:
    """The totals plus their noise, modulo 2^64, as published."""
    moved = rounded(noise, unit)
    if moved.dtype == object:
        moved = np.array([(int(value) + 2**63) % 2**64 - 2**63 for value in moved], np.int64)
    with np.errstate(over="ignore"):
        return totals + moved


def pack(buffers: Integers) -> bytes:
    """Serialises the buffers: eight bytes per number, or JSON where one does not fit."""
    if buffers.dtype == object:
        return b"J" + json.dumps([[int(value) for value in row] for row in buffers]).encode()
    return b"I" + buffers.astype("<i8").tobytes()


def unpack(stored: bytes, poles: int) -> Integers:
    """Reads back the buffers that `pack` wrote."""
    if stored[:1] == b"J":
        rows = json.loads(stored[1:])
        wide = np.empty((poles, len(rows[0])), object)
        wide[:] = rows
        return wide
    return np.frombuffer(stored, "<i8", offset=1).reshape(poles, -1)
