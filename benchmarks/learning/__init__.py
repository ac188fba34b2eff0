"""Learning: trees and additive models, simple models, neighbours and randomised answers."""

from benchmarks.learning.income import CASES as INCOME
from benchmarks.learning.models import CASES as MODELS
from benchmarks.learning.neighbours import CASES as NEIGHBOURS
from benchmarks.learning.trees import CASES as TREES

CASES = [*TREES, *INCOME, *MODELS, *NEIGHBOURS]
