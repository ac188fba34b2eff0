"""Atomic replacement of a file: after a crash it holds the old state or the new one, never a part of either."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Writes a text to a file atomically and durably, for its owner alone.

    A crash leaves the old content or all of the new.
    """
    beside = path.with_name(f"{path.name}.new")
    beside.unlink(missing_ok=True)  # one that a crash left may be open to others
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(path)
