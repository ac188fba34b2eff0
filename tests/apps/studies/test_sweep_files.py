"""A small run of a study does not stand in the way of the full one in the same folder."""

from importlib import import_module
from pathlib import Path
from typing import Any, Never

import pytest


class Asked(Exception):
    """The file that a study asked its sweep to keep."""


@pytest.mark.parametrize("study", ["images.cifar10", "income", "surveys.krr_learning"])
def test_each_size_of_a_study_has_a_sweep_file_of_its_own(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module(f"bruit.apps.studies.{study}")

    def sweep(*_: Any, file: Any, **__: Any) -> Never:
        raise Asked(file)

    monkeypatch.setattr(module.sweeps, "run", sweep)
    files = []
    for size in ("small", "full"):
        with pytest.raises(Asked) as asked:
            module.run(tmp_path, size=size)
        files.append(asked.value.args[0])
    assert files[0] != files[1]
    assert {file.suffix for file in files} == {".jsonl"}
