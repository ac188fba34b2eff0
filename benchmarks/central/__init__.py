"""The cases of `central`: questions beside the engines' and the peers', tables, and the deciles, which take longest."""

from benchmarks.central.questions import CASES as QUESTIONS
from benchmarks.central.releases import CASES as RELEASES
from benchmarks.central.tables import CASES as TABLES

CASES = [*QUESTIONS, *TABLES, *RELEASES]
