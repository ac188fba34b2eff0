"""What comes out: a value with its labels, its interval and its guarantee."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    import polars

T = TypeVar("T")


class Covers(StrEnum):
    """What an interval promises to contain."""

    POPULATION = "population"
    """The value for everybody the people in the data were drawn from."""

    TABLE = "this table"
    """The value for the people in the data, after clamping and bounding."""

    RANK = "rank"
    """The share of the data below the value."""


@dataclass(frozen=True)
class Interval:
    """Bounds that contain the truth at the stated confidence; `joint` when that holds for all entries together."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    confidence: float
    covers: Covers
    joint: bool = False

    def to_json(self) -> dict[str, Any]:
        """The interval in JSON types."""
        return {
            "low": np.asarray(self.low).tolist(),
            "high": np.asarray(self.high).tolist(),
            "confidence": self.confidence,
            "covers": self.covers.value,
            "joint": self.joint,
        }


@dataclass(frozen=True)
class Release(Generic[T]):
    """What a mechanism gives out: everything here may be published.

    `noise` is the half-width that the added noise alone accounts for, at the interval's confidence. A model has no
    interval. `details` holds what a method has to say beside its value.
    """

    value: T
    guarantee: Guarantee
    method: str
    labels: tuple[str, ...] = ()
    interval: Interval | None = None
    noise: NDArray[np.float64] | float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def frame(self) -> polars.DataFrame:
        """One row a label: value, low, high, noise."""
        import polars

        values = np.atleast_1d(np.asarray(self.value)).reshape(-1)
        columns: dict[str, Any] = {"label": list(self.labels or map(str, range(len(values)))), "value": values}
        if self.interval is not None:
            columns |= {"low": np.atleast_1d(self.interval.low), "high": np.atleast_1d(self.interval.high)}
        if self.noise is not None:
            columns["noise"] = np.broadcast_to(np.asarray(self.noise, float), values.shape)
        return polars.DataFrame(columns)

    def to_json(self) -> str:
        """Everything, as a JSON text."""
        return json.dumps(
            {
                "value": _plain(self.value),
                "labels": list(self.labels),
                "interval": None if self.interval is None else self.interval.to_json(),
                "noise": _plain(self.noise),
                "guarantee": self.guarantee.to_json(),
                "method": self.method,
                "details": _plain(self.details),
            },
            ensure_ascii=False,
        )


def _plain(value: Any) -> Any:
    """The JSON types of a value; what has none (a model) is named by its class."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else type(value).__qualname__
