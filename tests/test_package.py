"""The package as a whole: what importing it loads, what it exports, what it ships."""

import ast
import importlib
import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import bruit

ROOT = Path(bruit.__file__).parent
PACKAGES = sorted(".".join(("bruit", *init.parent.relative_to(ROOT).parts)) for init in ROOT.rglob("*/__init__.py"))
HEAVY = {
    "fastapi", "llvmlite", "matplotlib", "narwhals", "numba", "numpy", "pandas", "plotly", "polars", "psycopg",
    "pyarrow", "pyspark", "randomgen", "scipy", "sklearn", "sqlalchemy", "starlette", "statsmodels", "torch",
}  # fmt: skip
EXTRAS = HEAVY - {"llvmlite", "narwhals", "numba", "numpy", "polars", "randomgen", "scipy", "sqlalchemy"}


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after running the code."""
    show = "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    script = f"import json, sys\n{code}\n{show}"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(told.stdout.splitlines()[-1]))


def test_importing_bruit_loads_nothing_heavy() -> None:
    assert loaded_by("import bruit") & HEAVY == set()


def test_importing_bruit_loads_none_of_its_packages() -> None:
    script = "import sys, bruit; print(sorted(name for name in sys.modules if name.startswith('bruit')))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "['bruit']"


def test_the_help_of_the_command_loads_no_extra_and_nothing_heavy() -> None:
    code = "from bruit.apps.cli import main\nmain(['--help'], standalone_mode=False)"
    assert loaded_by(code) & HEAVY == set()


def test_the_web_application_waits_for_no_statistics_that_no_page_asked_for() -> None:
    """scipy.stats, which scipy.signal loads too, is a fifth of the time until a server listens."""
    show = "import sys, bruit.apps.web.application; print('scipy.stats' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


def test_no_package_loads_an_extra_unasked() -> None:
    packages = [name for name in PACKAGES if not name.startswith(("bruit.learning", "bruit.deep", "bruit.apps.web."))]
    assert loaded_by(f"import {', '.join(packages)}") & EXTRAS == set()


@pytest.mark.parametrize("name", ["bruit", *PACKAGES])
def test_every_exported_name_exists_and_the_list_is_sorted(name: str) -> None:
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", [])
    assert [each for each in exported if not hasattr(module, each)] == []
    # Constants, then classes, then functions: the order that the linter keeps.
    assert list(exported) == sorted(exported, key=lambda each: (not each.isupper(), not each[:1].isupper(), each))
    assert len(exported) == len(set(exported))


@pytest.mark.parametrize("name", PACKAGES)
def test_an_init_only_re_exports(name: str) -> None:
    source = Path(importlib.import_module(name).__file__ or "").read_text()
    defined = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert name == "bruit.apps.cli" or defined == []


def test_type_checkers_see_the_names_of_the_root() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen | {"__version__"} == set(bruit.__all__)


def test_the_root_lists_its_names_and_refuses_others() -> None:
    assert set(bruit.__all__) <= set(dir(bruit))
    with pytest.raises(AttributeError, match="no attribute 'noise'"):
        _ = bruit.noise  # type: ignore[attr-defined]


def test_the_version_is_the_distribution_s() -> None:
    assert bruit.__version__ == metadata.version("bruit")


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "py.typed").exists()


def test_everything_the_tests_import_is_asked_for() -> None:
    asked = {re.split(r"[\[<>=]", line)[0] for line in metadata.requires("bruit") or []}
    given = {name.lower().replace("_", "-") for name in asked}
    homes = metadata.packages_distributions()
    imported = {name for file in Path(__file__).parent.rglob("*.py") for name in top_imports(file)}
    others = {home.lower().replace("_", "-") for name in imported for home in homes.get(name, [])} - {"bruit"}
    # click comes with rich-click, torch with the extra `deep`.
    assert others - given - {"click", "torch"} == set()


def top_imports(file: Path) -> set[str]:
    """The top-level modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found
