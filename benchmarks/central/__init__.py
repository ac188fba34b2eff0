"""The cases of `central`: deciles beside the peers' and questions beside the engines'."""

from benchmarks.central.questions import CASES as QUESTIONS
from benchmarks.central.releases import CASES as RELEASES
from benchmarks.central.tables import CASES as TABLES

CASES = [*RELEASES, *TABLES, *QUESTIONS]
