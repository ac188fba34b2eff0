"""Pseudonyms by a keyed hash, and why they do not make a table anonymous."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars

from bruit.anonymity.coded import Coded, encode_column, frame_of
from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.errors import InvalidArgument
from bruit.tables.column_names import no_column

KEY_BYTES = 32
DIGITS = 32
"""Hexadecimal digits of a pseudonym: 128 bits, so that two people share one with no chance worth naming."""

WHY_IT_FAILS = (
    "Pseudonyms hide names, not people: every other column stays as it was, equal names keep equal pseudonyms, "
    "so counts and links survive, and whoever has the key can try every possible name."
)


@dataclass(frozen=True)
class Pseudonymised:
    """A table with pseudonyms, and how many rows their counts alone still give away.

    `recognised` is, for each column, the share of rows whose name has a count that no other name has: whoever knows
    how often names occur reads them through the pseudonyms.
    """

    frame: polars.DataFrame = field(repr=False)
    recognised: dict[str, float]
    warning: str = WHY_IT_FAILS
    notice: str = NOT_A_RELEASE

    def to_json(self) -> dict[str, Any]:
        """Everything but the rows, in JSON types."""
        return {name: value for name, value in vars(self).items() if name != "frame"}


def draw_pseudonym_key() -> bytes:
    """A fresh secret key; keep it apart from the table, or destroy it."""
    return secrets.token_bytes(KEY_BYTES)


def pseudonymise(table: object, columns: Sequence[str], *, key: bytes) -> Pseudonymised:
    """Replaces the values of columns by their HMAC-SHA-256 under a secret key; missing values stay missing.

    pseudonym = HMAC(key, column name, value), the first 128 bits                            [RFC 2104]
    """
    if len(key) < KEY_BYTES:
        raise InvalidArgument(f"a key of {len(key)} bytes can be guessed; give {KEY_BYTES} from draw_pseudonym_key()")
    if isinstance(columns, str) or not columns:
        raise InvalidArgument("columns= needs a list of at least one column to replace")
    frame = frame_of(table)
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise no_column(", ".join(missing), frame.columns)
    found = {name: encode_column(frame[name]) for name in columns}
    replaced = [_replace(column, key) for column in found.values()]
    return Pseudonymised(
        frame.with_columns(replaced), {name: recognised_share(column) for name, column in found.items()}
    )


def _replace(column: Coded, key: bytes) -> polars.Series:
    names = [None if value is None else pseudonym(key, column.name, str(value)) for value in column.labels.to_list()]
    return polars.Series(column.name, names, dtype=polars.String).gather(column.codes.astype(np.int64))


def pseudonym(key: bytes, column: str, value: str) -> str:
    """The pseudonym of one value."""
    # The length of the column's name keeps ("ab", "c") apart from ("a", "bc").
    message = f"{len(column)}:{column}:{value}".encode()
    return hmac.new(key, message, "sha256").hexdigest()[:DIGITS]


def recognised_share(column: Coded) -> float:
    """The share of rows whose value is the only one that occurs as often as it does."""
    counts = np.bincount(column.codes, minlength=column.size)
    sizes, values = np.unique(counts[counts > 0], return_counts=True)
    return float(sizes[values == 1].sum() / len(column.codes))
