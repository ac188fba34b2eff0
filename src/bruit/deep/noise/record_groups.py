"""Assigns records to random groups; with banded noise each step samples from one group only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """A random partition of the record indices into `count` groups, drawn independently of the records' values.

    A record keeps its group for the whole run, over stops too: whoever goes on needs the key. It belongs to the data
    and is not to be published, since a record that is taken away moves those behind it.
    """

    size: int
    count: int
    key: str

    @cached_property
    def dealt(self) -> NDArray[np.int64]:
        """The random group of each record index, drawn from raw bits so that no NumPy release changes it."""
        raw = np.random.PCG64(int(self.key, 16)).random_raw(self.size)
        return (raw % self.count).astype(np.int64)

    def on_turn(self, places: NDArray[np.int64], step: int) -> NDArray[np.int64]:
        """Those of the given record indices whose group is sampled at a step, counted from zero."""
        chosen: NDArray[np.int64] = places[self.dealt[places] == step % self.count]
        return chosen


def fresh_key(rng: np.random.Generator) -> str:
    """A random hex key that fixes the groups of one run."""
    return rng.bytes(16).hex()
