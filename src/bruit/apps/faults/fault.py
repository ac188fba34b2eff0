"""A planted fault and the test that catches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bruit.audit import audit

Done = Literal["wrong", "right"]
Test = Literal["audit", "low bits", "row-level pair", "ledger", "promise"]
Many = Callable[[Any, int, np.random.Generator], NDArray[Any]]
Check = Callable[[np.random.Generator], bool]
"""Whether something is wrong."""

LooksWrong = Callable[[Done, int, float, np.random.Generator], bool]
"""`looks_wrong(done, samples, alarm, rng)` says whether the test rejects a mechanism, faulty or correct."""


@dataclass(frozen=True)
class Fault:
    """A mechanism done wrong and done right, and the test that tells the two apart with `small` samples."""

    name: str
    story: str
    test: Test
    looks_wrong: LooksWrong
    small: int
    full: int


def audit_fault(
    name: str,
    story: str,
    wrong: Many,
    right: Many,
    pair: tuple[Any, Any],
    *,
    claimed: float = 1.0,
    delta: float = 0.0,
    small: int = 20_000,
    event: Callable[[NDArray[Any]], NDArray[np.bool_]] | None = None,
) -> Fault:
    """A fault that an audit of outputs on one pair of neighbours catches."""

    def looks_wrong(done: Done, samples: int, alarm: float, rng: np.random.Generator) -> bool:
        mechanism = wrong if done == "wrong" else right
        found = audit(mechanism, pair, claimed=claimed, samples=samples, alarm=alarm, delta=delta, event=event, rng=rng)
        return not found.passes

    return Fault(name, story, "audit" if event is None else "low bits", looks_wrong, small, max(small, 1_000_000))


def check_fault(name: str, story: str, test: Test, wrong: Check, right: Check) -> Fault:
    """A fault that a single check catches; `wrong` and `right` run it on the two implementations."""

    def looks_wrong(done: Done, _samples: int, _alarm: float, rng: np.random.Generator) -> bool:
        return wrong(rng) if done == "wrong" else right(rng)

    return Fault(name, story, test, looks_wrong, 1, 1)
