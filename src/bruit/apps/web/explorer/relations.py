"""The choice of neighbouring relation in the explorer, and its name in Python."""

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
    """The name of bruit's constant for the neighbouring relation."""
    return f"bruit.{Neighbours(neighbours).name}"
