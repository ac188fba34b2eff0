"""Whose presence a promise hides: the choice of neighbours, and how Python names it."""

from bruit.apps.web.explorer.parameters import Choice
from bruit.core.neighbours import Neighbours

NEIGHBOURS = Choice(
    "neighbours",
    "Neighbours",
    Neighbours.ADD_OR_REMOVE_ONE.value,
    (
        (Neighbours.ADD_OR_REMOVE_ONE.value, "One person more or less"),
        (Neighbours.REPLACE_ONE.value, "One person replaced by another"),
    ),
)


def python_name(neighbours: str) -> str:
    """The constant of bruit that stands for the neighbours."""
    return f"bruit.{Neighbours(neighbours).name}"
