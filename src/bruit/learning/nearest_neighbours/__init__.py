"""Nearest neighbours with noisy votes, and students of them."""

from bruit.learning.nearest_neighbours.classifier import NearestNeighbours
from bruit.learning.nearest_neighbours.student import Student

__all__ = ["NearestNeighbours", "Student"]
