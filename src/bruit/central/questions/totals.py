"""Consistent totals: noisy counts of several levels reconciled by least squares, then rounded to integers.

All of it is computed from released numbers, so that it costs nothing. With keys of n_1, ..., n_d labels, a level L sums
over the keys it lacks; its matrix A_L has A_L' A_L = the product over keys of I (in L) or J (not in L). All of these
share the eigenspaces "deviation in the keys of S, mean in the others", so that the weighted least squares have a closed
form: the part of S in sum_L w_L A_L' y_L, divided by the sum over L containing S of w_L times the n of keys not in L.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.core.release import Release
from bruit.errors import InvalidArgument

Floats = NDArray[np.float64]
COUNTS, SUMS = "rows", "sum of"
"""How the words of the measures begin that add up over groups: people and different values do not."""


def consistent_totals(release: Release[Any], measure: str) -> polars.DataFrame:
    """One row per group of every level: the noisy value, a consistent value, and for counts a consistent integer.

    Least squares weigh each level by one over its squared noise and make no number's variance larger; the whole
    numbers, which are not negative, lie higher in empty groups. Found groups are not brought together.
    """
    details = release.details
    keys, levels, place = list(details["asked"]["keys"]), details.get("levels", []), _place(details, measure)
    finest = [level for level in levels if level["by"] == keys]
    if not finest or "threshold" in details:
        raise InvalidArgument(
            "consistent totals need several levels, one of them by all keys, of keys that the schema lists: "
            "levels=rollup(...) or cube(...)"
        )
    values, noises = (np.asarray(each, float).reshape(-1, len(details["columns"])) for each in _numbers(release))
    bounds = np.cumsum([0, *(level["groups"] for level in levels)])
    parts = [(level["by"], slice(low, high)) for level, low, high in zip(levels, bounds, bounds[1:], strict=False)]
    cells = np.array(details["cells"], dtype=object)
    first = next(part for by, part in parts if by == keys)
    shape = [len(dict.fromkeys(cells[first, axis])) for axis in range(len(keys))]
    noisy = [(_axes(by, keys), values[part, place], 1 / max(noises[part, place].max(), 0.5) ** 2) for by, part in parts]
    fitted = least_squares(shape, noisy)
    frame = {name: polars.Series(cells[:, axis].tolist(), dtype=polars.String) for axis, name in enumerate(keys)}
    columns: dict[str, Any] = {"noisy": values[:, place], "consistent": _margins(fitted, parts, keys)}
    if details["asked"]["measures"][measure].startswith(COUNTS):
        columns["whole"] = _margins(whole_numbers(fitted), parts, keys).astype(np.int64)
    return polars.DataFrame(frame | columns)


def least_squares(shape: list[int], noisy: list[tuple[tuple[int, ...], Floats, float]]) -> Floats:
    """The cells that best fit the noisy sums of all levels; each level has its axes, sums and weight."""
    right = np.zeros(shape)
    for axes, sums, weight in noisy:
        kept = [size if axis in axes else 1 for axis, size in enumerate(shape)]
        right = right + weight * sums.reshape(kept)
    found = np.zeros(shape)
    for deviating in product((False, True), repeat=len(shape)):
        own = {axis for axis, apart in enumerate(deviating) if apart}
        scale = sum(
            weight * prod(size for axis, size in enumerate(shape) if axis not in axes)
            for axes, _, weight in noisy
            if own <= set(axes)
        )
        if scale:
            found = found + _component(right, deviating) / scale
    return found


def whole_numbers(cells: Floats) -> Floats:
    """The nearest non-negative cells that sum to the rounded total, made integers by largest remainders."""
    total = max(round(float(cells.sum())), 0)
    flat = np.sort(cells.reshape(-1))[::-1]
    excess = (np.cumsum(flat) - total) / np.arange(1, flat.size + 1)
    shift = excess[np.flatnonzero(flat > excess)[-1]] if total else flat[0]
    kept = np.maximum(cells - shift, 0)
    whole = np.floor(kept)
    remainders = (kept - whole).reshape(-1)
    missing = round(total - whole.sum())
    whole.reshape(-1)[np.argsort(-remainders, kind="stable")[:missing]] += 1
    return np.asarray(whole, np.float64)


def _component(values: Floats, deviating: tuple[bool, ...]) -> Floats:
    """The mean over some axes, and what deviates from it along the others."""
    for axis, apart in enumerate(deviating):
        mean = values.mean(axis=axis, keepdims=True)
        values = values - mean if apart else np.broadcast_to(mean, values.shape)
    return values


def _margins(cells: Floats, parts: list[tuple[list[str], slice]], keys: list[str]) -> Floats:
    """The sums of the cells by each level, one after another."""
    return np.concatenate(
        [cells.sum(axis=tuple(set(range(len(keys))) - set(_axes(by, keys)))).reshape(-1) for by, _ in parts]
    )


def _axes(by: list[str], keys: list[str]) -> tuple[int, ...]:
    return tuple(keys.index(name) for name in by)


def _numbers(release: Release[Any]) -> tuple[Any, Any]:
    return release.value, release.noise


def _place(details: dict[str, Any], measure: str) -> int:
    if measure not in details["columns"]:
        raise InvalidArgument(f"no measure {measure!r} was released; there are {', '.join(details['columns'])}")
    words = details["asked"]["measures"][measure]
    if not words.startswith((COUNTS, SUMS)):
        raise InvalidArgument(f"{words} does not add up over groups: only rows and sums do")
    return int(details["columns"].index(measure))
