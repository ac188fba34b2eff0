"""Confidence intervals, and what each is for: the population, this table, or a rank."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", float(self.confidence))  # np.float32 and fractions are no JSON

    def to_json(self) -> dict[str, Any]:
        """The interval in JSON types."""
        return {
            "low": np.asarray(self.low).tolist(),
            "high": np.asarray(self.high).tolist(),
            "confidence": self.confidence,
            "covers": self.covers.value,
            "joint": self.joint,
        }
