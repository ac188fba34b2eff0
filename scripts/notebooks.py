"""Writes each notebook from its script: `python scripts/notebooks.py`. The script is what is edited and reviewed."""

from pathlib import Path

import jupytext
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[1] / "notebooks"


def scripts() -> list[Path]:
    """Every notebook as a script."""
    return sorted(FOLDER.glob("*.py"))


def notebook(script: Path) -> NotebookNode:
    """The notebook of a script, without outputs and without random ids: the same script gives the same file."""
    made: NotebookNode = jupytext.read(script)
    made.nbformat_minor = 4
    for cell in made.cells:
        cell.pop("id", None)
    return made


def main() -> None:
    """Writes them all."""
    for script in scripts():
        jupytext.write(notebook(script), script.with_suffix(".ipynb"))
        print(script.with_suffix(".ipynb").relative_to(FOLDER.parent))


if __name__ == "__main__":
    main()
