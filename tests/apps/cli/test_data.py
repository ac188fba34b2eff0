"""`bruit data`: what is listed stands where it says, and nothing is overwritten."""

import json
from pathlib import Path

import polars
import pytest
from click.testing import CliRunner

from bruit.apps.cli import main


def bruit(*arguments: str) -> tuple[int, str]:
    ended = CliRunner().invoke(main, ["data", *arguments])
    return ended.exit_code, ended.output


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_an_example_is_written_once(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    assert bruit("example", str(file), "--rows", "30")[0] == 0
    read = polars.read_csv(file) if name.endswith("csv") else polars.read_parquet(file)
    assert read.shape == (30, 7)
    status, told = bruit("example", str(file))
    assert status == 2
    assert "left as it is" in told


def test_an_example_of_another_kind_is_refused(tmp_path: Path) -> None:
    status, told = bruit("example", str(tmp_path / "people.xls"))
    assert (status, ".parquet" in told) == (2, True)


def test_every_listed_set_is_found_or_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRUIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    status, told = bruit("list", "--json")
    assert status == 0
    assert {place for row in json.loads(told) for place in row["files"].values()} == {"not here yet"}


def test_a_set_that_does_not_exist_is_refused_by_name() -> None:
    status, told = bruit("fetch", "nothing")
    assert status == 2
    assert "adult" in told
