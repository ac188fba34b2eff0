"""Deals records into groups at random; with banded noise only one group is sampled at each step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """Every place of a data set in one of `count` groups, by a coin of its own, whatever record stands there.

    A record keeps its group for the whole run, over stops too: whoever goes on needs the key. It belongs to the data
    and is not to be published, since a record that is taken away moves those behind it.
    """

    size: int
    count: int
    key: str

    @cached_property
    def dealt(self) -> NDArray[np.int64]:
        """The random group of each place, drawn from raw bits so that no NumPy release changes it."""
        raw = np.random.PCG64(int(self.key, 16)).random_raw(self.size)
        return (raw % self.count).astype(np.int64)

    def on_turn(self, places: NDArray[np.int64], step: int) -> NDArray[np.int64]:
        """The given places whose group is sampled at a step, counted from zero."""
        chosen: NDArray[np.int64] = places[self.dealt[places] == step % self.count]
        return chosen


def fresh_key(rng: np.random.Generator) -> str:
    """A key for one run."""
    return rng.bytes(16).hex()
