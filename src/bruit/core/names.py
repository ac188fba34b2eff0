"""How any Python object is called where it names a category or a person; never raises."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

MISSING = {"NAType", "NaTType"}
"""What pandas calls its own missing values, told by name so that pandas need not be installed."""


def text(value: object) -> str | None:
    """The text of any object; None if it is missing, or if its own `__str__` fails."""
    try:
        if value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in MISSING:
            return None
        return str(value).encode("utf-8", "replace").decode()
    except Exception:
        return None


def name_of(value: object) -> str | None:
    """The name of a category or a person: whole numbers without a fraction, so that 1.0 is called 1."""
    try:
        if isinstance(value, np.generic):  # the longest numbers of NumPy stay what they are in `item`
            value = float(value) if isinstance(value, np.longdouble) else value.item()
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
    except Exception:  # whatever a class of its own raises
        return None
    return text(value)


def number_people(names: Iterable[object]) -> NDArray[np.int64]:
    """A number for each person in order of appearance, -1 for a missing name; names are compared exactly."""
    numbers: dict[str, int] = {}
    called = map(name_of, names)
    return np.array([-1 if name is None else numbers.setdefault(name, len(numbers)) for name in called], np.int64)
