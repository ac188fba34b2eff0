"""The cases of `codes`: hard decisions and soft ones."""

from benchmarks.codes.hard import CASES as HARD
from benchmarks.codes.soft import CASES as SOFT

CASES = [*HARD, *SOFT]
