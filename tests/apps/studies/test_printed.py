"""Every number of the documents beside ours: quoted rightly, computed now, and explained where it differs."""

import os
import re
from functools import cache
from itertools import chain
from pathlib import Path

import polars
import pytest

from bruit.apps.studies import STUDIES
from bruit.apps.studies.book.pages import study_page
from bruit.apps.studies.book.provenance import Provenance
from bruit.apps.studies.printed import lecture, pictures, thesis
from bruit.apps.studies.printed.rows import LEFT, Printed
from bruit.apps.studies.saved_findings import read_findings

ROOT = Path(__file__).parents[3]
BOOK = ROOT / "docs" / "results"
pytestmark = pytest.mark.xdist_group("printed")  # what is computed once stays in one process


@cache
def computed() -> list[Printed]:
    """The rows that are computed now: seconds of work, so not where every process collects."""
    return list(chain(lecture.rows(), thesis.rows()))


def in_the_book(name: str) -> list[Printed]:
    table = polars.read_csv(BOOK / "printed" / f"{name}.csv", infer_schema_length=0).fill_null("")
    return [Printed(**row) for row in table.iter_rows(named=True)]


def plain(text: str) -> str:
    """A text with decimal points, without spaces between thousands and without the marks of formulas."""
    bare = re.sub(r"\\left|\\right|[$\\{}*]", "", text.replace("\\,", " ").replace(",", "."))
    return re.sub(r"(?<=\d)[ \u00a0\u202f](?=\d{3}\b)", "", bare)


def test_whatever_differs_says_why() -> None:
    for row in (*computed(), *in_the_book("numbers")):
        assert row.theirs == row.ours or row.why, row
        assert row.what, row
        assert row.study in ("", *STUDIES), row
        assert row.study or row.ours != LEFT, row


def test_the_book_holds_what_is_computed_now() -> None:
    kept = in_the_book("numbers")
    assert [row for row in computed() if row not in kept] == []
    bytes_counted = [row for row in kept if row.what.startswith("bytes of") and "units" in row.what]
    assert len(bytes_counted) == 16
    assert [row for row in bytes_counted if row.ours != row.theirs] == []


def test_no_number_is_misquoted() -> None:
    seeds = Path(os.environ.get("BRUIT_DATA", "")).parent / "seeds"
    found = sorted(seeds.glob("*.txt"))
    if len(found) != 5:
        pytest.skip("the five documents are not on this machine")
    texts = [plain(path.read_text(encoding="utf-8")) for path in found]
    for row in in_the_book("numbers"):
        text = texts[int(row.item[1])]
        for number in re.findall(r"\d+(?:\.\d+)*", plain(row.theirs.replace("1e-", "10^-"))):
            spelt = r"\D{0,9}".join(number) if set(number) <= set("0123") else re.escape(number)  # (1, 0, 1, 1)
            assert re.search(rf"(?<![\d.]){spelt}(?!\d)", text), row


def test_every_figure_has_its_picture_page_or_notebook() -> None:
    for row in pictures.rows():
        kind, _, name = row.ours.partition(" ")
        if kind == "page":
            assert (ROOT / "docs" / name).is_file(), row
        elif kind == "notebook":
            assert (ROOT / "notebooks" / f"{name}.ipynb").is_file(), row
        elif (BOOK / row.study).is_dir():
            drawn = {path.stem.replace("_", " ").replace("-", " ") for path in (BOOK / row.study).glob("*.png")}
            assert set(row.ours.split(", ")) <= drawn, row
        else:
            assert row.study in STUDIES, row


def test_a_page_shows_the_comparison_whole_and_by_document() -> None:
    kept = read_findings(BOOK / "printed")
    assert kept is not None
    page = study_page("printed", kept.findings, Provenance("", 1, "", "", "", 0, 0))
    assert page.count("*Success stories*") == 2
    for row in computed():
        assert f"| {row.item} | {row.what} | {row.theirs} |" in page
    assert "| [rappor](rappor.md) |" in page
