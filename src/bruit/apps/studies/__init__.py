"""The studies of the source documents.

A study is a module with `run(folder, *, size, rng=None, on_progress=None) -> Findings`, listed in `STUDIES`. It writes
its tables (CSV) and figures (PNG) into the folder; `size` is "small" (seconds, for the gate) or "full".
"""

from bruit.apps.studies.registry import STUDIES, load

__all__ = ["STUDIES", "load"]
