"""The pages run: each Python block of a page in turn, and what it prints is what the page shows right below it."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from bruit.apps.data import people

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\s*^```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
PAGES = sorted(page for page in DOCS.glob("**/*.md") if BLOCK.search(page.read_text()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_runs_and_prints_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people().write_csv("people.csv")  # the pages say where it comes from: bruit data example
    people().write_parquet("people.parquet")
    names: dict[str, Any] = {"__name__": "__page__"}
    for code, shown in BLOCK.findall(page.read_text()):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), names)
        if shown:
            assert printed.getvalue().strip() == shown.strip()
