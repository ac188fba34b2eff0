"""Checks when the number of rows may be public: where replacing a row cannot change how many are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.tables.expressions.nodes import Field
from bruit.tables.plan.steps import Leaf, Step, With
from bruit.tables.schema import Number

if TYPE_CHECKING:
    from bruit.central.questions.asking import Question


def check_public_size(question: Question) -> None:
    """Refuses `size` unless each row is a person, none is filtered or grouped, and a missing value has a number.

    With a person column the number of chosen rows is not public, after a filter neither; a value that may be missing
    drops its row. That rows are replaced, and the price is not of a part, is checked where the price is known.
    """
    whole(question.size, "size", why="how many rows there are")
    measured = {measure.what for measure in question.measures.values()}
    if not measured <= {"mean", "quantiles"}:
        raise InvalidArgument("size=... is for means and quantiles: ask for other measures without it")
    rows = question.limit is None and not question.keys and _reads_every_row(question.plan.step)
    if not rows or not all(_is_filled(question, measure.value) for measure in question.measures.values()):
        raise InvalidArgument(
            "size=... needs each row to be a person, no filter, join or key, and columns whose schema states a number "
            "for what is missing: otherwise a replaced row may be dropped; leave size out"
        )


def _reads_every_row(step: Step) -> bool:
    while isinstance(step, With):
        step = step.input
    return isinstance(step, Leaf)


def _is_filled(question: Question, value: object) -> bool:
    """Whether a value is a declared column that is never missing."""
    node = getattr(value, "node", None)
    step = question.plan.step
    while isinstance(step, With):
        if isinstance(node, Field) and node.name in dict(step.columns):
            return False
        step = step.input
    column = question.plan.leaves[0].schema.columns.get(node.name) if isinstance(node, Field) else None
    return isinstance(column, Number) and column.missing is not None
