import csv
import io
import re
from pathlib import Path
from typing import Any

import exact_integers as exact
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit import tables
from bruit.errors import BadFile
from bruit.privacy import EACH_ROW
from bruit.tables import Table
from bruit.tables.lines import rows_of
from bruit.tables.sources import csv_lines

HEAD = "id,v,words\n"
OTHERS = [f"p{i},{i % 7},hello\n" for i in range(1000)]
FIELD = r'(?:"(?:[^"]|"")*"|[^",]*)'
ROW = re.compile(f"{FIELD},{FIELD},{FIELD}")
LINES = st.lists(st.text('",a1é \t', max_size=12), max_size=6)


def read(path: Any, lines: Any, person: Any = EACH_ROW) -> Any:
    path.write_text(HEAD + "".join(lines), encoding="utf-8", newline="")
    return tables.read(path, person=person)


def rows(table: Table) -> list[Any]:
    return table.frame.collect().fill_null("").rows()


@pytest.mark.parametrize("stray", [['evil,3,"hi\n', 'evil,3,bye"\n'], ['evil,3,"hi\n'], ['evil,"3,hi\n', '"\n']])
def test_no_row_hides_the_rows_between_its_quotes(stray: list[str], tmp_path: Path) -> None:
    """The rows of one person, wherever they stand and whatever quotes they hold, change no other row."""
    mixed = [*OTHERS[:10], stray[0], *OTHERS[10:990], *stray[1:], *OTHERS[990:]]
    table = read(tmp_path / "people.csv", mixed, "id").limit(rows=2)
    assert exact.count(table) == 1000
    assert exact.total(table["v"].within(0, 7, grid=1)) == sum(i % 7 for i in range(1000))


def test_the_release_of_the_reviewed_file_moves_by_what_is_paid_for(tmp_path: Path) -> None:
    counts = []
    for lines in (OTHERS, [*OTHERS[:10], 'evil,3,"hi\n', *OTHERS[10:], 'evil,3,bye"\n']):
        book = bruit.Ledger("c", epsilon=1000, delta=0, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
        table = read(tmp_path / "people.csv", lines, "id").limit(rows=2)
        counts.append(bruit.central.count(table, budget=book.budget(epsilon=1000)).value)
    assert abs(counts[0] - counts[1]) <= 2


@given(LINES, st.text('",a1', max_size=12), LINES)
def test_what_a_line_is_hangs_on_that_line_alone(before: list[str], line: str, after: list[str]) -> None:
    parts = [[f"{each}\n" for each in lines] for lines in (before, [line], after)]
    alone = [rows_of("".join(lines).encode(), ",", 3) for lines in parts]
    assert rows_of("".join("".join(lines) for lines in parts).encode(), ",", 3) == b"".join(alone)


@given(st.lists(st.lists(st.text('",a1é ', max_size=5), min_size=3, max_size=3), max_size=8), st.sampled_from([0, 1]))
def test_what_a_csv_writer_writes_comes_back(
    tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]], quoting: int
) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=quoting).writerows(cells)
    table = read(tmp_path_factory.mktemp("csv") / "people.csv", [written.getvalue()])
    assert rows(table) == [tuple(row) for row in cells]


@given(LINES)
def test_the_rows_of_a_file_are_those_of_its_lines(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    """A grammar of one line tells which are rows; Python's reader what is in them."""
    table = read(tmp_path_factory.mktemp("csv") / "people.csv", [f"{line}\n" for line in lines])
    assert rows(table) == [tuple(next(csv.reader([line]))) for line in lines if ROW.fullmatch(line)]


def test_a_text_of_several_lines_is_no_row_and_makes_none(tmp_path: Path) -> None:
    text = 'a,1,"first\nsecond, and\nthird"\n'
    assert rows(read(tmp_path / "people.csv", ["b,2,x\n", text, "c,3,y\n"])) == [("b", "2", "x"), ("c", "3", "y")]


def test_lines_with_other_numbers_of_fields_are_no_rows(tmp_path: Path) -> None:
    lines = ["a,1\n", "\n", "b,2,x\n", "c,3,y,z\n", ",,\n"]
    assert rows(read(tmp_path / "people.csv", lines)) == [("b", "2", "x"), ("", "", "")]


def test_lines_may_end_in_two_bytes_and_begin_with_a_mark(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b'\xef\xbb\xbfid,"v, w"\r\n"a","1"\r\nb,2\r\n')
    table = tables.read(tmp_path / "people.csv", person="id")
    assert list(table.columns) == ["id", "v, w"]
    assert rows(table) == [("a", "1"), ("b", "2")]


def test_a_file_is_read_in_blocks_of_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bruit.tables.sources.csv_lines.BLOCK", 64)
    table = read(tmp_path / "people.csv", OTHERS)
    assert rows(table) == [tuple(line.strip().split(",")) for line in OTHERS]
    assert table.frame.filter(pl.col("id") == "p7").select("v").head(3).collect().rows() == [("0",)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3", "cut half-way"),
        ("a,b\n1,2\n3,4", "add a line break"),
        ("", "must name the columns"),
        ("\n1,2\n", "must name the columns"),
        ('a,"b\n1,2\n', "line 1 must name"),
        ('a,b"c\n1,2\n', "line 1 must name"),
    ],
)
def test_what_is_refused_hangs_on_the_first_line_and_on_the_last_byte(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(BadFile, match=words):
        tables.read(tmp_path / "people.csv", person=EACH_ROW)


@given(st.lists(st.text("a\n", max_size=9), max_size=8), st.integers(10, 30))
def test_a_line_beyond_the_longest_is_no_row_however_the_file_is_read(parts: list[str], longest: int) -> None:
    """A file that never ends a line takes bounded memory, and no other line of it is lost."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_lines, "LONGEST_LINE", longest)
        found = b"".join(csv_lines._whole_lines(part.encode() for part in parts))
    *ended, last = "".join(parts).split("\n")
    wanted = [f"{line}\n" if len(line) < longest else '"\n' for line in ended]
    wanted += [f"{last}\n" if len(last) <= longest else '"\n'] if last else []
    assert found.decode() == "".join(wanted)
