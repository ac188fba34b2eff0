"""A French hospital's Excel exports as they come, from the draft of a schema to published files, typed and clicked."""

import io
import json
import re
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter
from click.testing import CliRunner
from starlette.testclient import TestClient

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.cli import main
from bruit.apps.web.application import application
from bruit.apps.web.settings import Settings, hash_secret

WARDS = ("Cardiologie", "Gériatrie", "Urgences")
ROWS = 300
BROKEN = 10
"""The row whose note has a line break in it, which is no row."""

NAMES = "Patient;Service;Admission;Durée;Coût total (€);Note;Note;;"
SPACES = {"windows-1252": "\u00a0", "utf-8": "\u202f"}
"""The blank between thousands: windows-1252 has no narrow one."""


def cost(i: int) -> float:
    return 1000 + i * 37.5


def write_export(path: Path, encoding: str) -> Path:
    """Titles in merged cells, a column name twice, empty columns, both line ends, a broken note, totals at the end."""

    def french(number: float) -> str:
        return f"{number:,.2f}".replace(",", SPACES[encoding]).replace(".", ",") + " €"

    lines = ["CHU de Lyon;;;;;;;;\r\n", "Export du 03/11/2025;;;;;;;;\r\n", NAMES + "\r\n"]
    for i in range(ROWS):
        note = '"vu le ""matin""\r\nà revoir; vite"' if i == BROKEN else '"à ""revoir""; vite"'
        day = f"{i % 28 + 1:02}/{i % 12 + 1:02}/2025"
        end = "\r\n" if i % 2 else "\n"
        lines.append(f"P{i % 60:03};{WARDS[i % 3]};{day};{i % 31};{french(cost(i))};{note};;;{end}")
    lines.append(f"TOTAL;;;{sum(i % 31 for i in range(ROWS))};{french(sum(map(cost, range(ROWS))))};;;;\r\n")
    mark = "\ufeff" if encoding == "utf-8" else ""
    path.write_bytes((mark + "".join(lines)).encode("utf-8" if mark else encoding))
    return path


def true_counts() -> dict[str, int]:
    return {ward: sum(WARDS[i % 3] == ward for i in range(ROWS) if i != BROKEN) for ward in WARDS}


def true_costs() -> dict[str, float]:
    return {ward: sum(cost(i) for i in range(ROWS) if WARDS[i % 3] == ward and i != BROKEN) for ward in WARDS}


COLUMNS = {
    "Patient": 'type = "text"',
    "Service": f'type = "category"\nvalues = {json.dumps(WARDS, ensure_ascii=False)}',
    "Admission": 'type = "date"\nformat = "dd/mm/yyyy"\nfirst = "2025-01-01"\nlast = "2025-12-31"\noutside = "drop"',
    "Durée": 'type = "number"\nlow = 0\nhigh = 60\ngrid = 1',
    "Coût total (€)": 'type = "number"\nlow = 0\nhigh = 20_000\ngrid = 0.5\nstrip = ["€"]',
}

RECIPE = """
title = "Séjours"
book = "hospital"
epsilon = 2000
limit = { rows = 10 }
[tables.stays]
source = "export.csv"
schema = "stays.toml"
[[question]]
title = "Séjours et coûts par service"
sql = 'select Service, count(*) as n, sum("Coût total (€)") as c from stays group by Service'
[output]
csv = true
excel = true
parquet = true
json = true
figure = "svg"
statement = "html"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def bruit(*typed: str, fails: bool = False) -> str:
    done = CliRunner().invoke(main, list(typed))
    assert done.exit_code == (2 if fails else 0), done.output + done.stderr
    return done.stderr if fails else done.stdout


def complete(draft: str) -> str:
    """The draft as its reader fills it in, place by place."""
    for name, stated in COLUMNS.items():
        draft = draft.replace(f'[columns."{name}"]\ntype = ""', f'[columns."{name}"]\n{stated}')
    draft = re.sub(r'\n# Several columns[^\n]*\n\[columns."Note"\]\ntype = ""\n', "\n", draft)
    draft = draft.replace('thousands = ""', 'thousands = " "').replace('person = ""', 'person = "Patient"')
    return draft.replace("\nthousands", '\nmissing = ["", "TOTAL"]\nthousands')


def is_as_true(rows: Any) -> None:
    told = {row["Service"]: (row["n"], row["c"]) for row in rows if row["Service"] in WARDS}
    assert {ward: n for ward, (n, _) in told.items()} == true_counts()
    assert {ward: c for ward, (_, c) in told.items()} == pytest.approx(true_costs(), rel=0.01)


@pytest.mark.parametrize("encoding", list(SPACES))
def test_an_export_with_titles_totals_and_broken_lines_is_published_from_the_terminal(
    folder: Path, encoding: str
) -> None:
    export = write_export(folder / "export.csv", encoding)
    assert "CHU" in bruit("schema", "export.csv")  # the first line holds titles, which the reader sees at once
    bruit("schema", "export.csv", "--header", "3", "--name", "stays", "--out", "stays.toml")
    draft = (folder / "stays.toml").read_text("utf-8")
    assert "P001" not in draft
    assert draft.count("[columns.") == 6  # no column without a name, and of two notes one, with a remark
    assert 'give each a name of its own in the file, or leave this one out.\n[columns."Note"]' in draft
    (folder / "stays.toml").write_text(complete(draft), "utf-8")

    look = json.loads(bruit("look", "export.csv", "--schema", "stays.toml", "--json"))
    assert (look["rows"], look["lines_that_are_no_rows"], look["people"]) == (ROWS, 2, 60)  # the totals are a row
    columns = {column["name"]: column for column in look["columns"]}
    assert columns["Patient"]["missing"] == 1  # of nobody
    assert [column["unreadable"] for column in look["columns"]] == [0] * 5
    assert columns["Durée"]["declared"] == ROWS - 1

    terms = ("--epsilon", "5000", "--neighbours", "add or remove one", "--person", "Patient")
    bruit("ledger", "create", "hospital", *terms)
    (folder / "monthly.toml").write_text(RECIPE, "utf-8")
    assert "sum of" in bruit("release", "monthly.toml", "--preview")
    bruit("release", "monthly.toml", "--out", "out")
    written = {path.suffix: path for path in (folder / "out").iterdir()}
    assert set(written) == {".csv", ".xlsx", ".parquet", ".json", ".svg", ".html"}
    is_as_true(pl.read_csv(written[".csv"]).iter_rows(named=True))
    is_as_true(pl.read_parquet(written[".parquet"]).iter_rows(named=True))
    is_as_true(pl.read_excel(written[".xlsx"], sheet_id=2).iter_rows(named=True))
    is_as_true(json.loads(written[".json"].read_text("utf-8"))["answers"][0]["rows"])
    assert "Urgences" in written[".svg"].read_text("utf-8")
    assert "each value of 'Patient'" in written[".html"].read_text("utf-8").replace("&#x27;", "'")

    query = 'select Service, count(*) as n, sum("Coût total (€)") as c from stays group by Service'
    asked = ("--schema", "stays.toml", "--rows", "10", "--epsilon", "2000", "--ledger", "hospital")
    is_as_true(json.loads(bruit("ask", str(export), query, *asked, "--json"))["rows"])


def test_the_same_export_is_published_by_clicking(folder: Path) -> None:
    write_export(folder / "export.csv", "windows-1252")
    store = f"sqlite:///{folder}/bruit.db"
    Ledger("hospital", epsilon=5000, neighbours=ADD_OR_REMOVE_ONE, person="Patient", store=store)
    app = application(Settings(database=store, key_hash=hash_secret("key")))
    with TestClient(app) as client:
        client.get("/enter/key")
        client.headers["x-csrf-token"] = re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]  # type: ignore[index]
        content = (folder / "export.csv").read_bytes()
        address = client.post("/workbench/tables", params={"name": "stays.csv"}, content=content).json()["address"]
        assert "CHU de Lyon" in client.get(address).text
        facts = {"separator": ";", "encoding": "windows-1252", "decimal": ",", "thousands": " ", "header": "3"}
        facts |= {"missing_texts": "TOTAL"}
        named = client.post(f"{address}/schema", data={**facts, "action": "names"}).text
        assert "Coût total (€)" in named
        assert "Several columns are called so" in named
        lines = {"person": "Patient", "type_1": "category", "values_1": "\n".join(WARDS)}
        lines |= {"type_3": "number", "low_3": "0", "high_3": "60", "grid_3": "1"}
        lines |= {"type_4": "number", "low_4": "0", "high_4": "20000", "grid_4": "0.5", "strip_4": "€"}
        assert client.post(f"{address}/schema", data={**facts, **lines, "action": "state"}).status_code == 200
        looked = client.post(f"{address}/look", data={"book": "hospital"}).text
        assert f'<td class="number">{ROWS}</td>' in looked
        form = {"rows_asked": "on", "key_1": "Service", "rows": "10", "book": "hospital", "epsilon": "2000"}
        form |= {"what_1": "sum", "of_1": "Coût total (€)", "confidence": "0.95", "mode": "click"}
        shown = client.post(f"{address}/preview", data=form).text
        once = re.search(r'name="once" value="(\w+)"', shown)[1]  # type: ignore[index]
        assert "<svg" in client.post(f"{address}/release", data={**form, "once": once}).text
        where = {"book": "hospital", "number": Ledger.open("hospital", store).entries[-1].number}
        packed = client.get("/workbench/release/file", params={**where, "kind": "zip"}).content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        frame = pl.read_csv(archive.read("release.csv"))
    keys, count, total = frame.columns[0], frame.columns[1], next(name for name in frame.columns if "sum" in name)
    is_as_true(frame.select(Service=keys, n=count, c=total).iter_rows(named=True))


def test_files_that_cannot_be_told_apart_from_private_text_are_refused_with_the_next_step(folder: Path) -> None:
    """Carriage returns alone make one line of a whole file, which a draft would show as names of columns."""
    (folder / "old.csv").write_bytes(b"Patient;Service\rP001;Urgences\rP002;Urgences\r")
    told = bruit("schema", "old.csv", fails=True)
    assert "open it and save it as CSV again" in told
    assert "P001" not in told
    (folder / "broken.csv").write_bytes(b'Patient;"Service\r\n(code)"\r\nP001;Urgences\r\n')
    told = bruit("schema", "broken.csv", fails=True)
    assert "write each name on one line" in told
    assert "P001" not in told


def test_what_could_not_be_written_is_refused_before_it_is_paid(folder: Path) -> None:
    write_export(folder / "export.csv", "utf-8")
    bruit("schema", "export.csv", "--header", "3", "--name", "stays", "--out", "stays.toml")
    (folder / "stays.toml").write_text(complete((folder / "stays.toml").read_text("utf-8")), "utf-8")
    bruit("ledger", "create", "hospital", "--epsilon", "3", "--neighbours", "add or remove one", "--person", "Patient")
    (folder / "taken.csv").mkdir()
    price = ("--schema", "stays.toml", "--rows", "3", "--epsilon", "1", "--ledger", "hospital")
    for option, path, sentence in (
        ("--statement", "nowhere/said.html", "there is no folder"),
        ("--out", "taken.csv", "is a folder: give the name of a file"),
    ):
        told = bruit("ask", "export.csv", "select count(*) as n from stays", *price, option, path, fails=True)
        assert sentence in told
    assert Ledger.open("hospital", "sqlite:///bruit.db").entries == ()


def write_workbook(path: Path) -> Path:
    """Merged titles, a name twice, dates that lost their format, costs as texts, formulas, totals at the end."""
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet("Paramètres")
        sheet, as_date = book.add_worksheet("Séjours"), book.add_format({"num_format": "dd/mm/yyyy"})
        sheet.merge_range(0, 0, 0, 6, "CHU de Lyon")
        sheet.merge_range(1, 3, 1, 4, "Mesures")
        sheet.write_row(2, 0, NAMES.rstrip(";").split(";"))
        for i in range(ROWS):
            day, text = datetime(2025, 1, 1) + timedelta(days=i), f"{cost(i):,.2f}".replace(",", "\u202f")
            sheet.write_row(3 + i, 0, [f"P{i % 60:03}", WARDS[i % 3]])
            sheet.write_datetime(3 + i, 2, day, as_date) if i % 2 else sheet.write_number(3 + i, 2, 45658 + i)
            sheet.write_formula(3 + i, 3, f"=MOD({i},31)", None, i % 31)
            sheet.write(3 + i, 4, f"{text} €".replace(".", ",") if i % 2 else cost(i))
            sheet.write_row(3 + i, 5, ["à revoir\nvite", "non"])
        sheet.write_row(3 + ROWS, 0, ["TOTAL", None, None, 9999])
    return path


def test_a_workbook_with_titles_and_dates_without_a_format_is_published_too(folder: Path) -> None:
    write_workbook(folder / "export.xlsx")
    assert "[columns" not in bruit("schema", "export.xlsx")  # its first sheet is empty
    sheet = ("--sheet", "Séjours", "--header", "3", "--name", "stays", "--out", "stays.toml")
    bruit("schema", "export.xlsx", *sheet)
    draft = (folder / "stays.toml").read_text("utf-8")
    assert 'leave this one out.\n[columns."Note"]' in draft
    assert "Note_" not in draft
    facts = 'header = 3\ndecimal = ","\nthousands = " "\nmissing = ["", "TOTAL"]'
    stated = complete(draft).replace("header = 3", facts)
    (folder / "stays.toml").write_text(stated, "utf-8")
    look = json.loads(bruit("look", "export.xlsx", "--schema", "stays.toml", "--json"))
    assert [column["unreadable"] for column in look["columns"]] == [0] * 5
    terms = ("--epsilon", "5000", "--neighbours", "add or remove one", "--person", "Patient")
    bruit("ledger", "create", "hospital", *terms)
    query = "select date_trunc('month', Admission) as m, count(*) as n from stays group by m"
    asked = ("--schema", "stays.toml", "--rows", "10", "--epsilon", "2000", "--ledger", "hospital", "--json")
    told = {row["m"]: row["n"] for row in json.loads(bruit("ask", "export.xlsx", query, *asked))["rows"]}
    assert (told["2025-01"], told["2025-02"], told["2025-12"]) == (31, 28, 0)
    assert sum(told.values()) == ROWS
    twice = stated + '[columns."Note"]\ntype = "category"\nvalues = ["non"]\n'
    (folder / "twice.toml").write_text(twice, "utf-8")
    asked = ("--schema", "twice.toml", *asked[2:])
    assert "several columns are called 'Note'" in bruit("ask", "export.xlsx", query, *asked, fails=True)
    assert len(Ledger.open("hospital", "sqlite:///bruit.db").entries) == 1
