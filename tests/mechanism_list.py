"""Every public callable that takes `budget=`, and every local protocol, found by looking."""

import inspect
import pkgutil
from importlib import import_module
from typing import Any

import bruit

NO_MECHANISMS = {"apps", "ledger", "mechanisms"}
"""Packages whose callables take a budget and answer nothing: the ledger makes budgets, mechanisms say what they buy."""


def takes_budget(thing: Any) -> bool:
    """Whether a callable has that keyword; a type such as Mapping[str, int] is callable and has no signature."""
    try:
        return callable(thing) and "budget" in inspect.signature(thing).parameters
    except ValueError:
        return False


def is_protocol(package: str, thing: Any) -> bool:
    return (
        package == "local" and inspect.isclass(thing) and hasattr(thing, "randomise") and not inspect.isabstract(thing)
    )


def mechanisms() -> set[str]:
    """Every public callable that takes `budget`, and every local protocol."""
    found = set()
    for module in pkgutil.iter_modules(bruit.__path__):
        if module.ispkg and module.name not in NO_MECHANISMS:
            package = import_module(f"bruit.{module.name}")
            public = {name: getattr(package, name) for name in package.__all__}
            found |= {
                f"{module.name}.{name}"
                for name, thing in public.items()
                if is_protocol(module.name, thing) or (callable(thing) and not is_error(thing) and takes_budget(thing))
            }
    return found


def is_error(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Exception)
