"""The cases of `synthetic`: Adult beside the peers, tables that set nothing, intervals, linked and wide tables."""

from benchmarks.synthetic.adult import CASES as ADULT
from benchmarks.synthetic.intervals import CASES as INTERVALS
from benchmarks.synthetic.other_tables import CASES as OTHERS

CASES = [*ADULT, *OTHERS, *INTERVALS]
