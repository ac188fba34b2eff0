"""Functions that worker processes can import."""

import math
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bruit.errors import MissingExtra


def draw(*, rng: np.random.Generator, scale: float, kind: str = "normal") -> Mapping[str, float]:
    return {"value": float(rng.normal(scale=scale)), "length": len(kind)}


def draw_and_die(*, rng: np.random.Generator, scale: float) -> Mapping[str, float]:
    """Kills its own process at the scale 3, unless the file named in the environment is gone."""
    if scale == 3 and Path(os.environ["BRUIT_TEST_DIES"]).exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": float(rng.normal(scale=scale))}


def fail_late_at_first(*, rng: np.random.Generator, scale: float) -> Mapping[str, float]:
    """Fails at every scale, the first one only after all the others: their marks say so."""
    marks = Path(os.environ["BRUIT_TEST_MARKS"])
    if scale > 1:
        (marks / str(scale)).touch()
        raise ValueError("too fast")
    while len(list(marks.iterdir())) < 1:
        time.sleep(0.01)
    raise ValueError("too slow")


def fail_at_two(*, rng: np.random.Generator, scale: float) -> Mapping[str, float]:
    if scale == 2:
        raise MissingExtra("the test", "nothing")
    return {"root": math.sqrt(scale)}
