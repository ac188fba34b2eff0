"""Answers as publishable tables: group keys, values and intervals, with what was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars

from bruit.apps.steward.queries import Query
from bruit.core.release import Release
from bruit.sql.asking import arranged

LOW, HIGH = " low", " high"
UNNAMED = "value"
"""The value column of a release that was not asked by SQL."""

LABEL = "label"
"""Its other column: a category, a group, or the share of rows that lie below a quantile."""

WHOLE = "all"
"""What stands for a key whose groups are taken together."""

COUNTS = ("count", "non_missing", "people", "distinct")
"""Measures whose numbers are whole."""


@dataclass(frozen=True)
class AnswerTable:
    """The rows of an answer: `keys` name the groups, `values` the numbers, with intervals where there are any."""

    title: str
    words: str
    frame: polars.DataFrame
    keys: tuple[str, ...]
    values: tuple[str, ...]
    release: Release[Any]

    @property
    def labels(self) -> list[str]:
        """One label for each row."""
        rows = self.frame.select(self.keys).rows() if self.keys else [("all",)] * len(self.frame)
        return [" / ".join(map(str, row)) for row in rows]

    @property
    def confidence(self) -> float | None:
        """The confidence of the intervals; None where there are none."""
        return None if self.release.interval is None else self.release.interval.confidence

    def ends(self, value: str) -> tuple[Any, Any] | None:
        """The low and high ends of a value's intervals; None where it has none."""
        if value + LOW not in self.frame.columns:
            return None
        return self.frame[value + LOW].to_numpy(), self.frame[value + HIGH].to_numpy()

    def to_json(self) -> dict[str, Any]:
        """Everything that is published, in JSON types."""
        return {
            "title": self.title,
            "question": self.words,
            "rows": self.frame.to_dicts(),
            "confidence": self.confidence,
            "method": self.release.method,
            "guarantee": self.release.guarantee.to_json(),
            "asked": self.release.details.get("asked"),
        }


def answer_table(query: Query, release: Release[Any], *, title: str = "") -> AnswerTable:
    """Arranges the released numbers as the SELECT asked."""
    frame = _with_whole_counts(arranged(query.translated, release, intervals=True), query)
    frame = frame.with_columns(polars.col(polars.String).fill_null(WHOLE))
    keys = tuple(name for name, series in zip(frame.columns, frame, strict=True) if series.dtype == polars.String)
    values = tuple(name for name, _ in query.translated.selected if name not in keys)
    return AnswerTable(title or query.question.words, query.question.words, frame, keys, values, release)


def _with_whole_counts(frame: polars.DataFrame, query: Query) -> polars.DataFrame:
    """The answer with its counts rounded to whole numbers."""
    found, measures = query.translated, query.question.measures
    counts = {sql for sql in found.measured if measures[found.measure_of(sql)].what in COUNTS}
    names = [name for name, node in found.selected if node.sql() in counts]
    whole = [name + end for name in names for end in ("", LOW, HIGH) if name + end in frame.columns]
    return frame.with_columns(polars.col(whole).round().cast(polars.Int64))


def labelled_table(release: Release[Any], title: str) -> AnswerTable | None:
    """The answer table of a release not asked by SQL, one row per label; None where it holds no numbers."""
    frame = release.frame()
    if not frame[UNNAMED].dtype.is_numeric():
        return None
    ends = {"low": f"{UNNAMED}{LOW}", "high": f"{UNNAMED}{HIGH}"}
    shown = frame.rename({old: new for old, new in ends.items() if old in frame.columns}).drop("noise", strict=False)
    if ends["low"] in shown.columns and shown[ends["low"]].is_nan().any():
        shown = shown.drop(*ends.values())
    return AnswerTable(title, title, shown, (LABEL,), (UNNAMED,), release)
