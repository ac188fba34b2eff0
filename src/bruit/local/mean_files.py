"""Means in files: protocols and tallies from their JSON, and reports tallied piece by piece."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.local import files
from bruit.local.checking import checked_flag
from bruit.local.mean import MeanTally, OneBitMean
from bruit.local.window import PiecewiseMean, WindowTally

_KINDS: Final = {"OneBitMean": OneBitMean, "PiecewiseMean": PiecewiseMean}


def mean_from_json(description: Mapping[str, Any] | str) -> OneBitMean | PiecewiseMean:
    """The protocol that `to_json` described: it is made again from its settings and must come out the same."""
    try:
        block = dict(json.loads(description) if isinstance(description, str) else description)
        protocol: OneBitMean | PiecewiseMean = _KINDS[block["protocol"]](**block["settings"])
    except (BruitError, KeyError, TypeError, ValueError) as error:
        raise BadFile(
            "this block describes no protocol for a mean: it was cut, or written by something else"
        ) from error
    if json.loads(json.dumps(protocol.to_json())) != block:
        raise BadFile("this protocol does not come out as the block says: a parameter was changed after it was written")
    return protocol


def mean_tally_from_json(description: Mapping[str, Any]) -> MeanTally | WindowTally:
    """The tally of a mean that `to_json` described."""
    protocol = mean_from_json(description.get("protocol", {}))
    try:
        counts = [int(count) for count in description["counts"]]
        tally = protocol.tally_of(counts, seeded=checked_flag(description["seeded"]))
    except (BruitError, KeyError, TypeError, ValueError) as error:
        raise BadFile("this block describes no tally of a mean: it was cut, or changed") from error
    if min(counts) < 0:
        raise BadFile("this tally does not fit its own protocol: it was changed after it was written")
    return tally


def tally_mean_files(path: Path | str, protocol: OneBitMean | PiecewiseMean | None = None) -> MeanTally | WindowTally:
    """The tally of a file of reports for a mean, or of every Parquet file in a folder, one piece in memory at a time.

    All files must follow one protocol: the one given, or that of the first file.
    """
    root = Path(path)
    paths = sorted(root.glob("*.parquet")) if root.is_dir() else [root]
    if not paths:
        raise InvalidArgument(f"{root.name} holds no Parquet file; write some with write_reports")
    asked = protocol or mean_from_json(files._metadata(paths[0])[files._KEY])
    tally: Any = asked.tally([])
    for file in paths:
        metadata = files._metadata(file)
        if mean_from_json(metadata[files._KEY]) != asked:
            raise BadFile(f"{file.name} follows another protocol than the reports it is to be tallied with")
        tally += asked.tally_of([0] * len(tally.to_json()["counts"]), seeded=metadata[files._SEEDED] == "true")
        for values in files._pieces(file, asked):
            tally += files._checked(asked, values, file)
    return tally  # type: ignore[no-any-return]
