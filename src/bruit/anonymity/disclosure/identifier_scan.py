"""Finds columns that identify people directly, and small sets of columns that single most people out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
from scipy import special

from bruit.anonymity.coded import Coded, encode_column, frame_of
from bruit.anonymity.disclosure.identifiers import IDENTIFIERS, Identifier, compacted
from bruit.anonymity.disclosure.singling_out import SinglingSet, singling_sets
from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.errors import InvalidArgument

ALARM = 1e-6
"""The chance that any column of random characters is called an identifier, shared over columns and kinds."""

PROBE = 4096
"""A kind of which none of so many values has the form makes up less than 1 % of the column, but for 1e-17."""

TESTED = 100_000
"""At most so many distinct values of a column are tested, evenly spaced: a p-value cannot get any clearer."""

LEAST_SHARE = 0.01
EXCESS = 0.5
"""Of the values with the right form, at least half must pass beyond chance."""


@dataclass(frozen=True)
class Finding:
    """A column that holds a kind of identifier: `passes` of the `candidates` values tested are valid.

    Random characters would pass with probability `chance` each; so many pass with probability `p_value`. `share` is
    the part of all tested values that pass.
    """

    column: str
    kind: str
    share: float
    candidates: int
    passes: int
    chance: float
    p_value: float


@dataclass(frozen=True)
class Scan:
    """The identifying columns found in a table; exact, for its curator, not to be published."""

    rows: int
    columns: tuple[str, ...]
    identifiers: tuple[Finding, ...]
    singling: tuple[SinglingSet, ...]
    notice: str = NOT_A_RELEASE

    @property
    def direct(self) -> tuple[str, ...]:
        """The columns that hold direct identifiers."""
        return tuple(dict.fromkeys(finding.column for finding in self.identifiers))

    def to_json(self) -> dict[str, Any]:
        """The findings in JSON types."""
        told = dict(vars(self))
        told.update(identifiers=[vars(one) for one in self.identifiers], singling=[vars(one) for one in self.singling])
        return told


def scan(table: object, *, alarm: float = ALARM, share: float = 0.5, most: int = 3) -> Scan:
    """Finds direct identifiers column by column, and the smallest sets of columns that single out most rows.

    A column is tried for every kind in `identifiers.IDENTIFIERS` by a test against the chance that random characters
    pass, on its distinct values, and for being a key. The sets have at most `most` columns, none of them a direct
    identifier, and leave at least `share` of the rows alone.
    """
    if not 0 < alarm < 1 or not 0 < share <= 1 or not 1 <= most <= 5:
        raise InvalidArgument(
            f"alarm={alarm}, share={share}, most={most}: give 0 < alarm < 1, 0 < share ≤ 1, most 1 to 5"
        )
    frame = frame_of(table)
    if not frame.height:
        raise InvalidArgument("the table has no rows: there is nothing to find")
    limit = alarm / (frame.width * (len(IDENTIFIERS) + 1))
    columns = [encode_column(series) for series in frame.iter_columns()]
    found = [finding for column in columns for finding in identify(column, limit=limit)]
    named = {finding.column for finding in found}
    rest = [column for column in columns if column.name not in named]
    return Scan(frame.height, tuple(frame.columns), tuple(found), singling_sets(rest, share=share, most=most))


def identify(column: Coded, *, limit: float) -> Sequence[Finding]:
    """The kinds of identifiers that a column holds, the most certain first."""
    texts = column.labels.drop_nulls().cast(polars.String)
    if column.labels.dtype.is_float() or not len(texts):
        return ()
    texts = texts.gather_every(-(-len(texts) // TESTED))
    probe = texts.gather_every(max(1, len(texts) // PROBE))
    likely = [kind for kind in IDENTIFIERS if _well_formed(probe, kind).any()]
    found = [_test_column(column.name, texts, kind) for kind in likely]
    found.append(_key(column))
    return sorted((one for one in found if _convinces(one, limit)), key=lambda one: (one.p_value, -one.share))


def _well_formed(texts: polars.Series, kind: Identifier) -> polars.Series:
    return (compacted(texts) if kind.compact else texts).str.contains(kind.form)


def _test_column(column: str, texts: polars.Series, kind: Identifier) -> Finding:
    clean = compacted(texts) if kind.compact else texts
    shaped = clean.filter(clean.str.contains(kind.form))
    passes = int(kind.check(shaped).sum())
    p_value = _at_least(passes, len(shaped), kind.chance)
    return Finding(column, kind.name, passes / len(texts), len(shaped), passes, kind.chance, p_value)


def _key(column: Coded) -> Finding:
    """Whether most rows have a value that no other row has, by a binomial test against one half."""
    rows = np.bincount(column.codes, minlength=column.size)
    alone = int((rows == 1).sum())
    total = len(column.codes)
    return Finding(column.name, "key", alone / total, total, alone, 0.5, _at_least(alone, total, 0.5))


def _convinces(found: Finding, limit: float) -> bool:
    if not found.candidates or found.share < LEAST_SHARE:
        return False
    excess = (found.passes / found.candidates - found.chance) / (1 - found.chance)
    return found.p_value < limit and excess >= EXCESS


def _at_least(passes: int, trials: int, chance: float) -> float:
    """P[Binomial(trials, chance) >= passes]."""
    return float(special.betainc(passes, trials - passes + 1, chance)) if passes else 1.0
