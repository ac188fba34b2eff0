"""What the make targets rest on."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import commit_message, lint, lock, set_up, system_parts

ROOT = Path(__file__).parents[1]
TARGETS = {"setup", "demo", "test", "check", "bench", "stress", "audit", "studies", "docs", "serve", "wheel", "lock"}


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


LOCK = set_up.LOCK.read_text()

ADVISORIES = {
    "duckdb": "1.4.2",  # CVE-2025-64429
    "jinja2": "3.1.6",  # CVE-2025-27516
    "onnx": "1.19.1",  # CVE-2025-51480
    "pillow": "12.1.1",  # CVE-2026-25990
    "playwright": "1.55.1",  # CVE-2025-59288
    "python-multipart": "0.0.22",  # CVE-2026-24486
    "starlette": "0.49.1",  # CVE-2025-62727
    "torch": "2.8",  # CVE-2025-3730
    "uv": "0.9.6",  # CVE-2025-13327
}
"""The first version without the last advisory that is known here."""


def asked_for() -> dict[str, str]:
    """Every package that pyproject.toml asks for, with its lower bound."""
    found = re.findall(r'"([A-Za-z][\w.-]*)(?:\[\w+\])?>=([\d.]+)', (ROOT / "pyproject.toml").read_text())
    return {name.lower().replace("_", "-"): bound for name, bound in found if name != "python"}


def test_the_lock_pins_every_dependency_that_is_installed_for_the_gate() -> None:
    pinned = {line.partition("==")[0] for line in set_up.without_hashes(LOCK).splitlines()}
    assert asked_for().keys() - pinned == set()


def test_every_pinned_file_has_a_hash_and_no_registry_is_named() -> None:
    entries = re.split(r"\n(?=\S)", LOCK.strip())
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == [
        line for line in set_up.without_hashes(LOCK).splitlines() if line.startswith(f"{lock.SEVERAL_BUILDS}==")
    ]
    assert "://" not in LOCK
    assert "+" not in set_up.without_hashes(LOCK)  # no local build


def test_the_lock_is_read_entry_by_entry() -> None:
    one = "one==1 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
    text = f"{one}torch==2.9+cpu \\\n    --hash=sha256:cc\nuv==3 ; a > 'b'\n"
    assert set_up.without_hashes(text) == "one==1\ntorch==2.9+cpu\nuv==3 ; a > 'b'\n"
    assert set_up.entry_of("one", text) == one
    assert lock.without_builds(text).splitlines()[3:] == ["torch==2.9", "uv==3 ; a > 'b'"]


def test_lower_bounds_stand_above_versions_with_known_advisories() -> None:
    def numbers(version: str) -> list[int]:
        return [int(part) for part in version.split(".")]

    asked = asked_for()
    assert [name for name, safe in ADVISORIES.items() if numbers(asked[name]) < numbers(safe)] == []


@pytest.mark.parametrize("held", ["demo", "dev"])
def test_a_set_up_with_everything_serves_the_tour_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    monkeypatch.setattr(set_up, "_is_same_python", lambda python: True)
    monkeypatch.setattr(set_up, "_installed_by_uv", lambda folder, wanted: wanted == ["--editable", f".[{held}]"])
    monkeypatch.setattr(set_up, "_install_by_pip", lambda folder, wanted: pytest.fail("uv was there"))
    set_up.main(tmp_path, held)
    assert {path.name for path in tmp_path.iterdir()} == {f"stamp-{each}" for each in set_up.HELD[held]}


def test_an_old_python_is_refused_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_up, "OLDEST", (99, 0))
    with pytest.raises(SystemExit, match=r"needs Python 99\.0 or later.*make PYTHON="):
        set_up.main(tmp_path / "environment", "demo")
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
