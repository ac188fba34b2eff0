"""Writes each notebook from its script, executed: `python scripts/notebooks.py [NAME ...]`. Scripts are what is edited.

A notebook says in its metadata from which script it was made, so that only those whose code changed are executed again:
where only words did, the outputs stay. `--small` executes them at the size of the tests.
"""

from __future__ import annotations

import argparse
import base64
import os
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import jupytext
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

FOLDER = Path(__file__).parents[1] / "notebooks"
LONGEST_TEXT = 4_000
"""Characters of one output; the rest is left out and said to be."""

LARGEST_PICTURE = 200_000
"""Bytes of one picture; colours are reduced to fit."""


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


def digest(script: Path) -> str:
    """What stands in a notebook's metadata for the script that it was made from."""
    return sha256(script.read_bytes()).hexdigest()[:16]


def is_current(script: Path) -> bool:
    """Whether the notebook was executed from the script as it is now."""
    path = script.with_suffix(".ipynb")
    return path.exists() and jupytext.read(path).metadata.get("bruit", {}).get("script") == digest(script)


def rewrite(script: Path) -> NotebookNode | None:
    """The notebook with the outputs that it holds and the words of its script; None where the code is not the same."""
    path, made = script.with_suffix(".ipynb"), notebook(script)
    kept = jupytext.read(path) if path.exists() else None
    if kept is None or _code(kept) != _code(made):
        return None
    held = [cell for cell in kept.cells if cell.cell_type == "code"]
    for cell, before in zip((cell for cell in made.cells if cell.cell_type == "code"), held, strict=True):
        cell["outputs"], cell["execution_count"] = before["outputs"], before["execution_count"]
    made.metadata["bruit"] = {**kept.metadata["bruit"], "script": digest(script)}
    return made


def _code(book: NotebookNode) -> list[str]:
    return [cell.source for cell in book.cells if cell.cell_type == "code"]


def execute(script: Path, *, small: bool, folder: Path = FOLDER) -> NotebookNode:
    """The notebook with its outputs, run from top to bottom in a kernel of its own."""
    made = notebook(script)
    environment = {name: value for name, value in os.environ.items() if name != "BRUIT_SMALL"}
    environment |= {"BRUIT_SMALL": "1"} if small else {}
    where = {"metadata": {"path": folder}}
    client = NotebookClient(made, timeout=900, kernel_name="python3", resources=where, record_timing=False)
    client.execute(env=environment)
    for cell in made.cells:
        if cell.cell_type == "code":
            cell["outputs"] = [_shorten(output) for output in _join(cell["outputs"])]
    made.metadata.pop("language_info", None)
    made.metadata["bruit"] = {"script": digest(script), "size": "small" if small else "full"}
    return made


def _join(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs of a cell with what was printed in a row in one, however the kernel's messages were cut."""
    joined: list[NotebookNode] = []
    for output in outputs:
        before = joined[-1] if joined else None
        if before is not None and before.output_type == output.output_type == "stream" and before.name == output.name:
            before["text"] += output["text"]
        else:
            joined.append(output)
    return joined


def _shorten(output: NotebookNode) -> NotebookNode:
    """An output that a page can hold."""
    if len(output.get("text", "")) > LONGEST_TEXT:
        output["text"] = output["text"][:LONGEST_TEXT] + "\n… (left out)\n"
    data = output.get("data", {})
    if "image/png" in data:
        data["image/png"] = _compress(data["image/png"])
    return output


def _compress(picture: str) -> str:
    """A picture in base64 with a palette of colours, if it is too large as it is."""
    content = base64.b64decode(picture)
    if len(content) <= LARGEST_PICTURE:
        return picture
    smaller = BytesIO()
    Image.open(BytesIO(content)).convert("RGB").quantize(128).save(smaller, "PNG", optimize=True)
    return base64.b64encode(smaller.getvalue()).decode()


def main() -> None:
    """Writes those that are not current, executed where their code changed, or executes those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="notebooks to execute even if they are current")
    parser.add_argument("--small", action="store_true", help="at the size of the tests")
    asked = parser.parse_args()
    for script in scripts():
        if script.stem in asked.names or (not asked.names and not is_current(script)):
            rewritten = None if script.stem in asked.names else rewrite(script)
            jupytext.write(rewritten or execute(script, small=asked.small), script.with_suffix(".ipynb"))
            print(script.with_suffix(".ipynb").relative_to(FOLDER.parent), flush=True)


if __name__ == "__main__":
    main()
