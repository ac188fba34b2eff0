"""Nearest neighbours with noisy votes, and student models that learn from their labels."""

from bruit.learning.nearest_neighbours.classifier import NearestNeighbours
from bruit.learning.nearest_neighbours.student import Student

__all__ = ["NearestNeighbours", "Student"]
