"""The book of results: made in one go, taken up again where it was left, and never a small study in it."""

import json
import re
from pathlib import Path

import polars
import pytest
from click.testing import CliRunner

from bruit.apps.cli import main
from bruit.apps.findings import Findings
from bruit.apps.studies import STUDIES, load
from bruit.apps.studies.book import book_folder, is_current, write_index, written_page
from bruit.apps.studies.book.earlier import EARLIER
from bruit.apps.studies.book.pages import study_page
from bruit.apps.studies.book.provenance import Provenance, Spent, program
from bruit.apps.studies.documents import DOCUMENTS
from bruit.apps.studies.saved_findings import read_findings
from bruit.errors import MissingData

ROOT = Path(__file__).parents[3]
BOOK = ROOT / "docs" / "results"
SHARES = {"attacks", "income", "knn", "krr-learning", "membership", "trees"}
"""Studies all of whose means are shares."""


def make(book: Path, *names: str) -> list[str]:
    asked = ["study", *names, "--book", str(book), "--folder", str(book.parent / "work"), "--seed", "1", "--json"]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    return list(json.loads(done.stdout)["made"])


def test_a_page_is_made_once_and_again_when_its_seed_changes(tmp_path: Path) -> None:
    book = tmp_path / "book"
    assert make(book, "belief") == ["belief"]
    assert make(book, "belief") == []
    assert is_current("belief", seed=1, book=book)
    assert not is_current("belief", seed=2, book=book)
    page = (book / "belief.md").read_text()
    assert "bruit study belief --book docs/results --seed 1" in page
    for picture in (book / "belief").glob("*.png"):
        assert f"](belief/{picture.name})" in page
    first = {path.name: path.read_bytes() for path in (book / "belief").glob("*.csv")}
    assert make(tmp_path / "again" / "book", "belief") == ["belief"]
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "again" / "book" / "belief").glob("*.csv")}


def test_the_list_says_which_pages_are_older_than_their_code(tmp_path: Path) -> None:
    book = tmp_path / "book"
    make(book, "belief", "noise")
    made = book / "noise" / "made.json"
    made.write_text(json.dumps({**json.loads(made.read_text()), "program": "another"}))
    done = CliRunner().invoke(main, ["study", "--book", str(book), "--seed", "1", "--json"])
    assert done.exit_code == 0, done.output
    pages = {name: told["page"] for name, told in json.loads(done.stdout).items()}
    assert set(pages) == set(STUDIES)
    assert (pages["belief"], pages["noise"], pages["trees"]) == ("current", "to be made anew", "not made")
    assert {pages[name] for name in EARLIER} == {"measured earlier"}
    assert made.read_text().count("another") == 1  # a list makes nothing


@pytest.mark.parametrize("more", [["--small", "--seed", "1"], []])
def test_a_book_of_small_studies_or_without_a_seed_is_refused(tmp_path: Path, more: list[str]) -> None:
    done = CliRunner().invoke(main, ["study", "belief", "--book", str(tmp_path), *more])
    assert done.exit_code != 0
    assert list(tmp_path.iterdir()) == []


def test_the_time_of_interrupted_runs_is_added(tmp_path: Path) -> None:
    (tmp_path / "spent.json").write_text("[100, 50]")
    assert Spent(tmp_path).note()[0] < 50  # no sweep goes on: the run began anew
    (tmp_path / "spent.json").write_text("[100, 50]")
    (tmp_path / "sweep_full.jsonl").touch()
    first, second = Spent(tmp_path).note(), Spent(tmp_path).note()
    assert first[0] >= 100
    assert second[0] >= first[0]
    assert second[1] >= first[1] >= 50


def test_a_stand_in_never_enters_the_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pretend(folder: Path, **_: object) -> Findings:
        return Findings("found", (), {"number": 1.0}, "digits of others")

    monkeypatch.setattr("bruit.apps.cli.study.load", lambda _: pretend)
    asked = ["study", "mnist", "--book", str(tmp_path / "book"), "--folder", str(tmp_path / "work"), "--seed", "1"]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    assert "left out of the book: digits of others" in done.output
    assert not (tmp_path / "book" / "mnist").exists()


def test_a_study_without_its_data_does_not_end_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(folder: Path, **_: object) -> Findings:
        raise MissingData("adult.data is nowhere")

    monkeypatch.setattr("bruit.apps.cli.study.load", lambda name: lacking if name == "attacks" else load(name))
    book = tmp_path / "book"
    asked = ["study", "attacks", "belief", "--book", str(book), "--folder", str(tmp_path / "work"), "--seed", "1"]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code != 0
    assert "attacks is left out of the book: adult.data is nowhere" in done.output
    assert is_current("belief", seed=1, book=book)
    assert not (book / "attacks").exists()


@pytest.mark.parametrize(("more", "run"), [([], False), (["--hours"], True)])
def test_studies_of_hours_run_when_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], run: bool
) -> None:
    written: list[str] = []
    monkeypatch.setattr("bruit.apps.cli.study._write_book", lambda names, *_, **__: written.extend(names))
    done = CliRunner().invoke(main, ["study", "--all", "--book", str(tmp_path), "--seed", "1", *more])
    assert done.exit_code == 0, done.output
    assert (set(EARLIER) <= set(written)) == run
    assert set(STUDIES) - set(EARLIER) <= set(written)


def test_what_takes_hours_has_a_page_that_says_where_its_figures_come_from(tmp_path: Path) -> None:
    write_index(tmp_path)
    for name, told in EARLIER.items():
        page = (tmp_path / f"{name}.md").read_text()
        assert told.page in page
        assert told.commit in page
        assert told.machine in page
        figures = (ROOT / "docs" / told.page).read_text()
        for _, _, ours in told.rows:
            kept = [word.strip(",") for word in ours.split() if any(letter.isdigit() for letter in word)]
            assert [word for word in kept if word not in figures] == [], name


def test_the_book_in_the_repository_is_whole() -> None:
    assert book_folder() == BOOK
    index = (BOOK / "index.md").read_text()
    for name in STUDIES:
        assert f"({name}.md)" in index, f"{name}: run make book"
        assert (BOOK / f"{name}.md").is_file()
    for name in set(STUDIES) - set(EARLIER):
        found = read_findings(BOOK / name)
        assert found is not None
        assert (found.size, found.findings.data) == ("full", "")
    assert sum(path.stat().st_size for path in BOOK.rglob("*") if path.is_file()) < 6_000_000


def test_pages_of_studies_with_a_graphics_card_say_so_in_the_index() -> None:
    index = (BOOK / "index.md").read_text()
    for path in BOOK.glob("*/made.json"):
        made = json.loads(path.read_text())
        (line,) = re.findall(rf"^\| \[{path.parent.name}\].*", index, re.M)
        assert ("graphics card |" in line) == ("NVIDIA" in made["machine"])


def test_long_numbers_of_a_page_are_spaced() -> None:
    kept = Findings("48842 people, 1048576 bits, 0.493818, 4e-05, 62397952 bytes; 2661.25", (), {})
    made = Provenance("bruit study x", 1, "abcdef0", "0", "one", 1.0)
    page = study_page("belief", kept, made)
    assert "48 842 people, 1 048 576 bits, 0.493818, 4e-05, 62 397 952 bytes; 2661.25" in page


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_page_of_the_book_says_what_the_program_says(name: str) -> None:
    assert (BOOK / f"{name}.md").read_text() == written_page(name, book=BOOK), "bruit study NAME --book docs/results"


@pytest.mark.parametrize(
    ("name", "file"), [("planted", "faults/in_noise.py"), ("printed", "studies/memory/document.py")]
)
def test_a_page_is_made_again_when_the_code_of_any_module_of_its_study_changes(
    name: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, read = program(name), Path.read_text
    changed = ROOT / "src" / "bruit" / "apps" / file
    for added, counts in (('\n\n"""Words."""\n    # more words\n', False), ("\nMORE = 1\n", True)):
        monkeypatch.setattr(
            Path, "read_text", lambda path, added=added, **how: read(path, **how) + added * (path == changed)
        )
        assert (program(name) != before) == counts


def test_every_interval_of_the_book_holds_its_mean_and_shares_stay_shares() -> None:
    tables = {path: polars.read_csv(path, infer_schema_length=None) for path in BOOK.glob("*/*.csv")}
    intervals = {path: table for path, table in tables.items() if {"mean", "low", "high"} <= set(table.columns)}
    assert len(intervals) >= 6
    for path, table in intervals.items():
        known = table.select(polars.col("mean", "low", "high").cast(polars.Float64)).drop_nulls()
        slack = 1e-9 * known["mean"].abs()
        assert (known["low"] <= known["mean"] + slack).all(), path
        assert (known["mean"] <= known["high"] + slack).all(), path
        if path.parent.name in SHARES:
            assert known["low"].ge(0).all(), path
            assert known["high"].le(1).all(), path


def test_every_number_of_a_document_has_ours_beside_it() -> None:
    for name, sayings in DOCUMENTS.items():
        found = read_findings(BOOK / name)
        if found is not None:
            assert [line.ours for line in sayings.beside if line.ours not in found.findings.figures] == []
