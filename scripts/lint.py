"""Runs every linter, all of them even when one complains; the same list stands in .pre-commit-config.yaml."""

import subprocess
import sys
from pathlib import Path

LINTERS = (
    ("ruff", "format", "--check", "--quiet"),
    ("ruff", "check", "--quiet"),
    ("mypy", "--num-workers=2"),
    ("lint-imports",),
)

UNREACHED = "Failed to establish connection with worker"


def main() -> int:
    """The number of linters that complained; all run at once, since the slowest of them leaves a core idle."""
    folder = Path(sys.executable).parent
    running = [
        subprocess.Popen([folder / name, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for name, *options in LINTERS
    ]
    complaints = 0
    for command, process in zip(LINTERS, running, strict=True):
        said, _ = process.communicate()
        print(" ".join(command), flush=True)
        status = process.returncode
        if status and UNREACHED in said:  # mypy's processes wait only so long for each other on a busy machine
            again = subprocess.run([folder / command[0]], capture_output=True, text=True, check=False)
            status, said = again.returncode, again.stdout + again.stderr
        if status:
            complaints += 1
            print(said, flush=True)
    return complaints


if __name__ == "__main__":
    sys.exit(main())
