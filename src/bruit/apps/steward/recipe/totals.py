"""Consistent totals over the levels of a rollup or cube, computed from released numbers at no cost."""

from __future__ import annotations

from dataclasses import replace

from bruit.apps.steward.answers import COUNTS, AnswerTable
from bruit.apps.steward.queries import Query
from bruit.apps.steward.recipe.reading import QuestionEntry
from bruit.central.questions import consistent_totals
from bruit.errors import InvalidArgument

ADDING = (*COUNTS[:2], "sum")
"""Measures that add up over groups: people and different values do not."""


def check_totals(entry: QuestionEntry, query: Query) -> None:
    """Refuses consistent totals for a question that has none, before anything is paid."""
    found = query.translated
    if entry.totals != "consistent":
        return
    if found.having is not None or found.order or found.first is not None:
        raise InvalidArgument("totals = 'consistent' needs every group: leave out HAVING, ORDER BY and LIMIT")
    if found.question.levels is None or found.question.is_found:
        raise InvalidArgument(
            "totals = 'consistent' needs several levels of declared keys: group by cube (...) or rollup"
        )
    if not any(each.what in ADDING for each in found.question.measures.values()):
        raise InvalidArgument("totals = 'consistent' is for rows and sums: nothing else adds up over groups")


def with_consistent_totals(answer: AnswerTable, query: Query) -> AnswerTable:
    """Adds, beside each count and sum, a column whose totals add up; counts become integers >= 0."""
    frame, selected = answer.frame, {node.sql(): name for name, node in query.translated.selected}
    for sql, measure in query.translated.measured.items():
        if sql in selected and query.question.measures[query.translated.measure_of(sql)].what in ADDING:
            fitted = consistent_totals(answer.release, measure)
            kind = "whole" if "whole" in fitted.columns else "consistent"
            frame = frame.with_columns(fitted[kind].alias(f"{selected[sql]} adding up"))
    return replace(answer, frame=frame)
