"""Synthetic tables: invented rows that follow a private table's noisy counts, with intervals for answers."""

from bruit.synthetic.accuracy.comparison import compare, compare_cells
from bruit.synthetic.conditions import Condition, Where
from bruit.synthetic.files.saved_table import load, save
from bruit.synthetic.linked import LinkedTables, synthesise_linked
from bruit.synthetic.plan import Mode
from bruit.synthetic.synthesis import synthesise
from bruit.synthetic.synthetic_table import SyntheticTable

__all__ = [
    "Condition",
    "LinkedTables",
    "Mode",
    "SyntheticTable",
    "Where",
    "compare",
    "compare_cells",
    "load",
    "save",
    "synthesise",
    "synthesise_linked",
]
