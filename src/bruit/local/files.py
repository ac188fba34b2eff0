"""Reports in files: Parquet that describes its own protocol, tallied in one bounded pass."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.local.mean_protocol import MeanReports
from bruit.local.protocol import FrequencyProtocol, protocol_from_json
from bruit.local.tally import Reports, Tally, tally_from_json

_KEY: Final = "bruit.protocol"
_SEEDED: Final = "bruit.seeded"
_ROWS: Final = 1 << 16  # rows of a group, so that a folder larger than memory is read piece by piece


def write_reports(reports: Reports | MeanReports, path: Path | str) -> None:
    """Writes reports to a Parquet file that carries the JSON of their protocol."""
    values = reports.values if reports.values.ndim == 2 else reports.values[:, None]
    frame = polars.DataFrame({f"report_{place}": column for place, column in enumerate(values.T)})
    metadata = {_KEY: json.dumps(reports.protocol.to_json()), _SEEDED: json.dumps(reports.seeded)}
    frame.write_parquet(path, metadata=metadata, row_group_size=_ROWS)


def read_protocol(path: Path | str) -> FrequencyProtocol:
    """The protocol that a reports file says its reports followed."""
    return protocol_from_json(_metadata(Path(path))[_KEY])


def read_reports(path: Path | str) -> Reports:
    """All reports of one file."""
    metadata = _metadata(Path(path))
    protocol = protocol_from_json(metadata[_KEY])
    values = list(_pieces(Path(path), protocol))
    return Reports(
        protocol, np.concatenate(values) if values else protocol.randomise([]).values, metadata[_SEEDED] == "true"
    )


def tally_files(path: Path | str, protocol: FrequencyProtocol | None = None) -> Tally:
    """The tally of a reports file, or of every Parquet file in a folder, in one pass that holds one piece at a time.

    All files must follow one protocol: the one given, or that of the first file.
    """
    root = Path(path)
    paths = sorted(root.glob("*.parquet")) if root.is_dir() else [root]
    if not paths:
        raise InvalidArgument(f"{root.name} holds no Parquet file; write some with write_reports")
    tally = (protocol or read_protocol(paths[0])).empty()
    for file in paths:
        metadata = _metadata(file)
        if protocol_from_json(metadata[_KEY]) != tally.protocol:
            raise BadFile(f"{file.name} follows another protocol than the reports it is to be tallied with")
        tally += Tally(tally.protocol, 0, np.zeros_like(tally.counts), metadata[_SEEDED] == "true")
        for values in _pieces(file, tally.protocol):
            tally += _checked(tally.protocol, values, file)
    return tally


def tally_files_on_spark(session: Any, path: Path | str, protocol: FrequencyProtocol | None = None) -> Tally:
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
    return sum((tally_from_json(json.loads(one)) for one in described), wanted.empty())


def _described(block: str, path: str) -> str:
    """The tally of one file as a JSON text, made where the file is read."""
    return json.dumps(tally_files(path, protocol_from_json(block)).to_json())


def _checked(protocol: Any, values: NDArray[Any], file: Path) -> Any:
    try:
        return protocol.tally(values)
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


def _pieces(file: Path, protocol: Any) -> Iterator[NDArray[Any]]:
    """The rows of a file, some at a time, in the shape and type of the protocol's reports."""
    sample = protocol.randomise([]).values
    width = sample.shape[1] if sample.ndim == 2 else 1
    names = [f"report_{place}" for place in range(width)]
    try:
        scan = polars.scan_parquet(file)
        if scan.collect_schema().names() != names:
            raise BadFile(f"{file.name} has other columns than reports of its protocol have")
        rows = int(scan.select(polars.len()).collect().item())
        for start in range(0, rows, _ROWS):
            frame = scan.slice(start, _ROWS).collect()
            yield frame.to_numpy() if sample.ndim == 2 else frame.to_series().to_numpy()
    except (polars.exceptions.PolarsError, OSError) as error:
        raise BadFile(f"{file.name} cannot be read to its end: it was cut half-way or changed") from error
