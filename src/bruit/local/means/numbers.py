"""Converts any answer to a number within the range, without errors that could reveal the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.core.numbers import Exact, exactly
from bruit.errors import OutOfDomain

_MOST_STEPS = 1 << 30


def checked_range(low: Exact, high: Exact, grid: Exact, missing: Exact | None) -> dict[str, Fraction]:
    """Checked bounds, grid and value for missing answers (by default the grid step at or below the middle)."""
    ends = {"low": exactly(low, "low"), "high": exactly(high, "high"), "grid": exactly(grid, "grid")}
    distance, step = ends["high"] - ends["low"], ends["grid"]
    if distance <= 0:
        raise OutOfDomain(f"low={low}, high={high}: give bounds known before anyone answers, low below high")
    if step <= 0 or (distance / step).denominator != 1 or distance / step > _MOST_STEPS:
        raise OutOfDomain(f"grid={grid} must divide the distance from {low} to {high} into at most 2^30 whole steps")
    fill = ends["low"] + distance / step // 2 * step if missing is None else exactly(missing, "missing")
    if not ends["low"] <= fill <= ends["high"]:
        raise OutOfDomain(f"missing={missing} must lie within {low} and {high}: it stands for answers that are none")
    return {**ends, "missing": fill}


def numbers(values: Any) -> NDArray[np.float64]:
    """One number for each answer, NaN where it is not a number; no answer raises an error."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), None)
    if hasattr(values, "to_numpy"):  # polars and pandas
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        plain = values.reshape(-1)
        if plain.dtype.kind in "biuf":
            with np.errstate(over="ignore"):
                return plain.astype(np.float64)
        values = plain.tolist()
    column = values if isinstance(values, Iterable) and not isinstance(values, str | bytes) else [values]
    return np.fromiter(map(number, column), np.float64)


def number(value: Any) -> float:
    """The number of one answer, infinite where a float cannot hold it, NaN where it is not a number."""
    try:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    except Exception:  # whatever an answer does when it is read, nobody may see it
        return math.nan


def grid_steps(values: Any, *, low: Fraction, high: Fraction, grid: Fraction, missing: Fraction) -> NDArray[np.int64]:
    """Each answer in grid steps from `low`: clamped and rounded, with `missing` for an answer that is not a number."""
    read, bottom, width = numbers(values), float(low), float(grid)
    clamped = np.clip(np.where(np.isnan(read), float(missing), read), bottom, float(high))
    return np.clip(np.rint((clamped - bottom) / width), 0, int((high - low) / grid)).astype(np.int64)
