"""Tables of people on polars, pandas, DuckDB, Spark or a database, with declared columns.

A cell is read by a total function of that cell and what was declared, and of each person so many rows count as the
limit says, chosen at random; see `bruit.tables.schema`, `bruit.tables.plan` and `bruit.tables.choice`.
"""

from bruit.tables.choice.limits import Limit
from bruit.tables.declared_plans import plan_for, read_integers
from bruit.tables.domain import OTHER, Among, Domain, Within, among, domain_from_json, within
from bruit.tables.plan.operators import open_table
from bruit.tables.reading import read
from bruit.tables.table import Column, Table, UndeclaredColumn, require_one_table
from bruit.tables.versions.registering import Registered, open_registered, register

__all__ = [
    "OTHER",
    "Among",
    "Column",
    "Domain",
    "Limit",
    "Registered",
    "Table",
    "UndeclaredColumn",
    "Within",
    "among",
    "domain_from_json",
    "open_registered",
    "open_table",
    "plan_for",
    "read",
    "read_integers",
    "register",
    "require_one_table",
    "within",
]
