"""Sources of randomness as callers give them, in `rng` or `random_state`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bruit.core.guarantee import Assumption
from bruit.errors import InvalidArgument

RandomState = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None
"""What scikit-learn's estimators take; a function's `rng` is a Generator or None."""


@dataclass(frozen=True)
class Seed:
    """The `rng` or `random_state` that a caller gave; None stands for the cryptographic source."""

    given: RandomState = None

    @property
    def seeded(self) -> bool:
        """Whether the noise could be reproduced: true for everything but the cryptographic source."""
        if self.given is None:
            return False
        return not (isinstance(self.given, np.random.Generator) and _is_strong(self.given))

    @property
    def assumes(self) -> tuple[Assumption, ...]:
        """The assumptions that a guarantee must state about this source: SEEDED, or none if cryptographic."""
        return (Assumption.SEEDED,) if self.seeded else ()

    def stream(self, *key: int) -> np.random.Generator:
        """A generator for a key: a fresh one over the cryptographic source, or PCG64 seeded by the seed and the key.

        A generator that was given is asked for one number, so that two streams under one key differ too.
        """
        if not self.seeded:
            from bruit.randomness import generator

            return generator(None)
        return np.random.default_rng([self._number(), *key])

    def _number(self) -> int:
        if isinstance(self.given, np.random.Generator):
            return int(self.given.integers(2**63))
        if isinstance(self.given, np.random.RandomState):
            return int(self.given.randint(2**31))
        return int(self.given or 0)


def seed_of_rng(rng: Any) -> Seed:
    """The seed from a function's `rng`: None, or a NumPy Generator, which advances with each call."""
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise _no_source("rng", rng, "a numpy Generator such as np.random.default_rng(seed)")
    return Seed(rng)


def seed_of_state(random_state: Any) -> Seed:
    """The seed from an estimator's `random_state`: None, an integer, a RandomState or a Generator."""
    is_whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if is_whole and random_state >= 0:
        return Seed(int(random_state))
    if random_state is None or isinstance(random_state, np.random.Generator | np.random.RandomState):
        return Seed(random_state)
    raise _no_source("random_state", random_state, "a numpy Generator, a RandomState or a whole number, at least 0,")


def _no_source(name: str, value: Any, allowed: str) -> InvalidArgument:
    return InvalidArgument(
        f"{name}={value!r} is no source of randomness; give None for the strong source, or {allowed} where repeatable "
        "noise is meant (its releases are marked 'seeded')"
    )


def _is_strong(rng: np.random.Generator) -> bool:
    """Whether a generator is a strong source; where its parts are not installed there is none."""
    try:
        from bruit.randomness import is_strong
    except ImportError:
        return False
    return is_strong(rng)
