"""The replay of torch's allocator: its rules, and a row that the source document measured."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.deep.memory import CachingAllocator
from bruit.deep.memory.allocator import LEAST, PlainAllocator

MEBI = 2**20


def test_s2_17_the_measured_row_of_the_document_to_the_byte() -> None:
    allocator = CachingAllocator()
    before = 3
    for width, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(depth):
            allocator.allocate(4 * 9 * before * width)
            allocator.allocate(4 * width)
            before = width
    for size in (25_088 * 26, 26, 26 * 102, 102):
        allocator.allocate(4 * size)
    assert allocator.allocated == 62_397_952


@pytest.mark.parametrize(
    ("asked", "counted", "kept"),
    [
        (1, 512, 2 * MEBI),
        (MEBI, MEBI, 2 * MEBI),
        (MEBI + 1, MEBI + 512, 20 * MEBI),
        (10 * MEBI, 10 * MEBI, 10 * MEBI),
        (11 * MEBI + 1, 12 * MEBI, 12 * MEBI),  # less than one MiB would be left: the whole segment counts
        (11 * MEBI - 512, 11 * MEBI - 512, 12 * MEBI),
    ],
)
def test_sizes_are_rounded_and_segments_cut(asked: int, counted: int, kept: int) -> None:
    allocator = CachingAllocator()
    allocator.allocate(asked)
    assert (allocator.allocated, allocator.reserved) == (counted, kept)


@given(st.lists(st.tuples(st.integers(1, 30 * MEBI), st.booleans()), max_size=40))
def test_what_is_given_back_can_be_taken_again(requests: list[tuple[int, bool]]) -> None:
    allocator, kept = CachingAllocator(), []
    for size, stays in requests:
        block = allocator.allocate(size)
        assert block is not None
        assert block.size >= size
        assert block.size % LEAST == 0
        if stays:
            kept.append(block)
        else:
            allocator.free(block)
        assert allocator.allocated == sum(each.size for each in kept) <= allocator.reserved
    taken = sorted((each.start, each.start + each.size) for each in kept)
    assert all(end <= start for (_, end), (start, _) in pairwise(taken))
    reserved = allocator.reserved
    for block in kept:
        allocator.free(block)
    assert (allocator.allocated, allocator.reserved) == (0, reserved)


def test_a_cpu_counts_what_is_asked() -> None:
    allocator = PlainAllocator()
    block = allocator.allocate(7)
    assert block is not None
    assert (allocator.allocated, allocator.peak) == (7, 7)
    allocator.free(block)
    assert (allocator.allocated, allocator.peak) == (0, 7)


def test_nothing_takes_no_room() -> None:
    assert CachingAllocator().allocate(0) is None
