"""The examples in docstrings run as they stand."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import bruit

ROOT = Path(bruit.__file__).parent
EXAMPLE = re.compile(r"^ +>>> ", re.MULTILINE)
MODULES = sorted(
    ".".join(("bruit", *file.relative_to(ROOT).with_suffix("").parts))
    for file in ROOT.rglob("*.py")
    if EXAMPLE.search(file.read_text(encoding="utf-8"))
)


@pytest.mark.parametrize("name", MODULES)
def test_an_example_gives_what_it_says(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
