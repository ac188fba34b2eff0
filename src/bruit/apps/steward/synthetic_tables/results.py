"""The results of a synthetic table: charts of its columns, answers with intervals, files and the statement."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from bruit.apps.steward.charts import MOST_BARS, Bars
from bruit.apps.steward.csv_safety import csv_of
from bruit.apps.steward.statements import Statement, make_statement, tables_read
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger
from bruit.synthetic import Condition, SyntheticTable
from bruit.synthetic.files.statement import MAY, MAY_NOT, together
from bruit.synthetic.synthetic_table import EXCEL_ROWS
from bruit.tables import Among

ENDINGS: Final = ("csv", "parquet", "xlsx")
MISSING: Final = "missing"
"""What is written for a missing value in a condition."""


def marginal_charts(made: SyntheticTable, most: int) -> list[Bars]:
    """The counts of each of the first columns, with intervals for the true table."""
    charts = []
    for column in made.columns[:most]:
        found = made.marginal(column.name)
        assert found.interval is not None
        more = len(found.labels) - MOST_BARS
        note = f"Lines show intervals at {100 * found.interval.confidence:g} % for the true table."
        note += f" {more} more values are in the files." if more > 0 else ""
        ends = found.value, found.interval.low, found.interval.high
        value, low, high = (np.rint(part[:MOST_BARS]) for part in ends)
        charts.append(Bars(column.name, list(found.labels[:MOST_BARS]), value, low, high, note))
    return charts


def read_conditions(made: SyntheticTable, lines: list[tuple[str, str, str]]) -> dict[str, Condition]:
    """Conditions on the columns of a synthetic table, from lines of (column, value or low end, high end)."""
    columns, found = {each.name: each for each in made.columns}, dict[str, Condition]()
    for name, value, high in lines:
        if name not in columns:
            raise InvalidArgument("a condition needs a column of the synthetic table")
        if name in found:
            raise InvalidArgument("each column stands in one condition: put both ends of a range on one line")
        if value == MISSING and MISSING not in columns[name].labels[:-1]:
            found[name] = None
        elif isinstance(columns[name].domain, Among):
            found[name] = value
        else:
            found[name] = (value, high or value)
    if not found:
        raise InvalidArgument("choose at least one column")
    return found


def is_measured(made: SyntheticTable, names: Mapping[str, object]) -> bool:
    """Whether a noisy count of all these columns together exists, so that the interval is that of its noise."""
    return any(set(names) <= set(measured) for measured in made.measured)


def synthetic_bytes(made: SyntheticTable, kind: str) -> bytes | None:
    """The rows as the bytes of a CSV, Parquet or Excel file; None where a sheet is too small for them."""
    if kind == "xlsx" and len(made.rows) >= EXCEL_ROWS:
        return None
    if kind == "csv":
        return csv_of(made.frame()).encode()
    if kind == "parquet":
        packed = io.BytesIO()
        made.frame().write_parquet(packed)
        return packed.getvalue()
    with TemporaryDirectory() as folder:
        return made.write(Path(folder) / f"synthetic.{kind}").read_bytes()


def synthetic_statement(release: Release[object], made: SyntheticTable, *, book: Ledger, number: int) -> Statement:
    """The statement of a synthetic table: the usual facts, and what the rows may be used for and what not."""
    words = release.details["asked"]["words"]
    usual = make_statement(f"Statement: {words}", (), book=book, guarantee=release.guarantee, number=number)
    facts = dict(usual.facts) | {
        "How precise": "Answers asked of the table carry an interval for the true one: narrow where the columns were "
        "measured together, wider where not, and there calibrated on average over many questions.",
        "Tables": tables_read([release]),
    }
    own = (
        ("What it is", f"{words[:1].upper()}{words[1:]}; {len(made.rows)} invented rows, none of which is anybody's."),
        ("It may be used to", "; ".join(MAY)),
        ("It may not be used to", "; ".join(MAY_NOT)),
        ("Measured together", together(made.measured)),
    )
    return Statement(usual.title, (*own, *facts.items()), ())
