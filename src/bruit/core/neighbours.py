"""Neighbouring relations: which two data sets a guarantee compares, and whose data differ."""

from enum import StrEnum
from typing import Final


class Neighbours(StrEnum):
    """The relation between two data sets that a private answer must not tell apart."""

    ADD_OR_REMOVE_ONE = "add or remove one"
    """One person's rows are present or absent; the size of the table is private."""

    REPLACE_ONE = "replace one"
    """One person's rows are exchanged for another's; the size of the table is public."""

    LOCAL = "local"
    """One respondent sends the report of another answer; nobody but the respondent is trusted."""


ADD_OR_REMOVE_ONE: Final = Neighbours.ADD_OR_REMOVE_ONE
REPLACE_ONE: Final = Neighbours.REPLACE_ONE
LOCAL: Final = Neighbours.LOCAL

EACH_ROW: Final = "each row"
"""The unit of protection when every row is a different person: `person=EACH_ROW`."""
