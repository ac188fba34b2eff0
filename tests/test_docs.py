"""The pages: every source that the code names stands in the list of references."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = re.compile(r"^([A-Z][\w’' .,&ßéèêëíöüçñõłń-]*? (?:19|20)\d\d[a-z]?)\b")
RULE_OR_PART = re.compile(r"\[[^\[\]]*?docs/(rules|spec)\.md ([\w.]+)")


def cited(text: str) -> set[str]:
    """What stands in brackets as names and a year, several parted by semicolons."""
    inside = [part.strip() for block in re.findall(r"\[([^\[\]]{6,160})\]", text) for part in block.split(";")]
    found = {match.group(1) for part in inside if (match := SOURCE.match(" ".join(part.split())))}
    return {_spelt(name) for name in found}


def listed() -> set[str]:
    return {_spelt(name) for name in re.findall(r"^- \*\*(.+?)\*\*", (ROOT / "docs/references.md").read_text(), re.M)}


def _spelt(name: str) -> str:
    return name.replace(" and ", " & ")


@pytest.mark.parametrize("folder", sorted(path.name for path in (ROOT / "src/bruit").iterdir() if path.is_dir()))
def test_every_source_named_in_the_code_stands_in_the_references(folder: str) -> None:
    files = (ROOT / "src/bruit" / folder).rglob("*.py")
    missing = {name: path.name for path in files for name in cited(path.read_text()) if name not in listed()}
    assert missing == {}


def test_every_source_named_on_a_page_stands_in_the_references() -> None:
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name != "references.md"]
    missing = {name: page.name for page in pages for name in cited(page.read_text()) if name not in listed()}
    assert missing == {}


def test_the_references_are_sorted() -> None:
    names = re.findall(r"^- \*\*(.+?)\*\*", (ROOT / "docs/references.md").read_text(), re.M)
    assert names == sorted(names, key=str.lower)


def test_every_rule_and_part_of_the_documents_that_the_code_names_exists() -> None:
    rules = set(re.findall(r"^(\d+)\. \*\*", (ROOT / "docs/rules.md").read_text(), re.M))
    parts = set(re.findall(r"\bS\d(?:\.\d+)?\b", (ROOT / "docs/spec.md").read_text()))
    known = {"rules": rules, "spec": parts}
    named = {
        (page, name.rstrip(".")): path.name
        for path in (ROOT / "src").rglob("*.py")
        for page, name in RULE_OR_PART.findall(path.read_text())
    }
    assert len(named) > 10
    assert {where: path for where, path in named.items() if where[1] not in known[where[0]]} == {}


def test_every_file_of_the_journeys_stands_where_the_page_says() -> None:
    page = (ROOT / "docs/how_it_works.md").read_text()
    named = set(
        re.findall(r"`((?:apps|central|channels|core|deep|ledger|local|mechanisms|privacy|tables)/[\w/.]+)`", page)
    )
    assert len(named) > 30
    assert {name for name in named if not (ROOT / "src/bruit" / name).exists()} == set()
