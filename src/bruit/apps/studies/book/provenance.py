"""How a page of the book was made: from which program, with which seed, on which machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from bruit.apps.studies.registry import STUDIES


@dataclass(frozen=True)
class Provenance:
    """What one needs to make a page again, and what it was made on."""

    command: str
    seed: int
    commit: str
    program: str
    machine: str
    seconds: float
    cpu_seconds: float

    def to_json(self) -> dict[str, str | int | float]:
        """The provenance in JSON types."""
        return asdict(self)


def provenance(name: str, *, seed: int, spent: Spent) -> Provenance:
    """Where a study was run just now, what by, and how long it took."""
    command = f"bruit study {name} --book docs/results --seed {seed}"
    took = [round(seconds, 1) for seconds in spent.note()]
    machine = f"{spent.elsewhere}; tables and figures on {_machine()}" if spent.elsewhere else _machine()
    return Provenance(command, seed, _commit(), program(name), machine, *took)


class Spent:
    """The seconds that a study takes, on the clock and of the processor, over all runs that it needs to end.

    A study that sweeps goes on from its file: then what earlier runs spent on that file is added. Where they ran on
    another machine, `machine.txt` beside it says on which.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "spent.json"
        other = folder / "machine.txt"
        self.elsewhere = other.read_text(encoding="utf-8").strip() if other.is_file() else ""
        self._began = _now()
        self._before = [0.0, 0.0]
        if any(folder.glob("sweep*.jsonl")) and self.file.is_file():
            self._before = json.loads(self.file.read_text(encoding="utf-8"))

    def note(self) -> list[float]:
        """Writes down what was spent until now, so that a run which is killed is counted, and returns it."""
        spent = [old + now - began for old, now, began in zip(self._before, _now(), self._began, strict=True)]
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(spent), encoding="utf-8")
        return spent


def _now() -> list[float]:
    """Seconds on the clock, and those of the processor with ended child processes."""
    times = os.times()
    return [time.monotonic(), times.user + times.system + times.children_user + times.children_system]


def program(name: str) -> str:
    """A short digest of the code of a study: its module, or all modules of the package that is its own."""
    found = find_spec(f"bruit.apps.{STUDIES[name][0]}")
    assert found is not None
    assert found.origin is not None
    module = Path(found.origin)
    shared = {"studies", "surveys", "images", "faults", "meaning"}
    files = [module] if module.parent.name in shared else sorted(module.parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _commit() -> str:
    """The commit of the working tree that the program runs from; the release where it was installed."""
    here = Path(__file__).parent
    asked = ["git", "-C", str(here), "describe", "--always", "--dirty=, changed", "--match", "no tag"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        said = ""
    return said or f"release {version('bruit')}"


def _machine() -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {python}, NumPy {version('numpy')}"
