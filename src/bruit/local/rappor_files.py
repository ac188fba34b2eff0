"""RAPPOR reports in files: the cohort and the words of bits of each report, with the protocol's JSON beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.local import files
from bruit.local.rappor import Rappor, RapporReports, RapporTally, rappor_from_json


def write_rappor_reports(reports: RapporReports, path: Path | str) -> None:
    """Writes reports to a Parquet file that carries the JSON of their protocol."""
    columns: dict[str, NDArray[Any]] = {"cohort": reports.cohorts}
    columns |= {f"report_{place}": column for place, column in enumerate(reports.values.T)}
    metadata = {files._KEY: json.dumps(reports.protocol.to_json()), files._SEEDED: json.dumps(reports.seeded)}
    polars.DataFrame(columns).write_parquet(path, metadata=metadata, row_group_size=files._ROWS)


def read_rappor_protocol(path: Path | str) -> Rappor:
    """The RAPPOR protocol that a reports file says its reports followed."""
    return _protocol(Path(path))[0]


def tally_rappor_files(
    path: Path | str, protocol: Rappor | None = None, *, on_progress: Callable[[int, int], None] | None = None
) -> RapporTally:
    """The tally of a RAPPOR reports file, or of every Parquet file in a folder, one piece in memory at a time.

    All files must follow one protocol: the one given, or that of the first file.
    """
    root = Path(path)
    paths = sorted(root.glob("*.parquet")) if root.is_dir() else [root]
    if not paths:
        raise InvalidArgument(f"{root.name} holds no Parquet file; write some with write_rappor_reports")
    asked = protocol or read_rappor_protocol(paths[0])
    shape = (asked.cohorts, asked.bits)
    tally = RapporTally(asked, np.zeros(shape[0], np.int64), np.zeros(shape, np.int64))
    for number, file in enumerate(paths):
        found, seeded = _protocol(file)
        if found != asked:
            raise BadFile(f"{file.name} follows another protocol than the reports it is to be tallied with")
        for reports in _pieces(file, asked, seeded=seeded):
            tally += _checked(reports, file)
        if on_progress is not None:
            on_progress(number + 1, len(paths))
    return tally


def _protocol(file: Path) -> tuple[Rappor, bool]:
    metadata = files._metadata(file)
    try:
        block = json.loads(metadata[files._KEY])
        kind = block["protocol"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile(f"{file.name} describes no protocol: it was changed after it was written") from error
    if kind != "Rappor":
        raise BadFile(f"{file.name} holds reports of {kind}, not of Rappor: estimate them instead of decoding")
    return rappor_from_json(block), metadata[files._SEEDED] == "true"


def _pieces(file: Path, protocol: Rappor, *, seeded: bool) -> Iterator[RapporReports]:
    names = ["cohort", *(f"report_{place}" for place in range(-(-protocol.bits // 64)))]
    try:
        scan = polars.scan_parquet(file)
        if scan.collect_schema().names() != names:
            raise BadFile(f"{file.name} has other columns than reports of its protocol have")
        rows = int(scan.select(polars.len()).collect().item())
        for start in range(0, rows, files._ROWS):
            frame = scan.slice(start, files._ROWS).collect()
            cohorts, values = frame["cohort"].to_numpy(), frame.select(names[1:]).to_numpy()
            yield RapporReports(protocol, cohorts, values, seeded)
    except (polars.exceptions.PolarsError, OSError) as error:
        raise BadFile(f"{file.name} cannot be read to its end: it was cut half-way or changed") from error


def _checked(reports: RapporReports, file: Path) -> RapporTally:
    try:
        return reports.protocol.tally(reports)
    except BruitError as error:
        raise BadFile(f"{file.name} holds rows that its own protocol never sends: {error}") from error
