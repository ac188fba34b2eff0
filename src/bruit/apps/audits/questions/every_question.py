"""All cases of questions."""

from collections.abc import Iterator

from bruit.apps.audits.case import Case
from bruit.apps.audits.questions import limits_and_sources, queries
from bruit.core.neighbours import Neighbours


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """Every case of a question."""
    yield from queries.cases(neighbours)
    yield from limits_and_sources.cases(neighbours)
