"""Units of work a second of processor time, which other programs on the machine change little. Part of `codes`."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

from benchmarks.case import Work


def rate(work: Callable[[], object], amount: float) -> Work:
    """The sides are timed on sizes of their own, since some peers take a thousand times as long."""

    def timed() -> float:
        began = process_time()
        work()
        return amount / (process_time() - began)

    return timed
