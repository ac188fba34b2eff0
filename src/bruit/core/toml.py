"""Reads TOML that others wrote."""

import tomllib
from collections.abc import Callable
from typing import Any


def read_toml(text: str, *, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The tables of a TOML text; whatever cannot be read is a `TOMLDecodeError`.

    `tomllib` alone lets a number of thousands of digits and nesting without end through as other errors.
    """
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, RecursionError):
        raise tomllib.TOMLDecodeError("a number in it is too long, or its lists are nested too deep") from None
