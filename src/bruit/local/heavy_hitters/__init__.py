"""Frequent words that nobody listed beforehand, found from noised reports of their prefixes."""

from bruit.local.heavy_hitters.prefix_rounds import PrefixRounds
from bruit.local.heavy_hitters.prefix_search import PrefixSearch, WordReports

__all__ = ["PrefixRounds", "PrefixSearch", "WordReports"]
