"""Kernels are cached on disk where that is possible and compiled in each process where it is not."""

import os
import subprocess
import sys
from pathlib import Path

MODULE = """
from bruit._jit import inlined, kernel

@inlined
def double(x):
    return 2 * x

@kernel
def total(values):
    sum = 0
    for value in values:
        sum += double(value)
    return sum
"""
CALL = """
import numpy, kernels
print(kernels.total(numpy.arange(10)), sum(kernels.total.stats.cache_hits.values()),
      type(kernels.total._cache).__name__)
"""


def run_in(folder: Path, **settings: str) -> list[str]:
    (folder / "kernels.py").write_text(MODULE)
    told = subprocess.run(
        [sys.executable, "-c", CALL],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.split()


def test_the_second_process_finds_the_first_one_s_machine_code(tmp_path: Path) -> None:
    assert run_in(tmp_path) == ["90", "0", "FunctionCache"]
    assert run_in(tmp_path) == ["90", "1", "FunctionCache"]


def test_without_a_folder_for_the_cache_it_compiles_uncached(tmp_path: Path) -> None:
    nowhere = tmp_path / "a file, not a folder"
    nowhere.write_text("")
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "__pycache__").write_text("no folder can be made here")
    settings = {name: str(nowhere / "inside") for name in ("HOME", "XDG_CACHE_HOME", "IPYTHONDIR")}
    assert run_in(folder, **settings, PYTHONDONTWRITEBYTECODE="1") == ["90", "0", "NullCache"]


def test_a_kernel_lets_other_threads_run(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(MODULE)
    told = subprocess.run(
        [sys.executable, "-c", "import kernels; print(kernels.total.targetoptions.get('nogil'))"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "True"
