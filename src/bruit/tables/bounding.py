"""Which rows of a person count: chosen by a keyed hash, so that every engine and every retry chooses the same.

What one person contributes depends on that person's rows and the key alone, so one person changes at most
`groups` groups by at most `rows` each, whoever else is in the table.                        [DESIGN, privacy rule 6]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars
from narwhals.dtypes import DType

from bruit.randomness import uniform_below
from bruit.tables.domain import Domain
from bruit.tables.total import collected

MODULUS = 2**31 - 1
"""A prime below 2^31: a product of two residues stays below 2^62, which every engine multiplies alike."""

PACKED = 2**31
"""What a hash is multiplied by to make room for an integer below it, within 2^62."""

BEYOND = (nw.UInt64, nw.UInt128, nw.Int128)
"""Integers that 64 bits with a sign do not hold."""


@dataclass(frozen=True)
class Key:
    """The key of one release: three residues that decide which rows of a person count."""

    person: int
    group: int
    offset: int


def draw_key(rng: np.random.Generator) -> Key:
    """A fresh key."""
    return Key(*(int(residue) for residue in uniform_below(MODULUS, 3, rng=rng)))


def bounded_rows(frame: nw.LazyFrame[Any], *, rows: int, key: Key, domain: Domain) -> nw.LazyFrame[Any]:
    """Columns `integer`, `rows`: at most `rows` rows of each person, all groups together."""
    if rows == 1 and domain.size <= MODULUS:
        return _one_each(frame, first=domain.lowest, key=key)
    pairs = _hashed(frame.group_by("person", "integer").agg(nw.len().cast(nw.Int64).alias("rows")), key)
    before = nw.col("rows").cum_sum().over("person", order_by=["hash", "integer"]) - nw.col("rows")
    return _summed(pairs.with_columns((rows - before).clip(0, None).alias("room")))


def bounded_groups(frame: nw.LazyFrame[Any], *, groups: int, rows: int, key: Key) -> nw.LazyFrame[Any]:
    """Columns `integer`, `rows`: at most `rows` rows of each person in each of at most `groups` groups."""
    if groups == rows == 1:
        return _one_each(frame, first=0, key=key)
    counted = frame.group_by("person", "integer").agg(nw.len().cast(nw.Int64).alias("rows"))
    return _summed(chosen_groups(counted, groups=groups, key=key).with_columns(nw.lit(rows).alias("room")))


def _one_each(frame: nw.LazyFrame[Any], *, first: int, key: Key) -> nw.LazyFrame[Any]:
    """One row of each person, the same that the general way keeps: the least hash, then the least integer.

    Both are packed into one number, hash * 2^31 + integer - first, so that no pair of person and integer is held.
    """
    pairs = frame.select("person", "integer")
    pairs = _hashed(pairs if _stays_lazy(pairs) else pairs.unique(), key)
    packed = (nw.col("hash") * PACKED + (nw.col("integer") - first)).alias("packed")
    least = pairs.select("person", packed).group_by("person").agg(nw.col("packed").min())
    kept = least.select((nw.col("packed") % PACKED + first).alias("integer"))
    return kept.group_by("integer").agg(nw.len().cast(nw.Int64).alias("rows"))


def chosen_groups(pairs: nw.LazyFrame[Any], *, groups: int, key: Key, ties: str = "integer") -> nw.LazyFrame[Any]:
    """The pairs of `person` and `integer` that stay when each person keeps at most `groups` of them.

    Equal hashes are ordered by the column `ties`, which must tell a person's pairs apart.
    """
    place = nw.col("integer").cum_count().over("person", order_by=["hash", ties])
    return _hashed(pairs, key).with_columns(place.alias("place")).filter(nw.col("place") <= groups)


def _summed(pairs: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    counted = nw.min_horizontal("rows", "room")
    return pairs.select("integer", counted.alias("rows")).group_by("integer").agg(nw.col("rows").sum())


def _hashed(pairs: nw.LazyFrame[Any], key: Key) -> nw.LazyFrame[Any]:
    """The pairs of person and integer with the hash that orders them.

    Engines hash texts each in their own way, so people named by text are numbered by polars: elsewhere after the engine
    has reduced the table to one row for each person and integer.
    """
    kind = pairs.collect_schema()["person"]
    if kind.is_integer():
        pairs = pairs.with_columns(_residue("person", kind).alias("number"))
    else:
        native = pairs.to_native() if _stays_lazy(pairs) else collected(pairs).lazy()
        number = polars.col("person").cast(polars.String).hash(seed=0) % MODULUS
        pairs = nw.from_native(native.with_columns(number.cast(polars.Int64).alias("number")))
    mixed = nw.col("number") * key.person % MODULUS + _residue("integer", nw.Int64()) * key.group % MODULUS
    return pairs.with_columns(((mixed + key.offset) % MODULUS).alias("hash"))


def _stays_lazy(pairs: nw.LazyFrame[Any]) -> bool:
    """Whether people are numbered where the table is: whole numbers everywhere, texts in polars."""
    return isinstance(pairs.to_native(), polars.LazyFrame) or pairs.collect_schema()["person"].is_integer()


def _residue(name: str, kind: DType) -> nw.Expr:
    """The residue of an integer column, the same where an engine gives negative numbers a negative remainder.

    Narrow integers are widened first and those beyond 64 bits reduced first, so that no person's number overflows.
    """
    number = nw.col(name) % MODULUS if kind in BEYOND else nw.col(name)
    return (number.cast(nw.Int64) % MODULUS + MODULUS) % MODULUS
