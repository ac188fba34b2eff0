"""The gate's time: how long each part of the checks may take, and how long it took.

`python scripts/gate.py PART COMMAND...` runs a command and notes its seconds for the table at the end of the tests.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

SECONDS = {
    "set-up": 45,
    "linters": 45,
    "core tests": 270,
    "deep": 60,
    "services": 90,
    "notebooks, docs, studies": 90,
}
"""The budget of each part; services are Spark, PostgreSQL and the browser. Full sizes run outside the gate."""

NOTES = Path(__file__).parents[1] / "build" / "gate"


def part_of(path: str, markers: Mapping[str, object]) -> str:
    """The part that a test belongs to, by its file and its markers."""
    if "service" in markers:
        return "services"
    folders = Path(path).parts
    if "deep" in folders:
        return "deep"
    return "notebooks, docs, studies" if {"notebooks", "docs", "studies"} & set(folders) else "core tests"


def note(part: str, seconds: float) -> None:
    """Keeps what a part took for the table."""
    NOTES.mkdir(parents=True, exist_ok=True)
    (NOTES / part).write_text(f"{seconds:.1f}\n")


def noted() -> dict[str, float]:
    """What the parts took when they last ran outside the tests."""
    return {part: float((NOTES / part).read_text()) for part in SECONDS if (NOTES / part).exists()}


def table(took: Mapping[str, float]) -> list[str]:
    """The lines of the table: part, budget, what it took."""
    lines = [f"{'part of the gate':26}{'budget':>8}{'took':>9}"]
    for part, budget in SECONDS.items():
        lines.append(f"{part:26}{budget:>6} s" + (f"{took[part]:>7.1f} s" if part in took else f"{'–':>9}"))
    lines.append(f"{'all':26}{sum(SECONDS.values()):>6} s{sum(took.values()):>7.1f} s")
    return lines


def main(part: str, command: list[str]) -> int:
    """Runs the command and notes its seconds."""
    began = time.monotonic()
    status = subprocess.run(command, check=False).returncode
    if status == 0:
        note(part, time.monotonic() - began)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
