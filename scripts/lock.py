"""Writes `requirements.lock`, versions with the hashes of their files: `python -m scripts.lock [--upgrade]`.

Versions stay unless they no longer fit, or `--upgrade` asks for the newest. torch has no hash: its builds (for the
processor, for each generation of cards) are one version, and which of them fits is known on the machine alone.
"""

import re
import subprocess
import sys
from pathlib import Path

from scripts.set_up import LOCK, environment, pip_settings

SEVERAL_BUILDS = "torch"
EXTRAS = ("dev", "onnx")


def main(*options: str) -> None:
    """Resolves every extra from the main index alone, which lists the files for all systems."""
    settings = pip_settings(Path(sys.executable))
    index = [part for url in settings.get("index-url", []) for part in ("--default-index", url)]
    subprocess.run(
        [
            *(str(Path(sys.executable).with_name("uv")), "pip", "compile", "pyproject.toml", "--quiet"),
            *(part for extra in EXTRAS for part in ("--extra", extra)),
            *("--generate-hashes", "--no-header", "--no-annotate", "--python", sys.executable, "--output-file", LOCK),
            *index,
            *options,
        ],
        check=True,
        env=environment(settings),
        stdout=subprocess.DEVNULL,
    )
    LOCK.write_text(without_builds(LOCK.read_text()))


def without_builds(lock: str) -> str:
    """The lock with the bare version of the package whose builds differ from machine to machine."""
    entry = rf"^({SEVERAL_BUILDS}==[^+\s]+)\S*(?: \\\n +--hash=\S+)+"
    return re.sub(entry, r"\1", lock, flags=re.MULTILINE)


if __name__ == "__main__":
    main(*sys.argv[1:])
