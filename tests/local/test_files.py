"""Reports in files: read back, tallied piece by piece, refused when damaged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from bruit.errors import BadFile, InvalidArgument
from bruit.local import (
    KRR,
    OLH,
    OUE,
    FrequencyProtocol,
    HadamardResponse,
    OneBitMean,
    PiecewiseMean,
    Rappor,
    Reports,
    SubsetSelection,
    files,
    read_protocol,
    read_reports,
    tally_files,
    tally_files_on_spark,
    write_reports,
)


@pytest.fixture(params=[KRR, OUE, OLH, HadamardResponse, SubsetSelection], ids=lambda kind: kind.__name__)
def protocol(request: pytest.FixtureRequest) -> FrequencyProtocol:
    return request.param(["a", "b", "c"] + [f"d{i}" for i in range(70)], epsilon=1)  # type: ignore[no-any-return]


def reports_of(protocol: FrequencyProtocol, people: int = 1000, seed: int = 1) -> Reports:
    rng = np.random.default_rng(seed)
    return protocol.randomise([protocol.categories.listed[i] for i in rng.integers(0, 73, people)], rng=rng)


def test_a_reports_file_describes_itself(protocol: FrequencyProtocol, tmp_path: Path) -> None:
    reports = reports_of(protocol)
    write_reports(reports, tmp_path / "r.parquet")
    again = read_reports(tmp_path / "r.parquet")
    assert again.protocol == read_protocol(tmp_path / "r.parquet") == protocol
    assert (again.values == reports.values).all()  # type: ignore[attr-defined]
    assert again.seeded
    assert tally_files(tmp_path / "r.parquet") == protocol.tally(reports)


def test_a_folder_is_tallied_in_pieces(
    protocol: FrequencyProtocol, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_ROWS", 100)
    longest = 0
    whole = protocol.empty()
    for part in range(3):
        reports = reports_of(protocol, 250 + part, part)
        write_reports(reports, tmp_path / f"{part}.parquet")
        whole += protocol.tally(reports)
    for file in tmp_path.iterdir():
        longest = max(longest, *(len(piece) for piece in files._pieces(file, protocol)))
    assert longest == 100
    assert tally_files(tmp_path) == whole


def test_no_reports_make_a_file_too(protocol: FrequencyProtocol, tmp_path: Path) -> None:
    write_reports(protocol.randomise([]), tmp_path / "r.parquet")
    assert tally_files(tmp_path / "r.parquet") == protocol.empty()
    assert len(read_reports(tmp_path / "r.parquet")) == 0


def test_a_file_of_another_protocol_is_refused(protocol: FrequencyProtocol, tmp_path: Path) -> None:
    write_reports(reports_of(protocol), tmp_path / "a.parquet")
    other = protocol.at(2.0)
    with pytest.raises(BadFile, match="another protocol"):
        tally_files(tmp_path / "a.parquet", other)
    write_reports(reports_of(other), tmp_path / "b.parquet")
    with pytest.raises(BadFile, match=r"b\.parquet follows another protocol"):
        tally_files(tmp_path)


@pytest.mark.parametrize("kept", [0, 3, 500, -1])
def test_a_file_cut_half_way_is_refused(protocol: FrequencyProtocol, tmp_path: Path, kept: int) -> None:
    path = tmp_path / "r.parquet"
    write_reports(reports_of(protocol), path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(BadFile, match="cut"):
        tally_files(path)


def test_changed_metadata_is_refused(protocol: FrequencyProtocol, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    write_reports(reports_of(protocol), path)
    frame, block = polars.read_parquet(path), protocol.to_json()
    changed = {**block, "settings": {**block["settings"], "epsilon": "1/10"}}
    frame.write_parquet(path, metadata={"bruit.protocol": json.dumps(changed), "bruit.seeded": "false"})
    with pytest.raises(BadFile):
        tally_files(path)
    frame.write_parquet(path)
    with pytest.raises(BadFile, match="says nothing"):
        tally_files(path)


def test_rows_no_respondent_sends_are_refused(protocol: FrequencyProtocol, tmp_path: Path) -> None:
    reports = reports_of(protocol)
    most = np.full_like(reports.values, np.iinfo(reports.values.dtype).max)
    write_reports(Reports(protocol, most), tmp_path / "r.parquet")
    with pytest.raises(BadFile, match="never sends"):
        tally_files(tmp_path / "r.parquet")
    more = np.concatenate([np.atleast_2d(reports.values.T), np.atleast_2d(reports.values.T)]).T
    write_reports(Reports(protocol, more), tmp_path / "r.parquet")
    with pytest.raises(BadFile, match="columns"):
        tally_files(tmp_path / "r.parquet")


@pytest.mark.service
@pytest.mark.xdist_group("spark")
def test_a_folder_is_tallied_on_spark(tmp_path: Path, spark: Any) -> None:
    protocol = OUE(["a", "b", "c"] + [f"d{i}" for i in range(70)], epsilon=1)
    for part in range(3):
        write_reports(reports_of(protocol, 250 + part, part), tmp_path / f"{part}.parquet")
    assert tally_files_on_spark(spark, tmp_path) == tally_files(tmp_path)
    with pytest.raises(InvalidArgument, match="no folder"):
        tally_files_on_spark(spark, tmp_path / "missing")


def test_nothing_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no file"):
        tally_files(tmp_path / "missing.parquet")
    with pytest.raises(InvalidArgument, match="no Parquet"):
        tally_files(tmp_path)


@pytest.mark.parametrize(
    "mean", [OneBitMean(0, 10, grid=1, epsilon=1), PiecewiseMean(0, 10, grid=1, epsilon=1, missing=3, mixed=True)]
)
def test_reports_for_a_mean_are_tallied_from_files(
    mean: OneBitMean | PiecewiseMean, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_ROWS", 100)
    whole = mean.tally([])
    for part in range(3):
        reports = mean.randomise(np.arange(250 + part) % 11, rng=np.random.default_rng(part))
        write_reports(reports, tmp_path / f"{part}.parquet")
        whole += mean.tally(reports)  # type: ignore[operator]
    assert tally_files(tmp_path) == tally_files(tmp_path, mean) == whole
    assert whole.seeded
    damaged(mean, tmp_path, lambda: tally_files(tmp_path))
    with pytest.raises(BadFile, match="no file"):
        tally_files(tmp_path / "missing.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidArgument, match="no Parquet"):
        tally_files(tmp_path / "empty")


def test_rappor_reports_are_tallied_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_ROWS", 100)
    protocol = Rappor(bits=70, hashes=2, cohorts=4, f=0.5, p=0.25, q=0.75)
    parts = [protocol.randomise(["a", "b"] * 125, rng=np.random.default_rng(part)) for part in range(3)]
    for part, reports in enumerate(parts):
        write_reports(reports, tmp_path / f"{part}.parquet")
    one, two, three = map(protocol.tally, parts)
    assert tally_files(tmp_path) == tally_files(tmp_path, protocol) == one + two + three
    assert read_protocol(tmp_path / "0.parquet") == protocol
    damaged(protocol, tmp_path, lambda: tally_files(tmp_path))


def damaged(protocol: Any, folder: Path, tally: Callable[[], object]) -> None:
    """Harms the last file of a folder in every way; each must be refused."""
    path = folder / "2.parquet"
    whole, frame, block = path.read_bytes(), polars.read_parquet(path), protocol.to_json()
    for kept in (0, 3, 500, -1):
        path.write_bytes(whole[:kept])
        with pytest.raises(BadFile, match="cut"):
            tally()
    other = json.dumps(KRR(["a", "b"], epsilon=1).to_json())
    for text in (json.dumps({**block, "law": {}}), json.dumps({**block, "version": 99}), other, "{", "[]"):
        frame.write_parquet(path, metadata={"bruit.protocol": text, "bruit.seeded": "false"})
        with pytest.raises(BadFile):
            tally()
    frame.write_parquet(path)
    with pytest.raises(BadFile, match="says nothing"):
        tally()
    good = {"bruit.protocol": json.dumps(block), "bruit.seeded": "false"}
    column = frame.columns[0]
    for bad in (
        frame.with_columns(polars.lit(99).cast(frame[column].dtype).alias(column)),
        frame.rename({column: "x"}),
    ):
        bad.write_parquet(path, metadata=good)
        with pytest.raises(BadFile):
            tally()
    frame.with_columns(polars.lit(None).cast(frame[column].dtype).alias(column)).write_parquet(path, metadata=good)
    with pytest.raises(BadFile):
        tally()
    path.write_bytes(whole)
