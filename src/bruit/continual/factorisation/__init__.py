"""Factorisations of running sums (the matrix mechanism), so that one price serves every period."""

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
