"""The cases of `local`: reports and their decoding."""

from benchmarks.local.decoding import CASES as DECODING
from benchmarks.local.protocols import CASES as PROTOCOLS

CASES = [*PROTOCOLS, *DECODING]
