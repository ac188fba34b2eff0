"""Exact integer counts and sums of a table on polars, pandas, DuckDB or Spark, with per-person bounding."""

from bruit.tables.bounding import Key, draw_key
from bruit.tables.domain import OTHER, Among, Domain, Within, among, domain_from_json, within
from bruit.tables.exact import cells, count, found_groups, group_totals, histogram, reach, tally, total
from bruit.tables.magnitudes import magnitudes, reach_of
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
    "cells",
    "count",
    "domain_from_json",
    "draw_key",
    "found_groups",
    "group_totals",
    "histogram",
    "magnitudes",
    "reach",
    "reach_of",
    "read",
    "require_one_table",
    "tally",
    "total",
    "within",
]
