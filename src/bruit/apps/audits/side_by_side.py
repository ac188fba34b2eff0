"""Runs parts of an audit in several processes, each with one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from bruit.apps.extras import has_extra

Asked = TypeVar("Asked")
Found = TypeVar("Found")


def side_by_side(measure: Callable[[Asked], Found], asked: Sequence[Asked], workers: int) -> Iterator[Found]:
    """What `measure` finds for each thing asked, in their order; both must pickle where there are several workers."""
    if workers == 1:
        yield from map(measure, asked)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_take_one_thread) as pool:
        yield from pool.map(measure, asked)


def _take_one_thread() -> None:
    """Keeps torch to one thread in each process: on networks this small, threads mostly wait for each other."""
    if has_extra("deep"):
        import torch

        torch.set_num_threads(1)
