"""Makes the environment that the make targets run in: `python3 scripts/set_up.py FOLDER EXTRA`.

`demo` is what the tour and the web application need, `dev` everything. uv installs the versions of `requirements.lock`
and compares their hashes; pip fetches uv, and installs the same versions where uv cannot be had. The indexes, links
and certificates that pip is configured with are handed on, so that a mirror or a local build is used by both.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OLDEST = (3, 11)

UV_OPTIONS = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}
"""What pip's settings are called by uv."""


LOCK = Path(__file__).parents[1] / "requirements.lock"

HELD = {"demo": ("demo",), "dev": ("demo", "dev")}
"""The extras that an environment with this one holds; each leaves its stamp, `FOLDER/stamp-EXTRA`."""


def main(folder: Path, extra: str) -> None:
    """Creates or extends the environment; the stamps are written last, so a broken run is repeated."""
    if sys.version_info < OLDEST:
        sys.exit(
            f"bruit needs Python {OLDEST[0]}.{OLDEST[1]} or later; this is {sys.version.split()[0]}: "
            "run make PYTHON=/path/to/a/later/python3"
        )
    if not _is_same_python(folder / "bin" / "python"):
        try:
            venv.create(folder, clear=True, with_pip=True)
        except subprocess.CalledProcessError:
            sys.exit("this Python cannot make environments; on Debian and Ubuntu install the package python3-venv")
    wanted = ["--editable", f".[{extra}]"]
    if not _installed_by_uv(folder, wanted):
        _install_by_pip(folder, wanted)
    for held in HELD[extra]:
        (folder / f"stamp-{held}").write_text("set up\n")


def _install_by_pip(folder: Path, wanted: list[str]) -> None:
    pins = folder / "pins.txt"
    pins.write_text(without_hashes(LOCK.read_text()))
    subprocess.run([*_pip(folder), "--constraint", str(pins), *wanted], check=True)


def _pip(folder: Path) -> list[str]:
    quiet = ["-qq", "--no-compile", "--disable-pip-version-check"]
    return [str(folder / "bin" / "python"), "-m", "pip", "install", *quiet]


def without_hashes(lock: str) -> str:
    """The pinned versions alone: pip refuses hashes beside a package that is installed from its folder."""
    return re.sub(r" \\\n +--hash=\S+", "", lock)


def entry_of(name: str, lock: str) -> str:
    """The lines of one package in the lock: its version and its hashes."""
    return "".join(re.findall(rf"^{name}==[^\n]*\n(?: +--hash=[^\n]*\n)*", lock, flags=re.MULTILINE))


@contextmanager
def uv_for(folder: Path) -> Iterator[Path | None]:
    """The uv of the environment, else one that pip fetches into a folder that goes again; None where there is none.

    It takes 36 MB, and only setting up and `make wheel` run it.
    """
    if (folder / "bin" / "uv").exists():
        yield folder / "bin" / "uv"
        return
    with tempfile.TemporaryDirectory() as apart:
        wanted = Path(apart) / "uv.txt"
        wanted.write_text(entry_of("uv", LOCK.read_text()))
        fetch = [*_pip(folder), "--target", apart, "--requirement", str(wanted)]
        failed = subprocess.run(fetch, check=False, stderr=subprocess.DEVNULL).returncode
        yield None if failed else Path(apart) / "bin" / "uv"


def _installed_by_uv(folder: Path, wanted: list[str]) -> bool:
    """Whether uv could be had and installed everything."""
    with uv_for(folder) as uv:
        if uv is None:
            return False
        settings = pip_settings(folder / "bin" / "python")
        install = [str(uv), "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
        locked = ["--constraint", str(LOCK), "--build-constraint", str(LOCK)]
        command = [*install, *uv_options(settings), *locked, *wanted]
        return subprocess.run(command, check=False, env=environment(settings)).returncode == 0


def environment(settings: dict[str, list[str]]) -> dict[str, str]:
    """The environment for uv, with the certificates that pip is configured with."""
    return {**os.environ, **({"SSL_CERT_FILE": settings["cert"][0]} if "cert" in settings else {})}


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
