"""The reference pages of the site: one a package, made from its `__all__` and docstrings while MkDocs builds."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import bruit

FOLDER = "reference/"
"""Where the pages stand, and how the navigation of mkdocs.yml asks for them."""


def packages() -> list[str]:
    """The packages that a user may name, and the errors."""
    public = [module.name for module in iter_modules(bruit.__path__) if not module.name.startswith("_")]
    return sorted(name for name in public if name != "apps")


def page(package: str) -> str:
    """The page of one package: every name that it exports, in the order of the alphabet."""
    module = import_module(f"bruit.{package}")
    names = getattr(module, "__all__", None) or sorted(vars(module).keys() & _classes(module))
    lines = [f"# bruit.{package}", "", (module.__doc__ or "").strip(), ""]
    for name in sorted(names, key=str.lower):
        lines += [f"::: bruit.{package}.{name}", ""]
    return "\n".join(lines)


def _classes(module: Any) -> set[str]:
    return {name for name, value in vars(module).items() if isinstance(value, type)}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lists the pages in the navigation."""
    assert config.nav is not None
    for entry in config.nav:
        if isinstance(entry, dict) and entry.get("Reference") == FOLDER:
            entry["Reference"] = [f"{FOLDER}{package}.md" for package in packages()]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the pages to those of the folder docs."""
    for package in packages():
        files.append(File.generated(config, f"{FOLDER}{package}.md", content=page(package)))
    return files
