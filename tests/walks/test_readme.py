"""The README runs: each Python block in turn, and what it prints is what the README shows."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Each Python block with the output shown right below it, or an empty text."""
    return [(code, shown) for code, shown in BLOCK.findall(README.read_text())]


def test_the_readme_shows_code_with_its_output() -> None:
    assert any(shown for _, shown in blocks())


def test_every_block_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, shown in blocks():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), names)
        if shown:
            assert printed.getvalue().strip() == shown.strip()


def test_the_readme_stays_on_two_screens() -> None:
    assert len(README.read_text().splitlines()) <= 120


def test_the_readme_names_the_two_commands() -> None:
    assert {"make demo", "make test"} <= set(re.findall(r"^(make \w+)", README.read_text(), re.MULTILINE))
