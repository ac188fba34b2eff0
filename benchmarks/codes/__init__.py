"""The cases of `codes`: hard decisions, soft ones, and fountains."""

from benchmarks.codes.fountain import CASES as FOUNTAIN
from benchmarks.codes.hard import CASES as HARD
from benchmarks.codes.soft import CASES as SOFT

CASES = [*HARD, *SOFT, *FOUNTAIN]
