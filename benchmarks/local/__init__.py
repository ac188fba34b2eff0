"""The cases of `local`: reports, their decoding, and words nobody listed."""

from benchmarks.local.decoding import CASES as DECODING
from benchmarks.local.protocols import CASES as PROTOCOLS
from benchmarks.local.words import CASES as WORDS

CASES = [*PROTOCOLS, *DECODING, *WORDS]
