"""Makes the environment that every make target runs in: `python3 scripts/set_up.py FOLDER [EXTRA]`.

uv installs it, fetched into the environment by pip; where uv cannot be had, or fails, pip does. The indexes, links and
certificates that pip is configured with are handed on, so that a mirror or a local build is used by both.
"""

import os
import shlex
import subprocess
import sys
import venv
from pathlib import Path

OLDEST = (3, 11)

UV_OPTIONS = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}
"""What pip's settings are called by uv."""


def main(folder: Path, extra: str = "dev") -> None:
    """Creates or refreshes the environment; the stamp is written last, so a broken run is repeated."""
    if sys.version_info < OLDEST:
        sys.exit(
            f"bruit needs Python {OLDEST[0]}.{OLDEST[1]} or later; this is {sys.version.split()[0]}: "
            "run make PYTHON=/path/to/a/later/python3"
        )
    python = folder / "bin" / "python"
    if not _is_same_python(python):
        try:
            venv.create(folder, clear=True, with_pip=True)
        except subprocess.CalledProcessError:
            sys.exit("this Python cannot make environments; on Debian and Ubuntu install the package python3-venv")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--quiet", "--disable-pip-version-check"]
    wanted = ["--constraint", "constraints.txt", "--editable", f".[{extra}]"]
    if not _installed_by_uv(folder, pip, wanted):
        subprocess.run([*pip, *wanted], check=True)
    (folder / "stamp").write_text("set up\n")


def _installed_by_uv(folder: Path, pip: list[str], wanted: list[str]) -> bool:
    """Whether uv could be had and installed everything."""
    if subprocess.run(
        [*pip, "--constraint", "constraints.txt", "uv"], check=False, stderr=subprocess.DEVNULL
    ).returncode:
        return False
    settings = pip_settings(folder / "bin" / "python")
    command = [str(folder / "bin" / "uv"), "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
    certificates = {"SSL_CERT_FILE": settings["cert"][0]} if "cert" in settings else {}
    status = subprocess.run([*command, *uv_options(settings), *wanted], check=False, env={**os.environ, **certificates})
    return status.returncode == 0


def pip_settings(python: Path) -> dict[str, list[str]]:
    """The settings of pip, from its files and from the environment; one may hold several values."""
    listed = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False).stdout
    settings: dict[str, list[str]] = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        settings.setdefault(name.rpartition(".")[2], []).extend(" ".join(shlex.split(value)).split())
    return {name: list(dict.fromkeys(values)) for name, values in settings.items()}


def uv_options(settings: dict[str, list[str]]) -> list[str]:
    """The options that make uv look where pip looks, and take the best version of all indexes as pip does."""
    known = [(UV_OPTIONS[name], value) for name, values in settings.items() if name in UV_OPTIONS for value in values]
    return ["--index-strategy", "unsafe-best-match", *(part for option in known for part in option)]


def _is_same_python(python: Path) -> bool:
    """Whether the environment exists and runs the Python that was asked for."""
    if not python.exists():
        return False
    told = subprocess.run([python, "-c", "import sys; print(sys.version)"], capture_output=True, text=True, check=False)
    return told.stdout.strip() == sys.version


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
