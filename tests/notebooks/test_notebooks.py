"""The notebooks: each is what its script says, and runs from top to bottom in a kernel of its own."""

from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient

from bruit.apps.data import CATALOGUE, place
from scripts import notebooks

SCRIPTS = notebooks.scripts()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_is_what_its_script_says(script: Path) -> None:
    kept = jupytext.read(script.with_suffix(".ipynb"))
    told = [(cell.cell_type, cell.source) for cell in notebooks.notebook(script).cells]
    assert [(cell.cell_type, cell.source) for cell in kept.cells] == told, "run python scripts/notebooks.py"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_runs_and_draws(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "data.adult" in script.read_text() and any(place(file) is None for file in CATALOGUE["adult"].files):
        pytest.skip("UCI Adult is not on this machine: bruit data fetch adult")
    monkeypatch.setenv("BRUIT_SMALL", "1")
    ran = NotebookClient(
        notebooks.notebook(script), timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [output for cell in ran.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.get("name") == "stderr" for output in outputs)
