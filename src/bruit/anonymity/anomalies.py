"""Checks a table against its declared domains; exact, for its curator only, without a privacy guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars

from bruit.anonymity.coded import encode_column, frame_of
from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.core.neighbours import EACH_ROW
from bruit.errors import InvalidArgument
from bruit.tables import Domain, Table, Within, read


@dataclass(frozen=True)
class ColumnCheck:
    """How many values of a column are missing, not numbers, out of bounds or unknown, and in which rows.

    A private statistic treats each of them silently as the domain says; `rows` holds the first few places, and only
    when they were asked for.
    """

    column: str
    missing: int
    unreadable: int
    below: int
    above: int
    unknown: int
    rows: tuple[int, ...]

    @property
    def anomalies(self) -> int:
        """The number of anomalous values of the column, of all kinds together."""
        return self.missing + self.unreadable + self.below + self.above + self.unknown


@dataclass(frozen=True)
class Check:
    """The anomalies of a table against its declared domains.

    `people` have rows, at most `most_rows` each, `beyond_limit` of them more than the table's stated limit; None where
    each row is a person.
    """

    rows: int
    columns: tuple[ColumnCheck, ...]
    people: int | None = None
    most_rows: int | None = None
    beyond_limit: int | None = None
    notice: str = NOT_A_RELEASE

    def to_json(self) -> dict[str, Any]:
        """The anomalies in JSON types."""
        return {**vars(self), "columns": [{**vars(one), "anomalies": one.anomalies} for one in self.columns]}


def check(table: object, domain: Mapping[str, Domain], *, places: int = 0) -> Check:
    """Finds values that the declared domains would clamp, replace or drop, and people with many rows.

    Only counts come back, and with `places` the numbers of the first few such rows; never a value.
    """
    people = table if isinstance(table, Table) else read(table, person=EACH_ROW)
    if not domain:
        raise InvalidArgument("domain= needs what is known of at least one column")
    names = list(domain) if people.person == EACH_ROW else list(dict.fromkeys([*domain, people.person]))
    frame = frame_of(people, names)
    found = tuple(_column(frame[name], declared, places) for name, declared in domain.items())
    if people.person == EACH_ROW:
        return Check(frame.height, found)
    rows = np.bincount(encode_column(frame[people.person].drop_nulls()).codes)
    limit = people.stated
    most = None if limit is None else limit.rows or (limit.groups or 1) * (limit.each or 1)
    beyond = None if most is None else int((rows > most).sum())
    return Check(frame.height, found, int((rows > 0).sum()), int(rows.max(initial=0)), beyond)


def _column(series: polars.Series, domain: Domain, places: int) -> ColumnCheck:
    empty = polars.repeat(value=False, n=len(series), eager=True)
    missing = series.is_null()
    if isinstance(domain, Within):
        numbers = _numbers(series)
        unreadable = numbers.is_null() & ~missing
        below, above = ((numbers < float(domain.low)), (numbers > float(domain.high)))
        marks = [missing, unreadable, below.fill_null(value=False), above.fill_null(value=False), empty]
    else:
        known = series.cast(polars.String).is_in(list(domain.values))
        marks = [missing, empty, empty, empty, ~known.fill_null(value=True)]
    odd = marks[0] | marks[1] | marks[2] | marks[3] | marks[4]
    shown = tuple(odd.arg_true().head(places).to_list())
    counts = [int(mark.sum()) for mark in marks]
    return ColumnCheck(series.name, counts[0], counts[1], counts[2], counts[3], counts[4], shown)


def _numbers(series: polars.Series) -> polars.Series:
    if series.dtype == polars.String:
        series = series.str.strip_chars()
    return series.cast(polars.Float64, strict=False).fill_nan(None)
