"""Domains: what is stated about a column before its data is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument, OutOfDomain
from bruit.tables.cells.texts import BLANKS
from bruit.tables.schema.columns import Category, Number, require_different, require_grid

OTHER = "OTHER"
"""The category of every value that was not declared."""

LARGEST_UNITS = 2**32
"""The largest |bound| / grid, so that two thousand million rows sum without leaving 64 bits."""

LARGEST_NUMBER = 10**300
"""The largest bound, and the largest denominator of a grid, so that every engine's numbers hold both."""


@dataclass(frozen=True)
class Within:
    """Numbers between two bounds, rounded to a grid; a value outside is clamped to the nearer bound.

    The integer of a value is its number of grid steps from zero. A missing value takes `missing`; its row is dropped
    where that is None.
    """

    low: Fraction
    high: Fraction
    grid: Fraction
    missing: Fraction | None

    def __post_init__(self) -> None:
        require_grid(self.low, self.high, self.grid, self.missing, build="within(...)")

    def __repr__(self) -> str:
        missing = "" if self.missing is None else f", missing={float(self.missing):.12g}"
        return f"within({float(self.low):.12g}, {float(self.high):.12g}, grid={float(self.grid):.12g}{missing})"

    @property
    def lowest(self) -> int:
        """The low bound in grid steps."""
        return int(self.low / self.grid)

    @property
    def highest(self) -> int:
        """The high bound in grid steps."""
        return int(self.high / self.grid)

    @property
    def size(self) -> int:
        """The number of different values in the domain."""
        return self.highest - self.lowest + 1

    @property
    def farthest(self) -> int:
        """The largest absolute integer that one row can add to a sum."""
        return max(abs(self.lowest), abs(self.highest))

    def decode(self, integers: ArrayLike) -> NDArray[np.float64]:
        """Converts grid integers to values, rounded once: 3 steps of 0.1 are exactly 0.3."""
        return np.asarray(integers, np.float64) * float(self.grid.numerator) / float(self.grid.denominator)

    @property
    def declared(self) -> Number:
        """The column type that reads the cells of such a column."""
        return Number(self.low, self.high, self.grid, self.missing)

    def encode_values(self, values: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Converts an array of values to grid integers; also says which rows are kept."""
        numbers = np.asarray(values, np.float64)
        kept = ~np.isnan(numbers)
        filled = np.where(kept, numbers, float(self.low if self.missing is None else self.missing))
        inside = np.clip(filled, float(self.low), float(self.high))
        steps = np.floor(inside / float(self.grid) + 0.5)
        return steps.astype(np.int64), kept if self.missing is None else np.ones_like(kept)

    def to_json(self) -> dict[str, Any]:
        """A complete description in JSON types."""
        return {
            "domain": "within",
            "low": str(self.low),
            "high": str(self.high),
            "grid": str(self.grid),
            "missing": None if self.missing is None else str(self.missing),
        }


@dataclass(frozen=True)
class Among:
    """Declared categories; any other value, and a missing one, is OTHER (or its row is dropped)."""

    values: tuple[str, ...]
    drop_others: bool

    lowest: ClassVar[int] = 0

    def __post_init__(self) -> None:
        require_different(self.values, build="among(...)")

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories in the order of their integers."""
        return self.values if self.drop_others else (*self.values, OTHER)

    @property
    def size(self) -> int:
        """The number of different values in the domain."""
        return len(self.labels)

    @property
    def declared(self) -> Category:
        """The column type that reads the cells of such a column."""
        return Category(self.values, None if self.drop_others else OTHER)

    def encode_values(self, values: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Converts an array of values to the integers of their categories; also says which rows are kept."""
        place = {value: code for code, value in enumerate(self.values)}
        codes = np.array([place.get(str(value), len(self.values)) for value in np.asarray(values, object)], np.int64)
        return codes, (codes < len(self.values)) if self.drop_others else np.ones(len(codes), bool)

    def to_json(self) -> dict[str, Any]:
        """A complete description in JSON types."""
        return {"domain": "among", "values": list(self.values), "drop_others": self.drop_others}


Domain = Within | Among
"""What is known before seeing the data: how any value becomes an integer, or is dropped."""


def within(low: Exact, high: Exact, *, grid: Exact, missing: Exact | None = None) -> Within:
    """The domain of numbers from low to high in steps of `grid`; state the bounds before seeing the data."""
    bounds = exactly(low, "low"), exactly(high, "high")
    step = exactly(grid, "grid")
    if bounds[0] >= bounds[1]:
        raise OutOfDomain(f"within({low}, {high}): low must be below high; give bounds known before seeing the data")
    if step <= 0 or any((bound / step).denominator != 1 for bound in bounds):
        raise OutOfDomain(f"grid={grid} must be above zero and divide both bounds {low} and {high}")
    if any(size > LARGEST_NUMBER for size in (abs(bounds[0]), abs(bounds[1]), step.denominator)):
        raise OutOfDomain(f"within({low}, {high}), grid={grid}: numbers from 1e-300 to 1e300 can be held")
    if max(abs(bound / step) for bound in bounds) > LARGEST_UNITS:
        raise OutOfDomain(f"grid={grid} is too fine for bounds {low}, {high}: at most 2^32 steps from zero")
    fill = None if missing is None else exactly(missing, "missing")
    if fill is not None and not bounds[0] <= fill <= bounds[1]:
        raise OutOfDomain(f"missing={missing} must lie within {low} and {high}")
    return Within(*bounds, step, fill)


def among(values: Sequence[object], *, drop_others: bool = False) -> Among:
    """The domain of the listed categories; state the list before seeing the data."""
    names = tuple(str(value).lower() if isinstance(value, bool) else str(value) for value in values)
    if isinstance(values, str) or not names:
        raise OutOfDomain("among(...) needs a list of at least one category")
    if any(name.strip(BLANKS) != name for name in names):
        raise OutOfDomain("among(...) was given a category with blanks at its ends; cells are read without them")
    if len(set(names)) < len(names):
        raise OutOfDomain("among(...) was given a category twice; list each once")
    if OTHER in names and not drop_others:
        raise OutOfDomain(f"{OTHER!r} names every undeclared value already; leave it out of the list")
    return Among(names, drop_others)


def domain_from_json(description: dict[str, Any]) -> Domain:
    """Rebuilds a domain from what its `to_json` wrote."""
    kind = description.get("domain")
    if kind == "within":
        return within(description["low"], description["high"], grid=description["grid"], missing=description["missing"])
    if kind == "among":
        return among(description["values"], drop_others=description["drop_others"])
    raise InvalidArgument(f"{kind!r} is not a domain that this version of bruit knows")
