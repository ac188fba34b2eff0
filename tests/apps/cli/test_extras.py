"""Every command without the optional parts: it works, or says in one sentence what to install."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import grimp
import pytest
from apps.cli.without_extras import COMMANDS, every_command

import bruit
from bruit.apps.cli import COMMANDS as NAMES
from bruit.apps.extras import EXTRAS, require_extras
from bruit.apps.studies import STUDIES
from bruit.errors import MissingExtra

ROOT = Path(__file__).parents[3]
PROGRAM = Path(__file__).with_name("without_extras.py")
SENTENCE = re.compile(r"bruit: [^\n]+ needs an optional part: pip install 'bruit\[([a-z,]+)\]'")


def run_without(packages: Iterable[str], folder: Path) -> list[dict[str, Any]]:
    done = subprocess.run([sys.executable, PROGRAM, folder, *packages], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_works_or_names(row: dict[str, Any], hidden: set[str]) -> None:
    """A command that needs a hidden extra names it, and charges nothing; another one does not speak of it."""
    missing = [extra for extra in row["needs"].split(",") if extra in hidden]
    assert row["crash"] == "", row
    if missing:
        assert row["status"] == 2, row
        found = SENTENCE.fullmatch(row["said"])
        assert found is not None, row
        assert found.group(1).split(",") == missing, row
    else:
        assert "pip install" not in row["said"], row
        assert row["status"] == 0 or row["command"][0] in {"join", "ledger", "shuffle", "synthesise"}, row


def test_every_command_without_every_extra(tmp_path: Path) -> None:
    hidden = [package for packages in EXTRAS.values() for package in packages]
    for row in run_without(hidden, tmp_path):
        assert_works_or_names(row, set(EXTRAS))


def test_every_command_with_the_demo_alone(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    brought = re.findall(r"bruit\[(.*?)\]", project["optional-dependencies"]["demo"][0])[0].split(",")
    hidden = set(EXTRAS) - set(brought)
    assert "deep" in hidden
    for row in run_without([package for extra in hidden for package in EXTRAS[extra]], tmp_path):
        assert_works_or_names(row, hidden)


@pytest.mark.stress
@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_every_command_without_one_extra(extra: str, tmp_path: Path) -> None:
    for row in run_without(EXTRAS[extra], tmp_path):
        assert_works_or_names(row, {extra})


def test_every_command_is_tried() -> None:
    assert {command[0] for _, command in COMMANDS} == set(NAMES)


def test_commands_in_the_readme_are_tried() -> None:
    named = {tuple(words.split()) for words in re.findall(r"`bruit ([a-z0-9 ]+)`", (ROOT / "README.md").read_text())}
    assert ("study", "mnist") in named
    tried = [command for _, command in every_command()]
    assert [words for words in named if not any(command[: len(words)] == words for command in tried)] == []


def test_extras_list_the_packages_that_they_install() -> None:
    homes = metadata.packages_distributions()
    for extra, packages in EXTRAS.items():
        if extra == "onnx":
            continue  # not installed for the gate
        asked = [line for line in metadata.requires("bruit") or [] if f"extra == '{extra}'" in line]
        wanted = {re.split(r"[^\w.-]", line)[0].lower().replace("_", "-") for line in asked} - {
            "uvloop"
        }  # not on Windows
        brought = {home.lower().replace("_", "-") for name in packages for home in homes[name]}
        assert brought == wanted, extra


def test_several_missing_parts_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "deep", ("no_such_package",))
    monkeypatch.setitem(EXTRAS, "plot", ("no_such_package_either",))
    with pytest.raises(
        MissingExtra, match=re.escape("the study x needs an optional part: pip install 'bruit[deep,plot]'")
    ):
        require_extras("the study x", "deep", "learn", "plot")


THROUGH_DATA_SETS = {(study, "learn") for study in ("krr-marital", "krr-regression", "trust")}
DOES_WITHOUT = {("membership", "plot"), ("reconstruction", "plot"), ("planted", "deep")} | THROUGH_DATA_SETS
"""Studies that reach a package of an extra but do without it; some through the list of data sets alone."""


def test_studies_state_the_extras_that_they_reach() -> None:
    graph = grimp.build_graph("bruit", include_external_packages=True, exclude_type_checking_imports=True)
    for name, (module, _, stated) in STUDIES.items():
        reached = graph.find_upstream_modules(f"bruit.apps.{module}")
        homes = {"deep": "torch", "learn": "sklearn", "plot": "matplotlib"}
        needed = {extra for extra, package in homes.items() if package in reached}
        assert needed - set(stated) <= {extra for study, extra in DOES_WITHOUT if study == name}, name
        assert set(stated) - {"networks", "web"} <= needed, name  # web: reached by the programs that a study starts


def test_learning_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['sklearn'] = None\n"
        "try:\n import bruit.learning\nexcept ImportError as error:\n sys.stdout.write(str(error))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout == "bruit.learning needs an optional part: pip install 'bruit[learn]'"
    assert bruit.learning.__all__
