"""The table of the source documents: nothing that it names is missing, and nothing is missing from it."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bruit.apps.studies.documents import DOCUMENTS
from bruit.apps.studies.registry import STUDIES

ROOT = Path(__file__).parents[2]
SPEC = (ROOT / "docs/spec.md").read_text(encoding="utf-8")
TABLE = (ROOT / "docs/documents.md").read_text(encoding="utf-8")


class Row(NamedTuple):
    """One claim, algorithm, formula, experiment or tool."""

    item: str
    says: str
    modules: list[str]
    tests: list[str]
    studies: list[str]
    errata: list[str]


def rows() -> Iterator[Row]:
    for line in re.findall(r"^\| (S\d\.\d+ .*) \|$", TABLE, re.M):
        item, says, *named, errata = (cell.strip() for cell in line.split(" | "))
        modules, tests, studies = (re.findall(r"`([^`]+)`", cell) for cell in named)
        yield Row(item, says, modules, tests, studies, re.findall(r"E\d+", errata))


def asked() -> set[str]:
    return set(re.findall(r"^- \*\*(S\d\.\d+)\b", SPEC, re.M))


def errata() -> set[str]:
    return set(re.findall(r"^\| (E\d+) \|", SPEC, re.M))


def test_no_item_and_no_erratum_of_the_documents_is_missing() -> None:
    assert len(asked()) >= 40
    assert asked() ^ {row.item for row in rows()} == set()
    assert errata() ^ {erratum for row in rows() for erratum in row.errata} == set()


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def test_nothing_of_the_brief_is_missing_from_the_specification() -> None:
    brief = Path(os.environ.get("BRUIT_DATA", "")).parent / "SPEC.md"
    if not brief.is_file():
        pytest.skip("the brief is not on this machine")
    text = brief.read_text(encoding="utf-8")
    items = dict(re.findall(r"^- \*\*(S\d\.\d+)\b(.*)$", text, re.M))
    ours = dict(re.findall(r"^- \*\*(S\d\.\d+)\b(.*)$", SPEC, re.M))
    assert set(items) == set(ours)
    for item, told in items.items():
        numbers, kept = (set(re.findall(r"\d+(?:[.,]\d+)*", each)) for each in (told, ours[item]))
        assert numbers <= kept, item
    wrong = {
        plain(line) for line in re.findall(r"^\| (S\d(?![^|]*\.txt)[^|]*\|.*) \|$", text.split("## Errata")[1], re.M)
    }
    mended = {plain(line) for line in re.findall(r"^\| E\d+ \| (.*) \|$", SPEC, re.M)}
    assert len(wrong) >= 30
    assert wrong - mended == set()


def test_every_row_names_what_holds_it() -> None:
    assert [row for row in rows() if not row.tests] == []


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: f"{row.item} {row.says[:30]}")
def test_every_module_test_and_study_that_is_named_exists(row: Row) -> None:
    paths = [ROOT / "src" / Path(*name.split(".")).with_suffix(".py") for name in row.modules]
    paths += [ROOT / name for name in row.tests]
    assert [path for path in paths if not path.is_file()] == []
    assert set(row.studies) - set(STUDIES) == set()


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: f"{row.item} {row.says[:30]}")
def test_every_module_that_is_named_is_used_by_a_test_of_its_row(row: Row) -> None:
    tests = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in row.tests)
    for module in row.modules:
        text = (ROOT / "src" / Path(*module.split(".")).with_suffix(".py")).read_text(encoding="utf-8")
        defined = (node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef))
        names = [name for name in defined if not name.startswith("_")] + [module.rpartition(".")[2]]
        assert any(re.search(rf"\b{name}\b", tests) for name in names), module


def test_every_study_of_a_document_stands_in_the_table() -> None:
    assert set(DOCUMENTS) - {study for row in rows() for study in row.studies} == set()


def test_no_document_is_quoted_for_what_it_does_not_print() -> None:
    for study, misquote in (("trees", "92 %"), ("deciles", "curve"), ("knn", "curve")):
        assert misquote not in DOCUMENTS[study].found
