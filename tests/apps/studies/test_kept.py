"""Findings are read again as they were kept, from a folder that may have moved."""

from pathlib import Path

from bruit.apps.findings import Findings
from bruit.apps.studies.saved_findings import FILE, keep, read_findings


def test_findings_come_back_from_a_folder_that_moved(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "a.csv").write_text("x\n1\n")
    keep(Findings("Found.", (folder / "a.csv", tmp_path / "elsewhere.csv"), {"error": 0.5}), folder, size="small")
    folder.rename(tmp_path / "two")
    found = read_findings(tmp_path / "two")
    assert (found.findings.summary, found.findings.figures, found.size) == ("Found.", {"error": 0.5}, "small")
    assert found.findings.files == (tmp_path / "two" / "a.csv",)


def test_a_study_that_was_not_run_or_was_cut_has_none(tmp_path: Path) -> None:
    assert read_findings(tmp_path) is None
    for text in ("", "{", "{}", "[1]"):
        (tmp_path / FILE).write_text(text)
        assert read_findings(tmp_path) is None
