"""The gate's time is a budget kept in one table."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts import gate


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = gate.table({"set-up": 80.0, "core tests": 60.0})
    with capsys.disabled():
        sys.stdout.write("\n".join(["", *gate.table(gate.noted()), ""]))
    assert [line.split()[-1] == "–" or line.endswith(" s") for line in lines[1:]] == [True] * (len(gate.SECONDS) + 1)
    assert lines[-1].split() == ["all", "600", "s", "140.0", "s"]


@pytest.mark.parametrize(
    ("path", "markers", "part"),
    [
        ("tests/local/test_krr.py", {}, "core tests"),
        ("tests/deep/test_clipping.py", {}, "deep"),
        ("tests/ledger/test_postgres.py", {"service": 1}, "services"),
        ("tests/apps/studies/test_audits.py", {}, "notebooks, docs, studies"),
    ],
)
def test_every_test_belongs_to_a_part(path: str, markers: dict[str, Any], part: str) -> None:
    assert gate.part_of(path, markers) == part
    assert part in gate.SECONDS


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="only processes side by side share tests")
def test_the_tests_of_a_file_go_to_one_process(request: pytest.FixtureRequest) -> None:
    assert request.node.nodeid.endswith("@tests/test_gate.py"), "pytest-xdist does not see the groups"


def test_a_part_outside_the_tests_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "NOTES", tmp_path)
    assert gate.main("linters", ["true"]) == 0
    assert gate.main("set-up", ["false"]) == 1
    assert list(gate.noted()) == ["linters"]
