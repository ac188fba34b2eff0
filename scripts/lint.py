"""Runs every linter, all of them even when one complains; the same list stands in .pre-commit-config.yaml."""

import subprocess
import sys
from pathlib import Path

LINTERS = (
    ("ruff", "format", "--check", "--quiet"),
    ("ruff", "check", "--quiet"),
    ("mypy",),
    ("lint-imports",),
)


def main() -> int:
    """The number of linters that complained."""
    folder = Path(sys.executable).parent
    complaints = 0
    for name, *options in LINTERS:
        print(f"{name} {' '.join(options)}".rstrip(), flush=True)
        ended = subprocess.run([folder / name, *options], capture_output=True, text=True, check=False)
        if ended.returncode:
            complaints += 1
            print(ended.stdout + ended.stderr, flush=True)
    return complaints


if __name__ == "__main__":
    sys.exit(main())
