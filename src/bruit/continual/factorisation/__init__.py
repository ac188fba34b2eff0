"""How running sums are factorised so that noise of one price serves every period."""

from bruit.continual.factorisation.factor import FIXED, Factor, factor_from_json, repeated, repeated_exactly
from bruit.continual.factorisation.search import Aim, search_factor, square_root_error

__all__ = [
    "FIXED",
    "Aim",
    "Factor",
    "factor_from_json",
    "repeated",
    "repeated_exactly",
    "search_factor",
    "square_root_error",
]
