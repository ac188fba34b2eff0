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

from bruit.randomness import uniform_below
from bruit.tables.total import collected

MODULUS = 2**31 - 1
"""A prime below 2^31: a product of two residues stays below 2^62, which every engine multiplies alike."""


@dataclass(frozen=True)
class Key:
    """The key of one release: three residues that decide which rows of a person count."""

    person: int
    group: int
    offset: int


def draw_key(rng: np.random.Generator) -> Key:
    """A fresh key."""
    return Key(*(int(residue) for residue in uniform_below(MODULUS, 3, rng=rng)))


def bounded_rows(frame: nw.LazyFrame[Any], *, rows: int, key: Key) -> nw.LazyFrame[Any]:
    """Columns `integer`, `rows`: at most `rows` rows of each person, all groups together."""
    pairs = _hashed(frame.group_by("person", "integer").agg(nw.len().cast(nw.Int64).alias("rows")), key)
    before = nw.col("rows").cum_sum().over("person", order_by=["hash", "integer"]) - nw.col("rows")
    return _summed(pairs.with_columns((rows - before).clip(0, None).alias("room")))


def bounded_groups(frame: nw.LazyFrame[Any], *, groups: int, rows: int, key: Key) -> nw.LazyFrame[Any]:
    """Columns `integer`, `rows`: at most `rows` rows of each person in each of at most `groups` groups."""
    counted = frame.group_by("person", "integer").agg(nw.len().cast(nw.Int64).alias("rows"))
    return _summed(chosen_groups(counted, groups=groups, key=key).with_columns(nw.lit(rows).alias("room")))


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

    Engines hash texts each in their own way, so people named by text are numbered here, after the engine has reduced
    the table to one row for each person and integer.
    """
    if pairs.collect_schema()["person"].is_integer():
        pairs = pairs.with_columns(_residue("person").alias("number"))
    else:
        local = collected(pairs)
        numbers = (local["person"].hash(seed=0) % MODULUS).cast(polars.Int64)
        pairs = nw.from_native(local.with_columns(numbers.alias("number")).lazy())
    mixed = nw.col("number") * key.person % MODULUS + _residue("integer") * key.group % MODULUS
    return pairs.with_columns(((mixed + key.offset) % MODULUS).alias("hash"))


def _residue(name: str) -> nw.Expr:
    """The residue of an integer column, the same where an engine gives negative numbers a negative remainder."""
    return (nw.col(name) % MODULUS + MODULUS) % MODULUS
