"""Paid model selection: the best of a random number of fits, as a function and as a scikit-learn search."""

from bruit.learning.selection.search import PrivateSearch
from bruit.learning.selection.selecting import Selection, select

__all__ = ["PrivateSearch", "Selection", "select"]
