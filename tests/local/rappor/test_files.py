"""RAPPOR reports in files: read back, tallied piece by piece, refused when damaged."""

import json
from pathlib import Path

import numpy as np
import polars
import pytest

from bruit.errors import BadFile, InvalidArgument
from bruit.local import KRR, Rappor, files, read_protocol, tally_files, write_reports
from bruit.local.rappor import RapporReports

PROTOCOL = Rappor(bits=70, hashes=2, cohorts=3, f=0.5, p=0.5, q=0.75)


def reports(people: int = 300, seed: int = 1) -> RapporReports:
    rng = np.random.default_rng(seed)
    return PROTOCOL.randomise([f"page {i}" for i in rng.integers(0, 5, people)], rng=rng)


def test_a_reports_file_describes_itself(tmp_path: Path) -> None:
    write_reports(reports(), tmp_path / "r.parquet")
    assert read_protocol(tmp_path / "r.parquet") == PROTOCOL
    assert tally_files(tmp_path / "r.parquet") == PROTOCOL.tally(reports())


def test_a_folder_is_tallied_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_ROWS", 100)
    seen: list[tuple[int, int]] = []
    for part in range(3):
        write_reports(reports(250 + part, part), tmp_path / f"{part}.parquet")
    one, two, three = (PROTOCOL.tally(reports(250 + part, part)) for part in range(3))
    assert tally_files(tmp_path, on_progress=lambda *done: seen.append(done)) == one + two + three
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_no_reports_make_a_file_too(tmp_path: Path) -> None:
    write_reports(PROTOCOL.randomise([]), tmp_path / "r.parquet")
    assert tally_files(tmp_path / "r.parquet").people.tolist() == [0, 0, 0]  # type: ignore[attr-defined]


def test_a_file_of_another_protocol_is_refused(tmp_path: Path) -> None:
    write_reports(reports(), tmp_path / "a.parquet")
    other = Rappor(bits=70, hashes=2, cohorts=3, f=0.25, p=0.5, q=0.75)
    with pytest.raises(BadFile, match="another protocol"):
        tally_files(tmp_path / "a.parquet", other)
    write_reports(KRR(3, epsilon=1).randomise([1, 2]), tmp_path / "b.parquet")
    with pytest.raises(BadFile, match="reports of KRR"):
        tally_files(tmp_path)


@pytest.mark.parametrize("kept", [0, 3, 500, -1])
def test_a_file_cut_half_way_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "r.parquet"
    write_reports(reports(), path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(BadFile, match="cut"):
        tally_files(path)


def test_changed_metadata_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    write_reports(reports(), path)
    frame, block = polars.read_parquet(path), PROTOCOL.to_json()
    for changed in ({**block, "cohorts": 4, "law": {**block["law"], "f": "1/4"}}, [], {"protocol": "Rappor"}):  # type: ignore[var-annotated]
        frame.write_parquet(path, metadata={"bruit.protocol": json.dumps(changed), "bruit.seeded": "false"})
        with pytest.raises(BadFile):
            tally_files(path)


def test_rows_no_respondent_sends_are_refused(tmp_path: Path) -> None:
    good, path = reports(), tmp_path / "r.parquet"
    for cohorts, values in ((good.cohorts + 5, good.values), (good.cohorts, good.values | np.uint64(1 << 63))):
        write_reports(RapporReports(PROTOCOL, cohorts, values), path)
        with pytest.raises(BadFile, match="never sends"):
            tally_files(path)
    write_reports(RapporReports(PROTOCOL, good.cohorts, np.hstack([good.values] * 2)), path)
    with pytest.raises(BadFile, match="columns"):
        tally_files(path)


def test_nothing_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no file"):
        tally_files(tmp_path / "missing.parquet")
    with pytest.raises(InvalidArgument, match="no Parquet"):
        tally_files(tmp_path)
