"""The notebooks: each holds the outputs of its script as it is now, and runs from top to bottom in its own kernel."""

import base64
import re
import sys
import tomllib
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import jupytext
import matplotlib
import nbformat
import pytest
from matplotlib import pyplot

from bruit.apps.data import CATALOGUE, place
from scripts import notebooks

SCRIPTS = notebooks.scripts()
ALL_TOGETHER = 4_000_000


def outputs_of(notebook: Any) -> list[Any]:
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


def test_what_a_cell_prints_in_a_row_is_one_output() -> None:
    """A kernel cuts it into messages by the clock, which would change a notebook that was executed again."""
    printed = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in ("one ", "two\n", "three")]
    picture = nbformat.v4.new_output("display_data", {"image/png": ""})
    joined = notebooks._join([*printed[:2], picture, printed[2]])
    assert [output.get("text") for output in joined] == ["one two\n", None, "three"]


def test_new_words_keep_the_outputs_and_new_code_does_not(tmp_path: Path) -> None:
    script = tmp_path / "told.py"
    script.write_text("# %% [markdown]\n# Old words.\n\n# %%\nprint(1)\n")
    assert notebooks.rewrite(script) is None  # nothing was executed yet
    before = notebooks.notebook(script)
    before.cells[1].outputs = [nbformat.v4.new_output("stream", name="stdout", text="1\n")]
    before.metadata["bruit"] = {"script": notebooks.digest(script), "size": "full"}
    jupytext.write(before, script.with_suffix(".ipynb"))
    script.write_text(script.read_text().replace("Old", "New"))
    made = notebooks.rewrite(script)
    assert made is not None
    assert [cell.source for cell in made.cells] == ["New words.", "print(1)"]
    assert [output.text for output in outputs_of(made)] == ["1\n"]
    assert made.metadata["bruit"] == {"script": notebooks.digest(script), "size": "full"}
    script.write_text(script.read_text().replace("print(1)", "print(2)"))
    assert notebooks.rewrite(script) is None


def test_all_notebooks_together_are_small() -> None:
    assert sum(script.with_suffix(".ipynb").stat().st_size for script in SCRIPTS) < ALL_TOGETHER


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_installs_from_the_repository_that_it_stands_in(script: Path) -> None:
    text = script.read_text()
    (extras,) = re.findall(r"install --quiet '\{REPOSITORY\}\[([\w,]+)\]'", text)
    assert 'REPOSITORY = os.environ.get("BRUIT_REPOSITORY", "..")' in text
    project = tomllib.loads((script.parents[1] / "pyproject.toml").read_text())["project"]
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_the_page_says_which_outputs_are_of_the_small_size() -> None:
    kept = {script.stem: jupytext.read(script.with_suffix(".ipynb")).metadata["bruit"]["size"] for script in SCRIPTS}
    page = (notebooks.FOLDER.parent / "docs" / "notebooks.md").read_text()
    said = re.findall(r"The outputs of (.*?) are of the small size", page, re.DOTALL)
    small = {name for name, size in kept.items() if size == "small"}
    assert set(re.findall(r"`(\w+)`", " ".join(said))) == small
    assert small or "All outputs are of full size" in page


def skip_without_its_data(script: Path) -> None:
    if "data.adult" in script.read_text() and any(place(file) is None for file in CATALOGUE["adult"].files):
        pytest.skip("UCI Adult is not on this machine: bruit data fetch adult")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_cell_of_a_notebook_runs_and_some_draw(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process, where everything is loaded already; a warning would stand in the notebook too."""
    skip_without_its_data(script)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRUIT_SMALL", "1")
    shown: list[int] = []

    def show() -> None:
        shown.extend(pyplot.get_fignums())
        pyplot.close("all")

    monkeypatch.setattr(pyplot, "show", show)
    module = ModuleType("notebook")
    monkeypatch.setitem(sys.modules, "notebook", module)
    with matplotlib.rc_context({"backend": "agg"}), warnings.catch_warnings(record=True) as warned:
        for cell in notebooks.notebook(script).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, script.name, "exec"), module.__dict__)
    assert shown
    assert [str(warning.message) for warning in warned] == []
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "script",
    [pytest.param(each, marks=[] if each.stem == "randomised_response" else pytest.mark.stress) for each in SCRIPTS],
    ids=lambda script: script.stem,
)
def test_a_notebook_runs_and_draws_in_a_kernel_of_its_own(script: Path, tmp_path: Path) -> None:
    skip_without_its_data(script)
    outputs = outputs_of(notebooks.execute(script, small=True, folder=tmp_path))
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.get("name") == "stderr" for output in outputs)
