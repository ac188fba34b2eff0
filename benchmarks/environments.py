"""The peers' own environments, one an area, made from `requirements/AREA.txt` and made again only when that changes."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent


class NoPeers(Exception):
    """The peers of an area cannot be installed."""


def requirements(area: str) -> Path:
    """The file that lists an area's peers."""
    return HERE / "requirements" / f"{area}.txt"


def python_of_peers(area: str, *, folder: Path = ROOT / ".benchmarks") -> Path:
    """The Python of an area's peers; makes its environment when there is none for this very list."""
    wanted = requirements(area)
    if not wanted.exists():
        raise NoPeers(f"requirements/{wanted.name} does not exist: list the peers of {area} there")
    environment = folder / area
    stamp, mark = environment / "stamp", _mark(wanted)
    python = environment / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != mark:
        shutil.rmtree(environment, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(environment)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--requirement", str(wanted)])
        stamp.write_text(mark)
    return python


def _mark(wanted: Path) -> str:
    return hashlib.sha256(wanted.read_bytes() + sys.version.encode()).hexdigest()


def _run(command: list[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise NoPeers(last_line(ended.stderr))


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
