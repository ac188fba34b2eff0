"""Reports in Parquet files that describe their own protocol, tallied in one pass with bounded memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars

from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.local.protocol import LocalProtocol, ReportsKind, TallyKind, protocol_from_json, tally_from_json

_KEY: Final = "bruit.protocol"
_SEEDED: Final = "bruit.seeded"
_ROWS: Final = 1 << 16  # rows of a group, so that a folder larger than memory is read piece by piece


def write_reports(reports: ReportsKind, path: Path | str) -> None:
    """Writes reports of any protocol to a Parquet file that carries the JSON of the protocol."""
    metadata = {_KEY: json.dumps(reports.protocol.to_json()), _SEEDED: json.dumps(reports.seeded)}
    polars.DataFrame(reports.columns()).write_parquet(path, metadata=metadata, row_group_size=_ROWS)


def read_protocol(path: Path | str) -> LocalProtocol:
    """The protocol stored in a reports file."""
    return protocol_from_json(_metadata(Path(path))[_KEY])


def read_reports(path: Path | str) -> ReportsKind:
    """All reports of one file."""
    return joined(list(_pieces(Path(path), read_protocol(path))))


def joined(parts: list[ReportsKind]) -> ReportsKind:
    """The reports of all parts, which followed one protocol; at least one part."""
    columns = [part.columns() for part in parts]
    whole = {name: np.concatenate([one[name] for one in columns]) for name in columns[0]}
    return parts[0].of(whole, seeded=any(part.seeded for part in parts))


def tally_files(
    path: Path | str, protocol: LocalProtocol | None = None, *, on_progress: Callable[[int, int], None] | None = None
) -> TallyKind:
    """The tally of a reports file, or of every Parquet file in a folder, read one chunk at a time.

    All files must follow one protocol, of whichever kind: the one given, or that of the first file.
    """
    root = Path(path)
    paths = sorted(root.glob("*.parquet")) if root.is_dir() else [root]
    if not paths:
        raise InvalidArgument(f"{root.name} holds no Parquet file; write some with write_reports")
    asked = protocol or read_protocol(paths[0])
    tally = asked.empty()
    for number, file in enumerate(paths):
        for reports in _pieces(file, asked):
            tally += _checked(reports, file)
        if on_progress is not None:
            on_progress(number + 1, len(paths))
    return tally


def tally_files_on_spark(session: Any, path: Path | str, protocol: LocalProtocol | None = None) -> TallyKind:
    """As `tally_files`, with the files of a folder shared out over the workers of a Spark session.

    Every worker must see the folder and have bruit installed; what travels back is one small tally a file.
    """
    root = Path(path).resolve()
    paths = sorted(str(file) for file in root.glob("*.parquet"))
    if not paths:
        raise InvalidArgument(f"{root.name} is no folder with Parquet files; write some with write_reports")
    wanted = protocol or read_protocol(paths[0])
    block = json.dumps(wanted.to_json())
    described = session.sparkContext.parallelize(paths, len(paths)).map(partial(_described, block)).collect()
    return sum(map(tally_from_json, described), wanted.empty())


def _described(block: str, path: str) -> str:
    """The tally of one file as a JSON text, made where the file is read."""
    return json.dumps(tally_files(path, protocol_from_json(block)).to_json())


def _checked(reports: ReportsKind, file: Path) -> TallyKind:
    try:
        return reports.protocol.tally(reports)
    except BruitError as error:
        raise BadFile(f"{file.name} holds rows that its own protocol never sends: {error}") from error


def _metadata(file: Path) -> dict[str, str]:
    if not file.is_file():
        raise BadFile(f"{file.name} is no file; give a Parquet file of reports or a folder of them")
    try:
        metadata = polars.read_parquet_metadata(file)
    except (polars.exceptions.PolarsError, OSError) as error:
        raise BadFile(f"{file.name} is no whole Parquet file: it was cut half-way or is of another kind") from error
    if _KEY not in metadata or metadata.get(_SEEDED) not in ("true", "false"):
        raise BadFile(f"{file.name} says nothing of a protocol; only files that write_reports made can be tallied")
    return metadata


def _pieces(file: Path, protocol: LocalProtocol) -> Iterator[ReportsKind]:
    """The reports of a file of this protocol, some at a time and at least one piece, be it empty."""
    metadata, sample = _metadata(file), protocol.randomise([])
    found = protocol_from_json(metadata[_KEY])
    if found != protocol:
        held, asked = type(found).__name__, type(protocol).__name__
        kinds = "" if held == asked else f": it holds reports of {held}, not of {asked}"
        raise BadFile(f"{file.name} follows another protocol than the reports it is to be tallied with{kinds}")
    try:
        scan = polars.scan_parquet(file)
        if scan.collect_schema().names() != list(sample.columns()):
            raise BadFile(f"{file.name} has other columns than reports of its protocol have")
        rows = int(scan.select(polars.len()).collect().item())
        for start in range(0, max(rows, 1), _ROWS):
            frame = scan.slice(start, _ROWS).collect()
            columns = {column.name: column.to_numpy() for column in frame}
            yield sample.of(columns, seeded=metadata[_SEEDED] == "true")
    except (polars.exceptions.PolarsError, OSError) as error:
        raise BadFile(f"{file.name} cannot be read to its end: it was cut half-way or changed") from error
