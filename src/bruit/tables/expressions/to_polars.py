"""Compiles integer expressions to polars."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.tables.expressions.nodes import (
    Among,
    Binary,
    Coalesce,
    Constant,
    Field,
    If,
    IsMissing,
    Node,
    Not,
    TextNumber,
)

MODULUS = 2**31 - 1

SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "and": operator.and_,
    "or": operator.or_,
}


def to_polars(node: Node) -> polars.Expr:
    """Compiles a node to a polars expression of 64-bit integers."""
    match node:
        case Field(name):
            return polars.col(name)
        case Constant(value):
            return polars.lit(value, dtype=polars.Int64)
        case Binary(sign, left, right):
            return SIGNS[sign](to_polars(left), to_polars(right))  # type: ignore[no-any-return]
        case Not(condition):
            return ~to_polars(condition)
        case IsMissing(value):
            return to_polars(value).is_null()
        case If(condition, then, otherwise):
            return polars.when(to_polars(condition)).then(to_polars(then)).otherwise(to_polars(otherwise))
        case Coalesce(value, otherwise):
            return polars.coalesce(to_polars(value), to_polars(otherwise))
        case Among(value, choices):
            return to_polars(value).is_in(polars.Series(choices, dtype=polars.Int64).implode())
        case TextNumber(Field(name), key):
            return polars.col(name).map_batches(TextNumbers(key), return_dtype=polars.Int64, is_elementwise=True)
    raise TypeError(node)


class TextNumbers:
    """Hashes texts to numbers under one key; each different text is hashed only once."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.known = np.zeros(0, np.int64)  # the number of each name by its place, less than zero where not yet known
        self.lock = Lock()

    def __call__(self, texts: polars.Series) -> polars.Series:
        """The number of each text; none where it is missing."""
        if texts.is_empty():  # polars would keep the type of the texts
            return polars.Series(texts.name, [], dtype=polars.Int64)
        if texts.dtype.base_type() == polars.Categorical:
            return self._of_names(texts)
        different = texts.unique().drop_nulls()
        return texts.replace_strict(
            different, polars.Series(self._hash(different)), default=None, return_dtype=polars.Int64
        )

    def _of_names(self, texts: polars.Series) -> polars.Series:
        places = texts.to_physical().fill_null(0).to_numpy()
        with self.lock:
            if places.max() >= len(self.known):
                more = max(int(places.max()) + 1 - len(self.known), len(self.known))
                self.known = np.concatenate([self.known, np.full(more, -1, np.int64)])
            new = texts.filter(polars.Series(self.known[places] < 0)).drop_nulls().unique()
            self.known[new.to_physical().to_numpy()] = self._hash(new.cast(polars.String))
            found = polars.Series(texts.name, self.known[places])
        return found.set(texts.is_null(), None) if texts.null_count() else found

    def _hash(self, texts: polars.Series) -> NDArray[np.int64]:
        """As `text_number` for each text; the first eight bytes of each digest are taken as one number at once."""
        prefix, sha256 = self.key.encode(), hashlib.sha256
        digests = b"".join([sha256(prefix + text.encode()).digest() for text in texts.to_list()])
        first = np.frombuffer(digests, ">u8")[::4] >> np.uint64(4)
        return (first % np.uint64(MODULUS)).astype(np.int64)


def text_number(text: str, key: str) -> int:
    """The first 60 bits of SHA-256(key, text) modulo 2^31 - 1."""
    return (int.from_bytes(hashlib.sha256((key + text).encode()).digest()[:8], "big") >> 4) % MODULUS
