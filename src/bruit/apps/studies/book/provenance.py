"""How a page of the book was made: from which program, with which seed, on which machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
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

    def to_json(self) -> dict[str, str | int | float]:
        """The provenance in JSON types."""
        return asdict(self)


def provenance(name: str, *, seed: int, seconds: float) -> Provenance:
    """Where a study was run just now, and what by."""
    command = f"bruit study {name} --book docs/results --seed {seed}"
    return Provenance(command, seed, _commit(), program(name), _machine(), round(seconds, 1))


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
