"""`bruit survey`, walked as a newcomer would with real files, and refused as the issue asks."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from click.testing import CliRunner, Result

from bruit.apps.cli import main
from bruit.apps.cli.survey.files import read_answers
from bruit.errors import InvalidArgument
from bruit.local import OneBitMean, write_reports

STATUS = ("single", "married", "divorced")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["survey", *map(str, arguments)])


def told(*arguments: object) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """A folder with a protocol, 3000 answers and their reports."""
    told("plan", "--categories", ",".join(STATUS), "--epsilon", 2, "--people", 3000, "--save", tmp_path / "survey.json")
    answers = np.repeat(STATUS, [1500, 1200, 300])
    polars.DataFrame({"id": range(3000), "status": answers}).write_csv(tmp_path / "answers.csv")
    arguments = (tmp_path / "survey.json", tmp_path / "answers.csv", tmp_path / "reports.parquet")
    told("randomise", *arguments, "--column", "status", "--seed", 1)
    return tmp_path


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A folder with a RAPPOR protocol, the reports of 20 000 homepages and 200 candidates."""
    protocol = tmp_path / "pages.json"
    told("plan", "--protocol", "Rappor", "--f", 0.25, "--p", 0.2, "--q", 0.8, "--people", 20_000, "--save", protocol)
    answers = [f"page{i}.org" for i in range(4) for _ in range(8000 >> i)]
    (tmp_path / "pages.txt").write_text("\n".join(answers))
    (tmp_path / "candidates.txt").write_text("\n".join(f"page{i}.org" for i in range(200)))
    told("randomise", protocol, tmp_path / "pages.txt", tmp_path / "pages.parquet", "--seed", 2)
    return tmp_path


# ------------------------------------------------------------ walks
def test_a_survey_from_plan_to_figure(answered: Path) -> None:
    figure, table = answered / "shares.png", answered / "shares.csv"
    done = run("estimate", answered / "reports.parquet", "--figure", figure, "--csv", table)
    assert done.exit_code == 0, done.output
    for part in ("3000 reports", *STATUS, "ε = 2", "assumes seeded", "shares.png"):
        assert part.replace(" ", "") in "".join(done.stdout.split())  # a long path is broken over lines
    assert figure.read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(table.open()))
    assert [row["answer"] for row in rows] == list(STATUS)
    for row, share in zip(rows, (0.5, 0.4, 0.1), strict=True):
        assert float(row["low"]) <= share <= float(row["high"])


def test_a_survey_for_machines(answered: Path) -> None:
    reports = answered / "reports.parquet"
    found = told("estimate", reports, "--method", "exact", "--joint", "--this-table", "--adjust", "simplex")
    assert found["labels"] == list(STATUS)
    assert sum(found["value"]) == pytest.approx(1)
    assert found["interval"]["joint"]
    assert found["interval"]["covers"] == "this table"
    assert found["guarantee"]["neighbours"] == "local"


def test_reports_that_stand_are_never_overwritten(answered: Path) -> None:
    reports = answered / "reports.parquet"
    before = reports.read_bytes()
    done = run("randomise", answered / "survey.json", answered / "answers.csv", reports, "--column", "status")
    refused(done, "exists and is left as it is")
    assert reports.read_bytes() == before


def test_a_folder_of_reports_is_one_survey(answered: Path) -> None:
    folder = answered / "reports"
    folder.mkdir()
    for part in "ab":
        arguments = (answered / "survey.json", answered / "answers.csv", folder / f"{part}.parquet")
        told("randomise", *arguments, "--column", "status")
    found = told("estimate", folder, "--protocol", answered / "survey.json")
    assert found["details"]["answers"] == 6000
    assert found["guarantee"]["assumes"] == []


def test_texts_are_decoded(pages: Path) -> None:
    figure, table = pages / "found.svg", pages / "found.csv"
    asked = (pages / "pages.parquet", "--candidates", pages / "candidates.txt")
    done = run("decode", *asked, "--figure", figure, "--csv", table)
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    for part in ("page0.org", "Not found: 19", "is found 90% of the time", "several devices", "One report costs ε = "):
        assert part in text
    assert figure.stat().st_size > 1000
    names = [row["text"] for row in csv.DictReader(table.open())]
    assert names[:4] == [f"page{i}.org" for i in range(4)]
    assert told("decode", *asked, "--select", "bonferroni", "--method", "least-squares")["labels"] == names[:4]


def test_a_plan_answers_whichever_of_three_is_missing() -> None:
    listed = ("plan", "--categories", "yes,no,unsure")
    error = told(*listed, "--epsilon", 1, "--people", 2000)
    people = told(*listed, "--epsilon", 1, "--error", error["error"])
    epsilon = told(*listed, "--people", 2000, "--error", error["error"])
    assert people["people"] == pytest.approx(2000, abs=1)
    assert epsilon["epsilon"] == pytest.approx(1, abs=0.01)
    assert told(*listed, "--protocol", "OUE", "--epsilon", 1, "--people", 9)["protocol"] == "OUE"
    assert told("plan", "--protocol", "Warner", "--epsilon", 1, "--people", 9)["categories"] == "no, yes"
    lasting = told("plan", "--protocol", "Rappor", "--f", 0, "--people", 1000)
    assert lasting["epsilon_of_a_value_forever"] == "inf"
    assert "several devices" in run("plan", "--protocol", "Rappor", "--f", 0.5, "--people", 1000).stdout.replace(
        "\n", " "
    )


def test_a_long_list_of_answers_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "towns.txt").write_text("\n".join(f"town, number {i}" for i in range(300)))
    found = told("plan", "--categories-file", tmp_path / "towns.txt", "--epsilon", 1, "--people", 10_000)
    assert len(found["description"]["categories"]) == 300


def test_nothing_found_is_an_answer(pages: Path) -> None:
    (pages / "others.txt").write_text("\n".join(f"other{i}.org" for i in range(20)))
    figure, table = pages / "none.png", pages / "none.csv"
    asked = (pages / "pages.parquet", "--candidates", pages / "others.txt", "--select", "bonferroni")
    found = told("decode", *asked, "--figure", figure, "--csv", table)
    assert found["labels"] == []
    assert found["files"] == [str(table)]
    assert "Not found: 20 of 20" in " ".join(run("decode", *asked).stdout.split())


def test_numbers_are_answers_too(tmp_path: Path) -> None:
    told("plan", "--categories", "1,2,3", "--epsilon", 5, "--people", 10, "--save", tmp_path / "s.json")
    polars.DataFrame({"n": [1, 2, 3, 3]}).write_parquet(tmp_path / "a.parquet")
    made = told("randomise", tmp_path / "s.json", tmp_path / "a.parquet", tmp_path / "r.parquet")
    assert made["reports"] == 4


@pytest.mark.parametrize(
    ("odd", "left"),
    [
        ('single\n"married\nsingle\nmarried\n', 3),
        ('"single\nmarried\nsingle\nmarried"\n', 2),
        ('single\nmar"ried\nsingle\ndivor"ced\n', 2),
    ],
    ids=["one quote", "a pair", "inside"],
)
def test_a_stray_quote_in_an_answer_hides_nobody_else(tmp_path: Path, odd: str, left: int) -> None:
    (tmp_path / "a.csv").write_text("status\n" + 10 * "single\n" + odd + 10 * "married\n")
    answers = read_answers(tmp_path / "a.csv", "status")
    assert len(answers) == 20 + left
    assert answers.head(10).to_list() + answers.tail(10).to_list() == ["single"] * 10 + ["married"] * 10


def test_quotes_of_a_csv_writer_are_none_of_the_answer(tmp_path: Path) -> None:
    spoken = ["single, again", 'so "single"', "married"]
    polars.DataFrame({"id": [1, 2, 3], "status": spoken}).write_csv(tmp_path / "a.csv")
    assert read_answers(tmp_path / "a.csv", "status").to_list() == spoken


def test_a_line_of_a_text_is_one_answer_whatever_it_holds(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('yes\n"no\nno\u2028yes\x0cno\nno', encoding="utf-8")
    assert read_answers(tmp_path / "a.txt", None).to_list() == ["yes", '"no', "no\u2028yes\x0cno", "no"]
    with pytest.raises(InvalidArgument, match="leave out --column"):
        read_answers(tmp_path / "a.txt", "status")


def test_an_answer_outside_the_list_becomes_other_or_is_refused_where_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("yes\nno\nnever mind\n")
    for options, code in ((("--other",), 0), ((), 2)):
        told("plan", "--categories", "yes,no", *options, "--epsilon", 1, "--people", 9, "--save", tmp_path / "s.json")
        done = run("randomise", tmp_path / "s.json", tmp_path / "a.txt", tmp_path / f"r{code}.parquet")
        assert done.exit_code == code
        assert "never mind" not in done.output


@pytest.mark.parametrize("name", ["plan", "randomise", "estimate", "decode"])
def test_every_help_has_an_example(name: str) -> None:
    done = run(name, "--help")
    assert done.exit_code == 0
    assert "For example:" in done.stdout
    assert f"   bruit survey {name}" in done.stdout


def test_labels_are_shown_as_they_are(tmp_path: Path) -> None:
    told("plan", "--categories", "[red],[b]", "--epsilon", 5, "--people", 9, "--save", tmp_path / "s.json")
    (tmp_path / "a.txt").write_text("[red]\n[b]\n")
    told("randomise", tmp_path / "s.json", tmp_path / "a.txt", tmp_path / "r.parquet")
    assert "[red]" in run("estimate", tmp_path / "r.parquet").stdout


# ------------------------------------------------------------ bad input
def refused(done: Result, part: str) -> None:
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    assert part in " ".join(done.stderr.split()), done.stderr


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        ("--categories yes --epsilon 1 --people 9", "at least two"),
        ("--categories yes,yes --epsilon 1 --people 9", "differ"),
        ("--epsilon 1 --people 9", "--categories"),
        ("--categories a,b --epsilon 0 --people 9", "above 0"),
        ("--categories a,b --epsilon -1 --people 9", "above 0"),
        ("--categories a,b --epsilon 1e9 --people 9", "useful values"),
        ("--categories a,b --epsilon nan --people 9", "epsilon"),
        ("--categories a,b --epsilon one --people 9", "epsilon"),
        ("--categories a,b --epsilon 1", "two of"),
        ("--categories a,b --epsilon 1 --people 9 --error 0.1", "two of"),
        ("--categories a,b --epsilon 1 --error 2", "error"),
        ("--categories a,b --people 9 --error 0.001", "ask more people"),
        ("--categories a,b --epsilon 1 --people 0", "people"),
        ("--categories a,b --epsilon 1 --people 9 --save plan.txt", ".json"),
        ("--categories a,b --epsilon 1 --people 9 --save nowhere/plan.json", "no folder"),
        ("--protocol Warner --categories a,b --epsilon 1 --people 9", "no and yes"),
        ("--categories a,b --categories-file towns.txt --epsilon 1 --people 9", "--categories-file"),
        ("--categories-file towns.txt --epsilon 1 --people 9", "towns.txt"),
        ("--protocol Rappor --people 9", "--f"),
        ("--protocol Rappor --f 1 --people 9", "f=1"),
        ("--protocol Rappor --f 0.5 --epsilon 1 --people 9", "--epsilon"),
        ("--protocol Rappor --f 0.5 --people 9 --bits 1", "bits"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(asked: str, advice: str) -> None:
    refused(run("plan", *asked.split()), advice)


def test_answers_that_cannot_be_read_are_refused(answered: Path) -> None:
    protocol, output = answered / "survey.json", answered / "new.parquet"
    refused(run("randomise", protocol, answered / "missing.csv", output), "no such file")
    refused(run("randomise", protocol, answered / "missing.txt", output), "cannot be read")
    refused(run("randomise", protocol, answered / "answers.csv", output), "--column")
    refused(run("randomise", protocol, answered / "answers.csv", output, "--column", "age"), "no column")
    refused(run("randomise", protocol, answered / "answers.csv", answered / "new.csv", "--column", "id"), ".parquet")
    for name, content in (("empty.txt", ""), ("empty.csv", "status\n")):
        (answered / name).write_text(content)
        refused(run("randomise", protocol, answered / name, output), "empty survey")
    (answered / "cut.parquet").write_bytes((answered / "reports.parquet").read_bytes()[:200])
    refused(run("randomise", protocol, answered / "cut.parquet", output), "not a whole Parquet file")
    (answered / "cut.csv").write_text("status\nsingle\nmarr")
    refused(run("randomise", protocol, answered / "cut.csv", output), "cut half-way")
    assert not output.exists()


def test_a_protocol_that_was_cut_or_changed_is_refused(answered: Path) -> None:
    path, whole = answered / "survey.json", (answered / "survey.json").read_text()
    block = json.loads(whole)
    block["settings"]["epsilon"] = "1/10"
    contents = {"cut": whole[:50], "changed": json.dumps(block), "another kind": "[1, 2]", "is no whole": ""}
    for content in contents.values():
        path.write_text(content)
        refused(run("randomise", path, answered / "answers.csv", answered / "r.parquet"), "survey.json")
    refused(run("randomise", answered / "none.json", answered / "answers.csv", answered / "r.parquet"), "none.json")


def test_reports_that_cannot_be_are_refused(answered: Path, pages: Path) -> None:
    whole, cut = answered / "reports.parquet", answered / "cut.parquet"
    cut.write_bytes(whole.read_bytes()[:-40])
    refused(run("estimate", cut), "cut half-way")
    refused(run("estimate", answered / "missing.parquet"), "no file")
    refused(run("estimate", whole, "--protocol", pages / "pages.json"), "not of Rappor")
    refused(run("estimate", pages / "pages.parquet"), "bruit survey decode")
    mean = OneBitMean(0, 10, grid=1, epsilon=1)
    write_reports(mean.randomise(range(10)), answered / "mean.parquet")
    refused(run("estimate", answered / "mean.parquet"), "for a mean")
    (answered / "mean.json").write_text(json.dumps(mean.to_json()))
    made = answered / "made.parquet"
    refused(run("randomise", answered / "mean.json", pages / "pages.txt", made), "for a mean")
    assert not made.exists()
    refused(run("decode", whole, "--candidates", pages / "candidates.txt"), "bruit survey estimate")
    refused(run("decode", pages / "pages.parquet", "--candidates", pages / "missing.txt"), "missing.txt")
    refused(run("decode", pages / "pages.parquet", "--candidates", pages / "candidates.txt", "--level", 2), "level")
    refused(run("estimate", whole, "--figure", answered / "shares.jpg"), ".png")
    refused(run("estimate", whole, "--confidence", 2), "confidence")
    (answered / "nothing").mkdir()
    refused(run("estimate", answered / "nothing"), "no Parquet")
    frame = polars.read_parquet(whole)
    frame.write_parquet(cut)
    refused(run("estimate", cut), "says nothing of a protocol")
    metadata = {**polars.read_parquet_metadata(whole)}
    metadata["bruit.protocol"] = metadata["bruit.protocol"].replace('"epsilon": "2"', '"epsilon": "1"')
    frame.write_parquet(cut, metadata={key: metadata[key] for key in ("bruit.protocol", "bruit.seeded")})
    refused(run("estimate", cut), "protocol")


def test_too_few_reports_are_refused(answered: Path, pages: Path) -> None:
    for folder, name in ((answered, "survey"), (pages, "pages")):
        (folder / "one.txt").write_text("single")
        told("randomise", folder / f"{name}.json", folder / "one.txt", folder / f"{name}-one.parquet")
    refused(run("estimate", answered / "survey-one.parquet"), "one report alone")
    asked = ("--candidates", pages / "candidates.txt")
    refused(run("decode", pages / "pages-one.parquet", *asked), "one report alone")
    for name in ("survey-one", "pages-one"):
        path = answered / f"{name}.parquet"
        keys = ("bruit.protocol", "bruit.seeded")
        metadata = {key: polars.read_parquet_metadata(path)[key] for key in keys}
        polars.read_parquet(path).clear().write_parquet(path, metadata=metadata)
    refused(run("estimate", answered / "survey-one.parquet"), "empty survey")
    refused(run("decode", pages / "pages-one.parquet", *asked), "empty survey")


ALL = ("best", "KRR", "HadamardResponse", "OLH", "OUE", "SUE", "SubsetSelection")


@pytest.mark.parametrize(("epsilon", "categories"), [("0.2", 3), ("1", 6), ("2.1", 2), ("3", 6), ("5", 40)])
def test_the_plan_recommends_the_protocol_with_the_least_error(epsilon: str, categories: int) -> None:
    asked = ("plan", "--categories", ",".join(f"c{n}" for n in range(categories)), "--people", "3000")
    found = {name: told(*asked, "--epsilon", epsilon, "--protocol", name) for name in ALL}
    best = found["best"]
    assert best["error"] == pytest.approx(min(one["error"] for one in found.values()), rel=1e-3)
    assert best["error"] == pytest.approx(found[best["protocol"]]["error"], rel=1e-12)
