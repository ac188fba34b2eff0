"""Makes the environment that every make target runs in: `python3 scripts/set_up.py FOLDER`."""

import subprocess
import sys
import venv
from pathlib import Path

OLDEST = (3, 11)


def main(folder: Path) -> None:
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
    subprocess.run([*pip, "--constraint", "constraints.txt", "--editable", ".[dev]"], check=True)
    (folder / "stamp").write_text("set up\n")


def _is_same_python(python: Path) -> bool:
    """Whether the environment exists and runs the Python that was asked for."""
    if not python.exists():
        return False
    told = subprocess.run([python, "-c", "import sys; print(sys.version)"], capture_output=True, text=True, check=False)
    return told.stdout.strip() == sys.version


if __name__ == "__main__":
    main(Path(sys.argv[1]))
