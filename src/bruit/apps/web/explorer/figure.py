"""Figures as data: curves, axes, and the facts and sentence shown beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import polars

from bruit.apps.web.explorer.parameters import Parameter, Values


@dataclass(frozen=True)
class Curve:
    """One named curve; `dashed` marks a comparison."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Axis:
    """The label of an axis, and whether its scale is logarithmic."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class Figure:
    """Curves over two axes, the point of the current settings, and the facts and sentence shown beside them."""

    title: str
    x: Axis
    y: Axis
    curves: tuple[Curve, ...]
    facts: tuple[tuple[str, str], ...]
    sentence: str
    point: tuple[float, float] | None = None
    warning: str = ""

    def frame(self) -> polars.DataFrame:
        """The points as a tidy table with columns curve, x, y."""
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
    """One page of the explorer: its parameters, the function of its figure, and the Python code it shows."""

    name: str
    title: str
    lead: str
    parameters: tuple[Parameter, ...]
    figure: Callable[[Values], Figure]
    code: Callable[[Values], str]


def _finite(value: float) -> float | None:
    """Leaves infinite points, which JSON does not know, out of a curve."""
    return value if isfinite(value) else None
