"""Tables on polars, pandas, DuckDB or Spark with declared columns and per-person bounding.

What they count and sum exactly, in `tables.exact` and `tables.magnitudes`, is private information and no release.
"""

from bruit.tables import exact, magnitudes
from bruit.tables.bounding import Key, draw_key
from bruit.tables.domain import OTHER, Among, Domain, Within, among, domain_from_json, within
from bruit.tables.exact import reach
from bruit.tables.reading import read
from bruit.tables.table import Column, Table, UndeclaredColumn, require_one_table

__all__ = [
    "OTHER",
    "Among",
    "Column",
    "Domain",
    "Key",
    "Table",
    "UndeclaredColumn",
    "Within",
    "among",
    "domain_from_json",
    "draw_key",
    "exact",
    "magnitudes",
    "reach",
    "read",
    "require_one_table",
    "within",
]
