"""Nearest neighbours with noisy votes, and students of them."""

from bruit.learning.neighbours.neighbours import Neighbours
from bruit.learning.neighbours.student import Student

__all__ = ["Neighbours", "Student"]
