import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from click.testing import CliRunner

from bruit.apps.cli import main

RNG = np.random.default_rng(4)
PEOPLE = polars.DataFrame(
    {
        "mail": [f"someone{row}@example.org" for row in range(200)],
        "age": RNG.integers(18, 90, 200),
        "postcode": [f"7501{row % 10}" for row in range(200)],
        "illness": RNG.choice(["influenza", "angina"], 200),
    }
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path)
    return path


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_report_names_what_to_do_and_shows_no_value(people: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    found = run("risk", people, "--quasi", "age", "--sensitive", "illness", "--html", page)
    assert found.exit_code == 0, found.output
    for text in (found.output, page.read_text()):
        assert "not a release" in text
        assert "e-mail address" in text
        assert "influenza" not in text
        assert "someone1@" not in text
    assert page.read_text().startswith("<!doctype html>")


def test_json_for_machines(people: Path) -> None:
    told = json.loads(run("risk", people, "--sensitive", "illness", "--json", "--seed", "1").output)
    assert told["scan"]["identifiers"][0]["column"] == "mail"
    assert told["risk"]["sensitive"][0]["l"] >= 1
    assert told["marginals"]
    assert "not a release" in told["notice"]


def test_bad_input_is_a_sentence(people: Path, tmp_path: Path) -> None:
    for arguments in (("risk", people, "--quasi", "nothing"), ("risk", tmp_path / "none.csv")):
        found = run(*arguments)
        assert found.exit_code == 2
        assert "Traceback" not in found.output


def test_anonymise_writes_a_coarser_table(people: Path, tmp_path: Path) -> None:
    coarse = tmp_path / "coarse.csv"
    found = run(
        "anonymise", people, coarse, "--quasi", "age:10,20,40", "--quasi", "postcode:prefix4", "--sensitive", "illness",
        "-k", "10", "-l", "2", "--suppress", "0.1",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    written = polars.read_csv(coarse)
    assert written.columns == ["age", "postcode", "illness"]
    assert written.group_by("age", "postcode").len()["len"].min() >= 10
    assert "is certain" in found.output


def test_anonymise_by_mondrian_in_json(people: Path, tmp_path: Path) -> None:
    found = run("anonymise", people, tmp_path / "x.csv", "--quasi", "age", "--method", "mondrian", "--json")
    assert json.loads(found.output)["risk"]["k"] >= 10


def test_pseudonyms_come_with_their_warning(people: Path, tmp_path: Path) -> None:
    found = run("anonymise", people, tmp_path / "x.csv", "--pseudonyms", "mail")
    assert "hide names, not people" in found.output
    assert "@" not in (tmp_path / "x.csv").read_text()
    told = json.loads(run("anonymise", people, tmp_path / "x.csv", "--pseudonyms", "mail", "--json").output)
    assert told["recognised"] == {"mail": 0.0}


@pytest.mark.parametrize("quasi", ["age:x", "age:prefix", "postcode:5,7"])
def test_hierarchies_that_are_none_are_refused(people: Path, tmp_path: Path, quasi: str) -> None:
    assert run("anonymise", people, tmp_path / "x.csv", "--quasi", quasi).exit_code == 2


def test_either_quasi_or_pseudonyms(people: Path, tmp_path: Path) -> None:
    assert run("anonymise", people, tmp_path / "x.csv").exit_code == 2
