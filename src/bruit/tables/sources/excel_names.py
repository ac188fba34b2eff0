"""Prints the names of the columns of an Excel sheet as JSON; run as a process of its own with little memory and time.

The reader asks for the whole rectangle around the cells that are filled: two cells at opposite corners of a sheet are
half a terabyte, and where that cannot be had the reader ends its process. What fits here can be opened elsewhere.
"""

from __future__ import annotations

import json
import sys
from typing import Final

MOST_MEMORY: Final = 2**32
"""Bytes for the whole sheet, at 32 a cell: a hundred columns of as many rows as Excel has."""

MOST_SECONDS: Final = 120
"""Processor time: a sheet of a hundred million cells takes less, a small file that inflates without end more."""


def main(where: str) -> None:
    """Prints the names; `where` is the path, the sheet and the row of the names in JSON."""
    limit_resources()
    import fastexcel

    path, sheet, header = json.loads(where)
    found = fastexcel.read_excel(path).load_sheet(sheet, header_row=header - 1, n_rows=0, dtypes="string")
    sys.stdout.write(json.dumps([column.name for column in found.available_columns()]))


def limit_resources() -> None:
    """Ends this process where it takes more memory or processor time than the largest honest sheet."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main(sys.argv[1])
