"""The notebooks: each holds the outputs of its script as it is now, and runs from top to bottom in its own kernel."""

import base64
import re
from pathlib import Path

import jupytext
import pytest
from nbformat import NotebookNode

from bruit.apps.data import CATALOGUE, place
from bruit.apps.extras import EXTRAS
from scripts import notebooks

SCRIPTS = notebooks.scripts()
ALL_TOGETHER = 4_000_000


def outputs_of(notebook: NotebookNode) -> list[NotebookNode]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_was_executed_from_its_script_as_it_is(script: Path) -> None:
    kept = jupytext.read(script.with_suffix(".ipynb"))
    told = [(cell.cell_type, cell.source) for cell in notebooks.notebook(script).cells]
    assert [(cell.cell_type, cell.source) for cell in kept.cells] == told, "run python scripts/notebooks.py"
    assert notebooks.is_current(script), "run python scripts/notebooks.py"
    pictures = [output.data["image/png"] for output in outputs_of(kept) if "image/png" in output.get("data", {})]
    assert pictures
    assert all(len(base64.b64decode(picture)) <= notebooks.LARGEST_PICTURE for picture in pictures)
    assert not any(output.output_type == "error" or output.get("name") == "stderr" for output in outputs_of(kept))


def test_all_notebooks_together_are_small() -> None:
    assert sum(script.with_suffix(".ipynb").stat().st_size for script in SCRIPTS) < ALL_TOGETHER


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_installs_from_the_repository_that_it_stands_in(script: Path) -> None:
    text = script.read_text()
    (extras,) = re.findall(r"install --quiet '\{REPOSITORY\}\[([\w,]+)\]'", text)
    assert 'REPOSITORY = os.environ.get("BRUIT_REPOSITORY", "..")' in text
    assert (script.parent / ".." / "pyproject.toml").is_file()
    assert set(extras.split(",")) <= set(EXTRAS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_runs_and_draws(script: Path, tmp_path: Path) -> None:
    if "data.adult" in script.read_text() and any(place(file) is None for file in CATALOGUE["adult"].files):
        pytest.skip("UCI Adult is not on this machine: bruit data fetch adult")
    outputs = outputs_of(notebooks.execute(script, small=True, folder=tmp_path))
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.get("name") == "stderr" for output in outputs)
