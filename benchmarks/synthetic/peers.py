"""mbi's MST and AIM over cells, in the peers' environment; BRUIT_MBI names a checkout of mbi."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

FULL = {"max_model_size": 80, "max_iters": 1000}
"""AIM as it comes: a model of at most 80 MB, 1000 iterations a fit, 16 rounds a column. Tens of columns take hours."""

REDUCED = {"max_model_size": 1, "max_iters": 200, "rounds": 26}
"""AIM cut to some minutes on Adult, which binds it."""

Synthesis = Callable[[], Any]
"""Makes a synthetic table anew and returns its cells."""


def mst(truth: Any, sizes: list[int], epsilon: float, delta: float) -> Synthesis:
    """MST as it comes."""
    data = _dataset(truth, sizes)
    from mst import MST

    return lambda: _cells(MST(data, epsilon, delta), data)


def aim(truth: Any, sizes: list[int], epsilon: float, delta: float, settings: dict[str, int]) -> Synthesis:
    """AIM with all pairs of columns as its workload."""
    data = _dataset(truth, sizes)
    from aim import AIM

    workload = [(pair, 1.0) for pair in combinations(data.domain.attributes, 2)]
    return lambda: _cells(AIM(epsilon, delta, **settings).run(data, workload)[1], data)


def _dataset(truth: Any, sizes: list[int]) -> Any:
    home = Path(os.environ["BRUIT_MBI"])
    sys.path[:0] = [str(home / "src"), str(home / "mechanisms")]
    from mbi import Dataset, Domain

    names = [f"c{i}" for i in range(len(sizes))]
    return Dataset(dict(zip(names, truth.T, strict=True)), Domain(names, sizes))


def _cells(made: Any, data: Any) -> Any:
    import numpy as np

    columns = made.to_dict()
    return np.stack([columns[name] for name in data.domain.attributes], 1)
