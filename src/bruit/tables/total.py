"""The text of any Python object: whatever it is, asking for it raises nothing."""

from __future__ import annotations

import math

MISSING = {"NAType", "NaTType"}
"""What pandas calls its own missing values, told by name so that pandas need not be installed."""


def text(value: object) -> str | None:
    """The text of any object, None where it is missing or has none: an object's own may fail, or be too long."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in MISSING:
        return None
    try:
        return str(value).encode("utf-8", "replace").decode()
    except Exception:
        return None
