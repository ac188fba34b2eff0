"""How a page of the book was made: from which program, with which seed, on which machine."""

from __future__ import annotations

import ast
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from bruit.apps.studies.registry import STUDIES

OWN = ("bruit.apps.studies.", "bruit.apps.faults")
"""Where the code of studies stands; the rest of the program is named by the commit."""


CARD = "NVIDIA"
"""What the machine of a study is called after where it holds a graphics card."""


@dataclass(frozen=True)
class Provenance:
    """What one needs to make a page again, and what it was made on."""

    command: str
    seed: int
    commit: str
    program: str
    machine: str
    seconds: float
    cpu_seconds: float | None = None
    """Of one core; None on pages that were made before it was measured."""

    @property
    def with_card(self) -> bool:
        """Whether a GPU was used for the page."""
        return CARD in self.machine

    def to_json(self) -> dict[str, str | int | float | None]:
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
        if any(folder.glob("*.jsonl")) and self.file.is_file():
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
    """A short digest of the code of a study: its module, and all that it imports of the studies and the faults.

    Words about the code do not count, so that a page stays current when only a docstring is mended.
    """
    files = [*_files_of(f"bruit.apps.{STUDIES[name][0]}")]
    for file in files:  # grows while it is walked, until no file names a new one
        files += [path for path in dict.fromkeys(_imports(file)) if path not in files]
    return sha256("\n".join(map(_code, sorted(files))).encode()).hexdigest()[:12]


def _code(file: Path) -> str:
    """The lines of a module without its docstrings, whole-line comments and empty lines."""
    text = file.read_text(encoding="utf-8")
    told = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    words = {
        line
        for node in told
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    kept = [line for number, line in enumerate(text.splitlines(), 1) if number not in words and line.strip()]
    return "\n".join(line for line in kept if not line.lstrip().startswith("#"))


def _imports(file: Path) -> Iterator[Path]:
    """The modules of studies and faults that a module imports, at its head or inside a function."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(OWN):
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                yield from _files_of(name)


def _files_of(name: str) -> list[Path]:
    """The file of a module or of a package; none where the name is of something else."""
    place = Path(*Path(__file__).parts[:-5], *name.split("."))
    return [file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()]


def _commit() -> str:
    """The commit that the program runs from, and whether its package was changed since; the release if installed.

    Only the package counts: the book itself changes while its pages are made.
    """
    package = Path(*Path(__file__).parts[:-4])
    try:
        at = _git(package, "rev-parse", "--short=7", "HEAD")
        return at + (", changed" if _git(package, "status", "--porcelain", "--", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return f"release {version('bruit')}"


def _git(folder: Path, *asked: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *asked], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout.strip()


def _machine() -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {python}, NumPy {version('numpy')}"
