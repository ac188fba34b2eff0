"""A figure as data: what is drawn, what is exported and what is said beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import polars

from bruit.apps.web.explorer.parameters import Parameter, Values


@dataclass(frozen=True)
class Curve:
    """One curve with a name; `dashed` for what it is compared with."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Axis:
    """A label, and whether equal ratios are equally far apart."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class Figure:
    """Curves over two axes, the point of the view, and the facts and sentence that belong to it."""

    title: str
    x: Axis
    y: Axis
    curves: tuple[Curve, ...]
    facts: tuple[tuple[str, str], ...]
    sentence: str
    point: tuple[float, float] | None = None
    warning: str = ""

    def frame(self) -> polars.DataFrame:
        """One tidy row a point: curve, x, y."""
        rows = [(one.name, x, y) for one in self.curves for x, y in zip(one.x, one.y, strict=True)]
        return polars.DataFrame(rows, {"curve": polars.String, "x": polars.Float64, "y": polars.Float64}, orient="row")

    def to_json(self) -> dict[str, Any]:
        """Everything in JSON types."""
        return {
            "title": self.title,
            "x": vars(self.x),
            "y": vars(self.y),
            "curves": [
                {"name": one.name, "x": list(one.x), "y": [_finite(y) for y in one.y], "dashed": one.dashed}
                for one in self.curves
            ],
            "point": self.point,
            "facts": [list(fact) for fact in self.facts],
            "sentence": self.sentence,
            "warning": self.warning,
        }


@dataclass(frozen=True)
class Tool:
    """One page of the explorer: what can be moved, the figure it makes, and the Python that makes its data."""

    name: str
    title: str
    lead: str
    parameters: tuple[Parameter, ...]
    figure: Callable[[Values], Figure]
    code: Callable[[Values], str]


def _finite(value: float) -> float | None:
    """Leaves infinite points, which JSON does not know, out of a curve."""
    return value if isfinite(value) else None
