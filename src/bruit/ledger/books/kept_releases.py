"""Reads back the releases stored in a ledger."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from bruit.core.guarantee import guarantee_from_json
from bruit.core.intervals import Covers, Interval
from bruit.core.release import Release


def release_from_json(text: str) -> Release[Any]:
    """Rebuilds a release from `Release.to_json`; lists of numbers become arrays, a model only its class's name."""
    description = json.loads(text)
    return Release(
        value=_array(description["value"]),
        guarantee=guarantee_from_json(description["guarantee"]),
        method=description["method"],
        labels=tuple(description["labels"]),
        interval=_interval(description["interval"]),
        noise=_array(description["noise"]),
        details=description["details"],
    )


def _interval(description: dict[str, Any] | None) -> Interval | None:
    if description is None:
        return None
    return Interval(
        low=np.asarray(description["low"], float),
        high=np.asarray(description["high"], float),
        confidence=description["confidence"],
        covers=Covers(description["covers"]),
        joint=description["joint"],
    )


def _array(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, int | float) for item in value):
        return np.asarray(value)
    return value
