"""Learning: trees and additive models, simple models, neighbours and randomised answers."""

from benchmarks.learning_models import CASES as MODELS
from benchmarks.learning_neighbours import CASES as NEIGHBOURS
from benchmarks.learning_trees import CASES as TREES

CASES = [*TREES, *MODELS, *NEIGHBOURS]
