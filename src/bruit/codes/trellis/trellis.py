"""The trellis of a shift register: its states, and the coded bits of each branch."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import is_whole, shown
from bruit.errors import InvalidArgument

LONGEST = 12  # bits of register; the tables grow as two to this power


def checked_generators(generators: Any) -> tuple[int, ...]:
    """The generators as Python integers; refuses what is not one to eight positive whole numbers."""
    listed = isinstance(generators, Sequence) or (isinstance(generators, np.ndarray) and generators.ndim == 1)
    given = tuple(generators) if listed else ()
    if not 1 <= len(given) <= 8 or not all(is_whole(mask) and mask > 0 for mask in given):
        raise InvalidArgument(f"generators={shown(generators)}: give one to eight positive numbers, such as 0o171")
    return tuple(int(mask) for mask in given)


@dataclass(frozen=True)
class Trellis:
    """The trellis of a shift register; the highest bit of the longest generator taps the newest bit."""

    generators: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 3 <= self.length <= LONGEST:
            raise InvalidArgument(
                f"generators {[oct(g) for g in self.generators]} span {self.length} bits; 3 to {LONGEST} are supported"
            )

    @property
    def length(self) -> int:
        """The constraint length K, the number of bits in the register."""
        return max(g.bit_length() for g in self.generators)

    @property
    def memory(self) -> int:
        """The memory K − 1, the number of bits in a state."""
        return self.length - 1

    @property
    def states(self) -> int:
        """The number of states, 2^(K−1)."""
        return 1 << self.memory

    @property
    def outputs(self) -> int:
        """The number of coded bits per step."""
        return len(self.generators)

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """Each generator with its bits reversed, so that bit i taps the bit i steps old."""
        return tuple(int(f"{g:0{self.length}b}"[::-1], 2) for g in self.generators)

    @cached_property
    def patterns(self) -> NDArray[np.int64]:
        """The coded bits for each register content, output q in bit q."""
        registers = np.arange(1 << self.length)
        bits = [np.bitwise_count(registers & mask).astype(np.int64) & 1 for mask in self.masks]
        return sum((bit << q for q, bit in enumerate(bits)), np.zeros_like(registers))

    @property
    def plain(self) -> bool:
        """Whether both outputs tap the newest and oldest bits, so that one branch metric serves a whole butterfly."""
        ends = 1 | self.states
        return self.outputs == 2 and all(mask & ends == ends for mask in self.masks)
