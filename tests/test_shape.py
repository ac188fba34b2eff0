"""The shape of the code that CONTRIBUTING promises: short functions and modules, small folders, one meaning a name."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import bruit

ROOT = Path(bruit.__file__).parents[2]
SOURCE = ROOT / "src" / "bruit"

LONGEST_FUNCTION = 40
LONGEST_MODULE = 350
LARGEST_FOLDER = 15

LONG_FUNCTIONS = {
    "aggregation/_kernels.py: keccak": "the unrolled rounds of one permutation",
    "anonymity/_kernels.py: mondrian": "one loop nest in numba",
    "codes/low_density/_encoder_kernels.py: peel": "one loop nest in numba",
    "codes/trellis/_bcjr_kernels.py: bcjr_max": "one loop nest in numba",
    "codes/trellis/_bcjr_kernels.py: bcjr_sum": "one loop nest in numba",
    "codes/trellis/_turbo_kernels.py: max_log_pass": "the unrolled eight-state trellis",
    "deep/gpu_kernels/images.py: _gradients": "one kernel in Triton",
    "deep/gpu_kernels/positions.py: _gram": "one kernel in Triton",
    "synthetic/_kernels.py: sweep": "one loop nest in numba",
}
"""Functions that may be longer, each with its reason."""

LONG_MODULES = {
    "aggregation/_kernels.py": "cached kernels call only kernels of their own file",
    "codes/polar_codes/_kernels.py": "cached kernels call only kernels of their own file",
    "codes/reed_solomon/_vector_kernels.py": "cached kernels call only kernels of their own file",
    "codes/trellis/_trellis_kernels.py": "cached kernels call only kernels of their own file",
    "learning/trees/_growing_kernels.py": "cached kernels call only kernels of their own file",
}
"""Modules that may be longer, each with its reason."""

SURFACES = {
    "aggregation": "collecting sealing tasks views",
    "audit": "zero_noise",
    "central": "column_questions questions questions.answers questions.asking questions.noises questions.pricing "
    "questions.quantile_draws ranks.mechanisms.joint ranks.mechanisms.weighted_draws ranks.quantile_methods "
    "ranks.rank_sums ranks.records",
    "channels": "choices integer_noise vector_noise",
    "codes": "envelopes limits reed_solomon.worked_example worked_steps",
    "continual": "noise.attack sensitivity",
    "deep": "features features.head features.preparation features.recipe memory noise.sources searching",
    "inference": "noise_laws noisy_counts",
    "learning": "estimator estimator.records nearest_neighbours.plan nearest_neighbours.space "
    "nearest_neighbours.votes trees.binning",
    "ledger": "best_of_runs books.entries statements subjects",
    "local": "estimation.adjustment estimation.intervals files frequencies.hadamard heavy_hitters.prefix_search "
    "questionnaires rappor rappor.protocol",
    "privacy": "accounting.composition accounting.concentrated accounting.gaussian accounting.renyi beliefs groups "
    "pld.distribution pld.dominating_pairs training.correlated_noise training.factorisation",
    "randomness": "stream",
    "sql": "asking options",
    "synthetic": "coding curator files.statement gibbs linked plan reading synthesis synthetic_table tree",
    "tables": "batches cells.single cells.texts choice.limits column_names declared_plans expressions.nodes "
    "plan.expressions plan.kinds plan.operators plan.parts plan.reading plan.steps reading relations.running schema "
    "sources.csv_lines sources.excel_sheets sources.opening versions.curator_file versions.registering",
}
"""Inner modules that other packages may import beside a package's own list of names; `core` is open to all."""

TREES = {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}

RETIRED = re.compile(
    r"^_?(door|tickets?|parcels?|watching|presence|separation|patience|forgery|policy|shelf|told|heard|dice|team)$",
    re.I,
)
"""Names that hid the field's own word; docs/words.md lists what is said instead."""

ANY = {
    "aggregation": 11,
    "apps": 94,
    "audit": 21,
    "central": 3,
    "channels": 15,
    "codes": 261,
    "continual": 3,
    "core": 11,
    "deep": 68,
    "learning": 245,
    "ledger": 10,
    "local": 128,
    "privacy": 1,
    "randomness": 1,
    "sql": 4,
    "storage": 4,
    "synthetic": 5,
    "tables": 41,
}
"""How often each package says `Any` in an annotation: a number that may only fall."""


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body; its signature and its docstring are for the reader and do not count."""
    first = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - first[0].lineno + 1 if first else 0


def functions() -> dict[str, int]:
    return {
        f"{path.relative_to(SOURCE)}: {node.name}": lines_of(node)
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_functions_are_short() -> None:
    long = {name for name, lines in functions().items() if lines > LONGEST_FUNCTION}
    assert long == set(LONG_FUNCTIONS)


def test_modules_are_short() -> None:
    lines = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in TREES}
    assert {name for name, count in lines.items() if count > LONGEST_MODULE} == set(LONG_MODULES)


def test_folders_are_small() -> None:
    sizes = Counter(path.parent for path in TREES if path.name != "__init__.py")
    assert {str(folder.relative_to(ROOT)): size for folder, size in sizes.items() if size > LARGEST_FOLDER} == {}


def reach_ins(package: str, tree: ast.AST) -> set[str]:
    """Inner modules of other packages that a module imports."""
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    parts = [module.split(".") for module in modules if module.startswith("bruit.")]
    return {".".join(part[1:]) for part in parts if len(part) > 2 and part[1] not in (package, "core")}


def test_packages_are_imported_through_their_surface() -> None:
    allowed = {f"{package}.{module}" for package, modules in SURFACES.items() for module in modules.split()}
    found = {
        name: str(path.relative_to(SOURCE))
        for path, tree in TREES.items()
        for name in reach_ins(path.relative_to(SOURCE).parts[0], tree)
    }
    assert {name: path for name, path in found.items() if name not in allowed} == {}
    assert allowed - set(found) == set()


def test_a_planted_reach_in_is_noticed() -> None:
    planted = ast.parse("from bruit.ledger.books.memory import MemoryBook\nfrom bruit.ledger import Ledger\n")
    assert reach_ins("central", planted) == {"ledger.books.memory"}
    assert reach_ins("ledger", planted) == set()


@cache
def packages() -> dict[str, ModuleType]:
    names = [module.name for module in pkgutil.walk_packages(bruit.__path__, "bruit.") if module.ispkg]
    return {name: importlib.import_module(name) for name in names}


def test_no_module_is_named_like_a_public_name_of_its_package() -> None:
    clashes = set()
    for name, package in packages().items():
        inner = {module.name for module in pkgutil.iter_modules(package.__path__)}
        for public in set(getattr(package, "__all__", ())) & inner:
            if not isinstance(getattr(package, public), ModuleType):
                clashes.add(f"{name}.{public}")
    assert clashes == set()


def test_no_class_name_is_public_twice() -> None:
    homes: dict[str, set[str]] = {}
    for name, package in packages().items():
        if not name.startswith("bruit.apps"):
            for public in getattr(package, "__all__", ()):
                value = getattr(package, public)
                if isinstance(value, type):
                    homes.setdefault(public, set()).add(value.__module__)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_retired_words_name_nothing() -> None:
    named = {
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and RETIRED.match(node.name)
    } | {str(path.relative_to(SOURCE)) for path in TREES if RETIRED.match(path.stem)}
    assert named == set()


@pytest.mark.parametrize("package", sorted(ANY))
def test_any_is_said_no_more_often_than_before(package: str) -> None:
    there = [tree for path, tree in TREES.items() if path.relative_to(SOURCE).parts[0].removesuffix(".py") == package]
    assert sum(count_any(tree) for tree in there) <= ANY[package]


def test_every_package_has_its_number_of_any() -> None:
    said = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path, tree in TREES.items() if count_any(tree)}
    assert said <= set(ANY)


def count_any(tree: ast.AST) -> int:
    """How many parameters and results are annotated as plain `Any`, as ruff's ANN401 counts them."""
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            annotations = [one.annotation for one in every] + [node.returns]
            found += sum(isinstance(one, ast.Name) and one.id == "Any" for one in annotations)
    return found


def test_a_planted_long_function_is_noticed() -> None:
    body = "\n".join(f"    x = {i}" for i in range(500))
    (function,) = ast.parse(f'def long():\n    """Long."""\n{body}\n').body
    assert isinstance(function, ast.FunctionDef)
    assert lines_of(function) == 500 > LONGEST_FUNCTION


@pytest.mark.parametrize("word", ["told", "_told", "ticket", "parcels", "dice"])
def test_a_planted_retired_word_is_noticed(word: str) -> None:
    assert RETIRED.match(word)
