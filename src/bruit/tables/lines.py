"""Decides which lines of a CSV file are rows: one line is at most one row, whatever it holds."""

from __future__ import annotations

import numpy as np

from bruit.tables._line_kernels import QUOTE, RETURN, SEPARATOR, all_have, keep_rows, next_states

BLOCK = 1 << 20
"""Bytes that are read at once: larger blocks were no faster, and a dozen copies of some are in memory together."""


def rows_of(block: bytes, separator: str, fields: int) -> bytes:
    """The lines of a block that are well-formed rows with `fields` fields."""
    data = np.frombuffer(block, np.uint8)
    if b'"' not in block and all_have(data, ord(separator), fields):  # most blocks of most files, and fast
        return block
    kept, kinds = np.empty_like(data), np.zeros(256, np.uint8)
    kinds[[ord(separator), ord('"'), ord("\r")]] = SEPARATOR, QUOTE, RETURN
    return kept[: keep_rows(data, kept, kinds, next_states(), fields)].tobytes()
