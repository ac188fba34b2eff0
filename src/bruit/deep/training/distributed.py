"""Distributed training (process group, rank, world size): rank 0 pays, draws the batches and adds the noise for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as distributed
from torch import Tensor

from bruit.errors import InvalidArgument

T = TypeVar("T")


@dataclass(frozen=True)
class ProcessGroup:
    """The torch process group to train in, or this process alone."""

    group: Any = None

    @property
    def world_size(self) -> int:
        return 1 if self.group is None else distributed.get_world_size(self.group)

    @property
    def rank(self) -> int:
        return 0 if self.group is None else distributed.get_rank(self.group)

    @property
    def is_rank_zero(self) -> bool:
        """Whether this process is rank 0, which pays, draws the batches and adds the noise."""
        return self.rank == 0

    def once(self, work: Callable[[], T]) -> T:
        """Runs a function on rank 0 and returns its result on every rank; an error there is raised everywhere."""
        if self.group is None:
            return work()
        gathered: list[Any] = [None]
        if self.is_rank_zero:
            try:
                gathered = [(work(), None)]
            except Exception as error:
                gathered = [(None, error)]
        distributed.broadcast_object_list(gathered, src=distributed.get_global_rank(self.group, 0), group=self.group)
        found, trouble = gathered[0]
        if trouble is not None:
            raise trouble
        return found  # type: ignore[no-any-return]

    def all_reduce(self, values: Iterable[Tensor]) -> None:
        """Adds up each tensor over the processes, in place."""
        if self.group is not None:
            for each in values:
                distributed.all_reduce(each, group=self.group)

    def broadcast(self, values: Iterable[Tensor]) -> None:
        """Overwrites the values on every rank with those of rank 0."""
        if self.group is not None:
            with torch.no_grad():
                for each in values:
                    distributed.broadcast(each, src=distributed.get_global_rank(self.group, 0), group=self.group)

    def require_same(self, value: object, what: str) -> None:
        """Refuses processes that were given different data."""
        if self.group is None:
            return
        gathered: list[Any] = [None] * self.world_size
        distributed.all_gather_object(gathered, value, group=self.group)
        if any(other != gathered[0] for other in gathered):
            raise InvalidArgument(f"the processes were given different {what}; give all of them the same")


ALONE = ProcessGroup()
"""One process."""


def process_group(processes: Any, *, alone: bool = False) -> ProcessGroup:
    """The process group to train in: all ranks for True, this process for None or False; `alone` refuses any other."""
    if processes is None or processes is False:
        return ProcessGroup()
    if alone:
        raise InvalidArgument("a clip that adapts is for one process: give clip= a number, or leave processes= out")
    if not distributed.is_available() or not distributed.is_initialized():
        raise InvalidArgument("processes= needs torch.distributed.init_process_group(...) to be called first")
    return ProcessGroup(distributed.group.WORLD if processes is True else processes)
