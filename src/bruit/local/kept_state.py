"""Atomic replacement of a file: after a crash it holds the old state or the new one, never a part of either."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Writes a text to a file atomically and durably: a crash leaves the old content or all of the new."""
    beside = path.with_name(f"{path.name}.new")
    with beside.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(path)
