"""Collects the audit cases of all questions."""

from collections.abc import Iterator

from bruit.apps.audits.case import Case
from bruit.apps.audits.questions import limits_and_sources, queries
from bruit.core.neighbours import Neighbours


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """Every audit case of questions, in Python and in SQL."""
    yield from queries.cases(neighbours)
    yield from limits_and_sources.cases(neighbours)
