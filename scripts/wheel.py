"""Builds `dist/*.whl`, the package to install elsewhere, with the versions of the lock: `python -m scripts.wheel`."""

import subprocess
import sys
from pathlib import Path

from scripts.set_up import LOCK, environment, pip_settings, uv_for, uv_options


def main() -> int:
    """Runs `uv build`; without uv, says how to get it."""
    with uv_for(Path(sys.prefix)) as uv:
        if uv is None:
            sys.exit("make wheel needs uv, which pip could not fetch: see that pip reaches a package registry")
        settings = pip_settings(Path(sys.executable))
        command = [str(uv), "build", "--wheel", "--quiet", *uv_options(settings), "--build-constraint", str(LOCK)]
        return subprocess.run([*command, str(LOCK.parent)], check=False, env=environment(settings)).returncode


if __name__ == "__main__":
    sys.exit(main())
