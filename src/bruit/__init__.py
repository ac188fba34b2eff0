"""Everything is a noisy channel: private surveys, statistics and models, and codes that fight the noise.

Importing bruit loads none of its packages: each is imported when it is first named.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bruit import aggregation as aggregation
    from bruit import anonymity as anonymity
    from bruit import audit as audit
    from bruit import central as central
    from bruit import channels as channels
    from bruit import codes as codes
    from bruit import continual as continual
    from bruit import core as core
    from bruit import deep as deep
    from bruit import errors as errors
    from bruit import inference as inference
    from bruit import learning as learning
    from bruit import ledger as ledger
    from bruit import local as local
    from bruit import mechanisms as mechanisms
    from bruit import privacy as privacy
    from bruit import randomness as randomness
    from bruit import sql as sql
    from bruit import storage as storage
    from bruit import sweeps as sweeps
    from bruit import synthetic as synthetic
    from bruit import tables as tables
    from bruit.central import DECILES as DECILES
    from bruit.core.guarantee import Guarantee as Guarantee
    from bruit.core.neighbours import ADD_OR_REMOVE_ONE as ADD_OR_REMOVE_ONE
    from bruit.core.neighbours import EACH_ROW as EACH_ROW
    from bruit.core.neighbours import LOCAL as LOCAL
    from bruit.core.neighbours import REPLACE_ONE as REPLACE_ONE
    from bruit.core.release import Release as Release
    from bruit.ledger import WITHOUT_PRIVACY as WITHOUT_PRIVACY
    from bruit.ledger import Budget as Budget
    from bruit.ledger import Ledger as Ledger
    from bruit.tables import Domain as Domain

    __version__: str

_HOMES = {
    "ADD_OR_REMOVE_ONE": "core.neighbours",
    "Budget": "ledger",
    "DECILES": "central",
    "Domain": "tables",
    "EACH_ROW": "core.neighbours",
    "Guarantee": "core.guarantee",
    "LOCAL": "core.neighbours",
    "Ledger": "ledger",
    "REPLACE_ONE": "core.neighbours",
    "Release": "core.release",
    "WITHOUT_PRIVACY": "ledger",
}
"""The package that each name of the root comes from."""

__all__ = [
    "ADD_OR_REMOVE_ONE",
    "DECILES",
    "EACH_ROW",
    "LOCAL",
    "REPLACE_ONE",
    "WITHOUT_PRIVACY",
    "Budget",
    "Domain",
    "Guarantee",
    "Ledger",
    "Release",
    "__version__",
    "aggregation",
    "anonymity",
    "audit",
    "central",
    "channels",
    "codes",
    "continual",
    "core",
    "deep",
    "errors",
    "inference",
    "learning",
    "ledger",
    "local",
    "mechanisms",
    "privacy",
    "randomness",
    "sql",
    "storage",
    "sweeps",
    "synthetic",
    "tables",
]


if not TYPE_CHECKING:  # a type checker that saw it would take any name for one of bruit's

    def __getattr__(name: str) -> object:
        """Imports what was named, the first time it is named."""
        if name not in __all__:
            raise AttributeError(f"module 'bruit' has no attribute {name!r}")
        value = _find(name)
        globals()[name] = value
        return value


def _find(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("bruit")
    if name in _HOMES:
        return getattr(import_module(f"bruit.{_HOMES[name]}"), name)
    return import_module(f"bruit.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
