"""The remaining paid queries and their random generator, neither of which can be copied."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from bruit.errors import BudgetExceeded, LedgerError

STAYS = (
    "a fitted NearestNeighbours holds the records and the questions still paid for: it stays in its process. "
    "What may be kept and sent is a Student"
)


class Allowance:
    """The number of paid queries left; copies share it, and it cannot be sent to another process."""

    def __init__(self, queries: int, rng: np.random.Generator) -> None:
        self.left = queries
        self._rng, self._process, self._lock = rng, os.getpid(), threading.Lock()

    @contextmanager
    def spend(self, queries: int) -> Iterator[np.random.Generator]:
        """Deducts queries before they are answered, and yields the generator for their noise."""
        if os.getpid() != self._process:
            raise LedgerError("these questions were paid for in another process; fit again in this one")
        with self._lock:
            if queries > self.left:
                raise BudgetExceeded(
                    f"asked {queries} questions; {self.left} of those paid for are left; nothing was answered. "
                    "Fit again to pay for more, or learn a Student from public records, which answers without limit"
                )
            self.left -= queries
            yield self._rng

    def __copy__(self) -> Allowance:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Allowance:
        return self

    def __reduce__(self) -> NoReturn:
        raise LedgerError(STAYS)
