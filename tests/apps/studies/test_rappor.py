"""The RAPPOR studies at a small size: files, populations, and what must be found."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from click.testing import CliRunner

from bruit.apps.cli import main
from bruit.apps.studies.surveys import rappor
from bruit.apps.studies.surveys.rappor_populations import CASES


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("studies")
    asked = ["study", "rappor", "--small", "--seed", "3", "--json", "--folder", str(folder)]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    return folder / "rappor", json.loads(done.stdout)["rappor"]


def test_the_study_writes_its_tables_and_figures(written: tuple[Path, dict[str, Any]]) -> None:
    folder, found = written
    names = {Path(path).name for path in found["files"]}
    assert names == {"repeats.csv", "cases.csv", *(f"{name}.{kind}" for name in CASES for kind in ("csv", "png"))}
    assert all((folder / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in CASES)
    assert "exponential" in str(found["summary"])


def test_what_the_document_found_is_found(written: tuple[Path, dict[str, Any]]) -> None:
    means = {row["case"]: row for row in polars.read_csv(written[0] / "cases.csv").iter_rows(named=True)}
    assert set(means) == set(CASES)
    assert means["exponential-200"]["true"] > 38
    assert means["exponential-1000"]["frequent_found"] > 28
    assert means["normal-10000"]["true"] < means["normal-100000"]["true"] < means["normal-1000000"]["true"]
    assert means["normal-1000000"]["frequent_found"] == means["normal-1000000"]["frequent"] == 23
    assert means["windows"]["frequent_found"] >= 7
    assert means["chrome"]["frequent_found"] >= 26
    assert means["chrome"]["mass_found"] > 0.75
    assert all(row["detection_limit"] < 0.1 for row in means.values())


@pytest.mark.parametrize("name", CASES)
def test_a_population_is_the_documents(name: str) -> None:
    case = CASES[name]
    assert case.chances.sum() == pytest.approx(1)
    assert sum(case.shares.values()) == pytest.approx(1)
    assert len(set(case.candidates)) == len(case.candidates)
    facts = {
        "exponential-200": (200, 32),
        "exponential-1000": (1000, 32),
        "windows": (610, 10),
        "chrome": (8616, 31),
    }
    if name in facts:
        assert (len(case.candidates), sum(share > case.frequent for share in case.shares.values())) == facts[name]


def test_machines_send_all_the_reports_and_keep_their_cohorts() -> None:
    case = CASES["windows"]
    tally = case.tally(np.random.default_rng(1))
    assert tally.people.sum() == 186_792
    again = case.tally(np.random.default_rng(1))
    assert (again.counts == tally.counts).all()
    assert rappor.decode_once(rng=np.random.default_rng(2), case="windows")["spread"] > 1
