"""Converts any Python object to text without ever raising."""

from __future__ import annotations

import math

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
