"""What the make targets rest on."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import commit_message, lint, set_up, system_parts

ROOT = Path(__file__).parents[1]
TARGETS = {"setup", "demo", "test", "check", "bench", "stress", "audit", "studies", "docs", "serve"}


def test_make_has_every_target() -> None:
    told = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {line.split("\t")[0] for line in told.stdout.splitlines()} >= TARGETS


def test_pre_commit_runs_the_list_of_make_check() -> None:
    entries = re.findall(r"entry: \.venv/bin/(.*)", (ROOT / ".pre-commit-config.yaml").read_text())
    # The hook may repair the format; the check only complains.
    linters = [" ".join(part for part in linter if not part.startswith("--")) for linter in lint.LINTERS]
    assert entries == [*linters, "python -m pytest"]


def test_the_gate_is_the_readme_s_test_command_and_the_linters() -> None:
    commands = re.findall(r"^make (\w+)", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert commands == ["lint", "test"]


@pytest.mark.parametrize(
    ("browser", "java", "skipped"),
    [("/usr/bin/chromium", 21, 0), (None, 17, 1), ("/usr/bin/chromium", 11, 1), (None, None, 2)],
)
def test_missing_system_parts_are_named_with_what_is_skipped(
    monkeypatch: pytest.MonkeyPatch, browser: str | None, java: int | None, skipped: int
) -> None:
    monkeypatch.setattr(system_parts, "browser", lambda: browser)
    monkeypatch.setattr(system_parts, "java_version", lambda: java)
    lines = system_parts.missing()
    assert len(lines) == skipped
    assert all("are skipped" in line and "apt install" in line for line in lines)


def test_constraints_pin_every_dependency_that_is_installed_for_the_gate() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    asked = re.findall(r'"([A-Za-z][\w.-]*)(?:\[\w+\])?>=', (ROOT / "pyproject.toml").read_text())
    assert {name.lower().replace("_", "-") for name in asked} - pinned == set()


def test_an_old_python_is_refused_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_up, "OLDEST", (99, 0))
    with pytest.raises(SystemExit, match=r"needs Python 99\.0 or later.*make PYTHON="):
        set_up.main(tmp_path / "environment")
    assert not (tmp_path / "environment").exists()


def test_uv_looks_where_pip_looks(tmp_path: Path) -> None:
    settings = {
        "index-url": ["https://mirror.example/simple"],
        "extra-index-url": ["file:///one/simple", "file:///two/simple"],
        "find-links": ["wheels"],
        "default-timeout": ["60"],
    }
    options = set_up.uv_options(settings)
    assert options[:2] == ["--index-strategy", "unsafe-best-match"]
    assert options[2:4] == ["--default-index", "https://mirror.example/simple"]
    assert options[4:8] == ["--index", "file:///one/simple", "--index", "file:///two/simple"]
    assert options[8:] == ["--find-links", "wheels"]


def test_pip_s_settings_are_read_from_pip_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert str(tmp_path) in set_up.pip_settings(Path(sys.executable))["find-links"]


@pytest.mark.parametrize(
    ("message", "complaints"),
    [
        ("Count rows once\n\nTwo passes read the table twice.\n", 0),
        ("Count rows once\n", 1),
        ("Count rows once\nwithout a blank line\n", 1),
        ("Count rows; sum them\n\nBecause.\n", 1),
        ("x" * 61 + "\n\nBecause.\n", 1),
        ("\n# a comment only\n", 2),
    ],
)
def test_a_commit_says_what_and_why(message: str, complaints: int) -> None:
    assert len(commit_message.complaints(message)) == complaints
