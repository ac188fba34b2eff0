"""A model of torch's CUDA caching allocator: requested, allocated and reserved bytes."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

LEAST = 512
"""Every size is rounded up to a multiple of this."""

SMALL, SMALL_SEGMENT = 2**20, 2 * 2**20
"""Blocks up to the first are cut from segments of the second."""

MIDDLE, MIDDLE_SEGMENT = 10 * 2**20, 20 * 2**20
"""Larger blocks below the first are cut from segments of the second; above, a segment is one block."""

EVEN_SEGMENT = 2 * 2**20
"""The segment of a large block is rounded up to a multiple of this."""


@dataclass(eq=False)
class Block:
    """A block of an allocator's segment, linked to the blocks before and after it."""

    start: int
    size: int
    is_small: bool
    taken: bool = False
    before: Block | None = field(default=None, repr=False)
    after: Block | None = field(default=None, repr=False)


class CachingAllocator:
    """Replays requests by the rules of torch's CUDA caching allocator, so that its counters are known without a GPU.

    The best fitting free block is cut where enough would be left; what is too little to cut counts as taken. So counted
    memory jumps where no tensor does.
    """

    def __init__(self) -> None:
        self.allocated = self.reserved = self.peak = self.peak_reserved = 0
        self._end = 0
        self._free: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
        self._blocks: dict[int, Block] = {}

    def allocate(self, size: int) -> Block | None:
        """A block of at least `size` bytes; None for zero bytes."""
        if size == 0:
            return None
        size = -(-size // LEAST) * LEAST
        block = self._fitting_block(size) or self._segment(size)
        self._split_block(block, size)
        block.taken = True
        self.allocated += block.size
        self.peak = max(self.peak, self.allocated)
        return block

    def free(self, block: Block) -> None:
        """Frees a block and merges it with free neighbours."""
        block.taken = False
        self.allocated -= block.size
        for other in (block.before, block.after):
            if other is not None and not other.taken:
                self._remove(other)
        if block.before is not None and not block.before.taken:
            block = self._join_neighbours(block.before, block)
        if block.after is not None and not block.after.taken:
            block = self._join_neighbours(block, block.after)
        self._add(block)

    def forget_peak(self) -> None:
        """Resets the peak counters to the current values."""
        self.peak, self.peak_reserved = self.allocated, self.reserved

    def _fitting_block(self, size: int) -> Block | None:
        free = self._free[size <= SMALL]
        place = bisect_left(free, (size, -1))
        if place == len(free):
            return None
        block = self._blocks[free[place][1]]
        del free[place]
        return block

    def _segment(self, size: int) -> Block:
        if size <= SMALL:
            whole = SMALL_SEGMENT
        elif size < MIDDLE:
            whole = MIDDLE_SEGMENT
        else:
            whole = -(-size // EVEN_SEGMENT) * EVEN_SEGMENT
        block = Block(self._end, whole, is_small=size <= SMALL)
        self._blocks[block.start] = block
        self._end += whole
        self.reserved += whole
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        return block

    def _split_block(self, block: Block, size: int) -> None:
        left = block.size - size
        if left < LEAST if block.is_small else left <= SMALL:
            return
        rest = Block(block.start + size, left, block.is_small, before=block, after=block.after)
        if block.after is not None:
            block.after.before = rest
        block.size, block.after = size, rest
        self._blocks[rest.start] = rest
        self._add(rest)

    def _join_neighbours(self, left: Block, right: Block) -> Block:
        left.size, left.after = left.size + right.size, right.after
        if right.after is not None:
            right.after.before = left
        del self._blocks[right.start]
        return left

    def _add(self, block: Block) -> None:
        insort(self._free[block.is_small], (block.size, block.start))

    def _remove(self, block: Block) -> None:
        self._free[block.is_small].remove((block.size, block.start))


class PlainAllocator(CachingAllocator):
    """Counts the requested bytes without rounding or caching, as on a CPU."""

    def allocate(self, size: int) -> Block | None:
        """A block of `size` bytes."""
        block = Block(0, size, is_small=False, taken=True)
        self.allocated += size
        self.reserved = self.allocated
        self.peak = self.peak_reserved = max(self.peak, self.allocated)
        return block

    def free(self, block: Block) -> None:
        """Frees a block."""
        self.allocated -= block.size
        self.reserved = self.allocated
