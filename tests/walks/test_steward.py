"""Twelve walks of a hospital's steward: each starts from a file and ends at something she may publish.

Where a walk compares with the truth it pays a price so high that the noise of a count is zero in all but one of 10^20
runs, and that of a sum small.
"""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from click.testing import CliRunner
from hospital import FRENCH, SHEET, WARDS, schema_text, stays, write_french_csv, write_sheet
from sqlalchemy import create_engine
from starlette.testclient import TestClient

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.cli import main

STORE = "sqlite:///bruit.db"
BY_WARD = "select ward, count(*) as n from stays group by ward"
DEAR = ("--epsilon", "2000", "--ledger", "dear", "--store", STORE)
"""A price that leaves hardly any noise, for comparisons with the truth."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder with the stays as a French CSV file, its schema, a book to publish from and one to compare with."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    write_french_csv(tmp_path / "stays.csv", stays())
    (tmp_path / "stays.toml").write_text(schema_text(), encoding="utf-8")
    for name, epsilon in (("hospital", 3), ("dear", 10**4)):
        terms = {"delta": "1e-5", "neighbours": ADD_OR_REMOVE_ONE, "person": "patient", "store": STORE}
        Ledger(name, epsilon=epsilon, **terms)
    return tmp_path


def bruit(*typed: Any, fails: bool = False) -> Any:
    done = CliRunner().invoke(main, list(typed))
    assert done.exit_code == (2 if fails else 0), done.output + done.stderr
    return done.stderr if fails else done.stdout


def ask(sql: Any, *typed: Any, source: str = "stays.csv", schema: str = "stays.toml") -> Any:
    """The rows of an answer with hardly any noise."""
    return json.loads(bruit("ask", source, sql, "--schema", schema, *typed, *DEAR, "--json"))["rows"]


def book(name: str = "hospital") -> Any:
    return Ledger.open(name, STORE)


def counts(rows: Any, value: str = "n") -> Any:
    return {row["ward"]: row[value] for row in rows if row["ward"] != "OTHER"}


def true_counts() -> Any:
    return dict(stays().group_by("ward").len().iter_rows())


def test_walk_1_a_french_export_from_the_web_to_a_count_by_ward(folder: Any) -> None:
    from bruit.apps.web.application import application
    from bruit.apps.web.settings import Settings, hash_secret

    app = application(Settings(database=f"sqlite:///{folder}/bruit.db", key_hash=hash_secret("key")))
    with TestClient(app) as client:
        client.get("/enter/key")
        client.headers["x-csrf-token"] = re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]
        content = (folder / "stays.csv").read_bytes()
        address = client.post("/workbench/tables", params={"name": "stays.csv"}, content=content).json()["address"]
        assert "semicolon" in client.get(address).text
        pasted = client.post(f"{address}/schema", data={"toml": schema_text(), "action": "paste"})
        assert pasted.status_code == 200
        looked = client.post(f"{address}/look", data={"book": "dear"})
        assert "FOR THE CURATOR ONLY" in looked.text
        assert f'<td class="number">{len(stays())}</td>' in looked.text
        form = {"rows_asked": "on", "key_1": "ward", "rows": "20", "book": "dear", "epsilon": "2000"}
        form |= {"confidence": "0.95", "mode": "click"}
        shown = client.post(f"{address}/preview", data=form).text
        assert "Rows of stays by ward" in shown.replace("rows of stays", "Rows of stays")
        once = re.search(r'name="once" value="(\w+)"', shown)[1]
        page = client.post(f"{address}/release", data={**form, "once": once})
        assert "<svg" in page.text
        number = book("dear").entries[-1].number
        where = {"book": "dear", "number": number}
        table = client.get("/workbench/release/file", params={**where, "kind": "csv"}).content
        assert counts(pl.read_csv(io.BytesIO(table)).iter_rows(named=True), "rows") == true_counts()
        archive = zipfile.ZipFile(
            io.BytesIO(client.get("/workbench/release/file", params={**where, "kind": "zip"}).content)
        )
        assert {"release.csv", "release.xlsx", "release.svg", "statement.html", "recipe.toml", "stays.toml"} <= set(
            archive.namelist()
        )
        assert "saw exact figures" in archive.read("statement.txt").decode()


def test_walk_2_a_workbook_gives_the_same_numbers(folder: Any) -> None:
    write_sheet(folder / "stays.xlsx", stays())
    (folder / "sheet.toml").write_text(schema_text("excel", SHEET), encoding="utf-8")
    query = (
        "select ward, date_trunc('month', admitted) as month, count(*) as n, sum(cost) as c from stays group by 1, 2"
    )
    from_sheet = ask(query, "--rows", "20", source="stays.xlsx", schema="sheet.toml")
    from_csv = ask(query, "--rows", "20")
    for one, other in zip(from_sheet, from_csv, strict=True):
        assert (one["ward"], one["month"], one["n"]) == (other["ward"], other["month"], other["n"])
        assert one["c"] == pytest.approx(other["c"], abs=3000)  # noise of scale 100
    assert sum(row["n"] for row in from_sheet) == len(stays())
    assert sum(row["c"] for row in from_sheet) == pytest.approx(stays()["cost"].sum(), rel=0.01)


TOTALS = """
title = "Totals"
book = "hospital"
epsilon = 2
limit = { rows = 3 }
[tables.stays]
source = "stays.csv"
schema = "stays.toml"
[[question]]
title = "Stays by ward and month"
sql = "select ward, date_trunc('month', admitted) as month, count(*) as n from stays group by cube (ward, month)"
totals = "consistent"
[output]
excel = true
figure = "png"
statement = "html"
"""


def test_walk_3_counts_by_ward_and_month_whose_totals_add_up(folder: Any) -> None:
    (folder / "totals.toml").write_text(TOTALS)
    assert "by ward and month of admitted" in " ".join(bruit("release", "totals.toml", "--preview").split())
    assert book().entries == ()
    bruit("release", "totals.toml", "--out", "out")
    sheet = pl.read_excel("out/totals.xlsx", sheet_id=2)
    whole = {(ward, month): n for ward, month, n in sheet.select("ward", "month", "n adding up").iter_rows()}
    wards, months = ({key[axis] for key in whole} - {"all"} for axis in (0, 1))
    assert len(months) == 12
    assert min(whole.values()) >= 0
    for ward in wards | {"all"}:
        assert sum(whole[ward, month] for month in months) == whole[ward, "all"]
    for month in months | {"all"}:
        assert sum(whole[ward, month] for ward in wards) == whole["all", month]
    assert (folder / "out" / "stays-by-ward-and-month.png").read_bytes().startswith(b"\x89PNG")
    assert "Who is protected" in (folder / "out" / "totals-statement.html").read_text()


def test_walk_4_means_of_at_most_so_many_rows_a_patient(folder: Any) -> None:
    frame = stays().with_columns(number=pl.int_range(pl.len()).over("patient"))
    for rows in (1, 3, 20):
        kept = frame.filter(pl.col("number") < rows)  # every stay of a patient is of the same length
        truth = dict(kept.group_by("ward").agg(pl.col("days").mean()).iter_rows())
        found = ask("select ward, avg(days) as d from stays group by ward", "--rows", str(rows))
        for row in found:
            if row["ward"] in WARDS:
                assert row["d low"] <= truth[row["ward"]] <= row["d high"]
                assert row["d"] == pytest.approx(truth[row["ward"]], abs=0.05)


def test_walk_5_each_patient_has_one_vote(folder: Any) -> None:
    query = "with p as (select patient, avg(days) as d from stays group by patient) select avg(d) as m from p"
    (row,) = ask(query, "--rows", "1", "--most", "20")
    truth = stays().group_by("patient").agg(pl.col("days").mean())["days"].mean()
    assert row["m"] == pytest.approx(truth, abs=0.05)


def test_walk_6_deciles_of_cost_of_adults_by_sex(folder: Any) -> None:
    shares = [f"quantile_cont(cost, {i / 10}) as d{i}" for i in range(1, 10)]
    rows = ask(f"select sex, {', '.join(shares)} from stays where age >= 18 group by sex", "--rows", "20")
    for row in rows:
        adults = stays().filter((pl.col("age") >= 18) & (pl.col("sex") == row["sex"]))["cost"]
        found = [row[f"d{i}"] for i in range(1, 10)]
        assert found == sorted(found)
        for i, value in enumerate(found, 1):
            assert (adults < value).mean() <= i / 10 + 0.01
            assert (adults <= value).mean() >= i / 10 - 0.01


def test_walk_7_cities_nobody_listed_and_the_mean_cost_of_those_shown(folder: Any) -> None:
    query = "select city, count(distinct patient) as people, avg(cost) as c from stays group by city"
    rows = ask(query, "--rows", "20", "--delta", "1e-6")
    large = stays().group_by("city").agg(pl.col("patient").n_unique(), pl.col("cost").mean())
    truth = {city: (people, cost) for city, people, cost in large.iter_rows() if people > 1}
    assert {row["city"] for row in rows} == set(truth)  # hamlets of one patient are not shown
    for row in rows:
        assert (row["people"], row["c"]) == (truth[row["city"]][0], pytest.approx(truth[row["city"]][1], abs=2))


def test_walk_8_results_joined_on_the_patient_and_wards_looked_up(folder: Any) -> None:
    people = [f"P{i:04}" for i in range(0, 240, 2)]
    pl.DataFrame({"patient": people, "result": [i % 2 for i in range(len(people))]}).write_parquet("tests.parquet")
    (folder / "tests.toml").write_text(
        'name = "tests"\nperson = "patient"\n[file]\nkind = "parquet"\n[columns.patient]\ntype = "text"\n'
        "[columns.result]\ntype = 'number'\nlow = 0\nhigh = 1\ngrid = 1\n"
    )
    (folder / "wards.csv").write_text("ward,site\nCardiologie,Nord\nGériatrie,Sud\nUrgences,Sud\n", encoding="utf-8")
    joined = ask(
        "select ward, sum(result) as positive from stays join tests using (patient) group by ward",
        *("--rows", "20", "--most", "20", "--with", "tests.parquet", "tests.toml"),
    )
    both = stays().join(pl.read_parquet("tests.parquet"), on="patient")
    assert counts(joined, "positive") == dict(
        both.group_by("ward").agg(pl.col("result").sum()).sort("ward").iter_rows()
    )
    sites = ask(
        "select site, count(*) as n from stays join wards using (ward) group by site",
        *("--rows", "20", "--public", "wards", "wards.csv", "ward"),
    )
    found = {row["site"]: row["n"] for row in sites}
    assert found["Nord"] == true_counts()["Cardiologie"]
    assert found["Sud"] == len(stays()) - found["Nord"]


def test_walk_9_a_wrong_schema_is_found_by_looking_and_nothing_is_paid(folder: Any) -> None:
    wrong = schema_text().replace("high = 5000", "high = 500").replace('"Gériatrie"', '"Geriatrie"')
    (folder / "wrong.toml").write_text(wrong, encoding="utf-8")
    look = json.loads(
        bruit("look", "stays.csv", "--schema", "wrong.toml", "--ledger", "hospital", "--values", "--json")
    )
    columns = {column["name"]: column for column in look["columns"]}
    assert columns["cost"]["outside"] == (stays()["cost"] > 500).sum()
    assert columns["ward"]["odd"] == [["Gériatrie", true_counts()["Gériatrie"]]]
    assert columns["days"]["outside"] == columns["days"]["unreadable"] == 0
    assert look["people"] == 240
    assert look["rows_per_person"]["100%"] == 20
    assert book().spent.epsilon == 0
    assert "CURATOR ONLY" in bruit("look", "stays.csv", "--schema", "wrong.toml")
    assert [entry.what for entry in book().entries] == ["tables.look"]


RECIPE = """
title = "Monthly"
book = "hospital"
epsilon = 1
limit = { rows = 3 }
[tables.stays]
source = "stays.csv"
schema = "stays.toml"
[[question]]
title = "Stays by ward"
ask = "rows"
by = ["ward"]
[[question]]
title = "Length of stay by ward"
ask = { days = "mean" }
by = ["ward"]
[output]
csv = true
excel = true
parquet = true
json = true
figure = "svg"
statement = "html"
"""


PART = 'schema = "stays.toml"\npart = { column = "admitted.month", cells = 12, cell = "2025-03" }'


def test_walk_10_a_monthly_recipe_twice_names_versions_and_parts(folder: Any) -> None:
    (folder / "monthly.toml").write_text(RECIPE)
    (folder / "march.toml").write_text(RECIPE.replace('schema = "stays.toml"', PART).replace("Monthly", "March"))
    for version in (1, 2):
        bruit("register", "stays.csv", "--schema", "stays.toml", "--ledger", "hospital")
        bruit("release", "monthly.toml" if version == 1 else "march.toml", "--out", f"out{version}")
        write_french_csv(folder / "stays.csv", pl.concat([stays(), stays().head(50)]))
        (statement,) = (folder / f"out{version}").glob("*-statement.html")
        assert f"stays, version {version}" in statement.read_text()
        assert len(list((folder / f"out{version}").iterdir())) == 9
    whole, march = (entry for entry in book().entries if entry.what == "steward.recipe")
    assert (whole.cell, march.partition, march.cell) == (
        None,
        "stays version 2 by admitted.month, 12 a person",
        "2025-03",
    )
    assert book().spent.epsilon == 2
    bruit("ledger", "export", "hospital")
    told = (folder / "hospital.html").read_text()
    assert "stays version 2" in told
    assert "2025-03" in told


def test_walk_11_an_analysts_sql_is_answered_or_refused_with_the_way_out(folder: Any) -> None:
    price = ("--schema", "stays.toml", "--rows", "3", "--epsilon", "0.5", "--ledger", "hospital", "--store", STORE)
    assert "quantiles of cost" in bruit(
        "ask", "stays.csv", "select ward, median(cost) from stays group by ward", *price
    )
    before = [entry.number for entry in book().entries]
    refused = bruit("ask", "stays.csv", "select max(cost) from stays", *price, fails=True)
    assert refused == "bruit: MAX is decided by one person: ask for a high or low quantile\n"
    assert [entry.number for entry in book().entries] == before


def write_engines(folder: Any) -> None:
    frame = stays()
    with duckdb.connect("stays.duckdb") as connection:
        connection.register("frame", frame.to_arrow())
        connection.execute("create table stays as select * from frame")
    engine = create_engine("sqlite:///stays.sqlite")
    with engine.begin() as connection:
        connection.exec_driver_sql("create table stays (patient, ward, sex, age, city, admitted, days, cost)")
        rows = [(*row[:5], row[5].isoformat(), *row[6:]) for row in frame.iter_rows()]
        connection.exec_driver_sql("insert into stays values (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    frame.write_parquet("stays.parquet")
    (folder / "typed.toml").write_text(schema_text("parquet", ""), encoding="utf-8")


def test_walk_12_the_same_question_of_every_engine(folder: Any) -> None:
    write_engines(folder)
    query = "select ward, count(*) as n, count(cost) as c, count(distinct patient) as p from stays group by ward"
    answers = [
        ask(query, "--rows", "20", source=source, schema="typed.toml")
        for source in ("stays.duckdb", "stays.sqlite", "stays.parquet")
    ]
    assert answers == [ask(query, "--rows", "20")] * 3


WRONG = {
    "a wrong schema": (("stays.csv", BY_WARD, "--schema", "bad.toml"), "low must be below high"),
    "a draft": (("stays.csv", BY_WARD, "--schema", "draft.toml"), "choose among number, category"),
    "a cut file": (("cut.csv", BY_WARD, "--schema", "strict.toml"), "say complete = true"),
    "a missing column": (("less.csv", BY_WARD, "--schema", "stays.toml"), "no column 'cost'"),
    "no such file": (("gone.csv", BY_WARD, "--schema", "stays.toml"), "no such file"),
    "no such schema": (("stays.csv", BY_WARD, "--schema", "gone.toml"), "bruit schema FILE"),
    "a cut Parquet file": (("cut.parquet", BY_WARD, "--schema", "typed.toml"), "cut"),
    "a refused query": (("stays.csv", "select patient from stays", "--schema", "stays.toml"), "whose row it is"),
    "no limit": (("stays.csv", BY_WARD, "--schema", "stays.toml", "--rows"), "give limit"),
    "a price above the book": (("stays.csv", BY_WARD, "--schema", "stays.toml", "--epsilon"), "nothing was charged"),
    "found groups without delta": (
        ("stays.csv", "select city, count(*) from stays group by city", "--schema", "stays.toml"),
        "delta",
    ),
    "a file that is no export": (("stays.csv", BY_WARD, "--schema", "stays.toml", "--out", "x.doc"), "ends in"),
}  # fmt: skip


@pytest.mark.parametrize("preview", [(), ("--preview",)], ids=["paid", "preview"])
def test_bad_input_is_one_sentence_with_the_next_step_and_nothing_is_charged(folder: Any, preview: Any) -> None:
    (folder / "bad.toml").write_text(schema_text().replace("low = 0\nhigh = 60", "low = 60\nhigh = 0"), "utf-8")
    bruit("schema", "stays.csv", "--out", "draft.toml")
    draft = (folder / "draft.toml").read_text().replace('complete = ""', "complete = true")
    (folder / "draft.toml").write_text(draft.replace('person = ""', 'person = "patient"'))
    (folder / "strict.toml").write_text(schema_text(facts=FRENCH.replace("complete = true", "")), encoding="utf-8")
    (folder / "cut.csv").write_bytes((folder / "stays.csv").read_bytes()[:-400])
    write_french_csv(folder / "less.csv", stays().drop("cost"))
    write_engines(folder)
    (folder / "cut.parquet").write_bytes((folder / "stays.parquet").read_bytes()[:-400])
    for what, (typed, sentence) in WRONG.items():
        options = {"--rows": ("--rows", "3"), "--epsilon": ("--epsilon", "0.5")}
        if what == "no limit":
            typed, options = typed[:-1], {"--epsilon": ("--epsilon", "0.5")}
        elif typed[-1] == "--epsilon":
            typed, options = typed[:-1], {"--rows": ("--rows", "3"), "--epsilon": ("--epsilon", "3.5")}
        stated = [part for option in options.values() for part in option]
        told = bruit("ask", *typed, *stated, "--ledger", "hospital", "--store", STORE, *preview, fails=True)
        assert sentence in told, (what, told)
        assert told.count("\n") == 1, (what, told)
    assert book().entries == ()
