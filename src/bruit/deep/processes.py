"""Several processes that train one model together: the first one pays, draws and adds the noise, for all."""

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
class Team:
    """The processes of a group, or one process alone."""

    group: Any = None

    @property
    def count(self) -> int:
        return 1 if self.group is None else distributed.get_world_size(self.group)

    @property
    def place(self) -> int:
        return 0 if self.group is None else distributed.get_rank(self.group)

    @property
    def leads(self) -> bool:
        """Whether this process pays, draws and adds the noise."""
        return self.place == 0

    def once(self, work: Callable[[], T]) -> T:
        """What the first process finds, in every process; an error there is one everywhere."""
        if self.group is None:
            return work()
        told: list[Any] = [None]
        if self.leads:
            try:
                told = [(work(), None)]
            except Exception as error:
                told = [(None, error)]
        distributed.broadcast_object_list(told, src=distributed.get_global_rank(self.group, 0), group=self.group)
        found, trouble = told[0]
        if trouble is not None:
            raise trouble
        return found  # type: ignore[no-any-return]

    def add(self, values: Iterable[Tensor]) -> None:
        """Adds up each tensor over the processes, in place."""
        if self.group is not None:
            for each in values:
                distributed.all_reduce(each, group=self.group)

    def copy(self, values: Iterable[Tensor]) -> None:
        """Gives every process the first one's values, in place."""
        if self.group is not None:
            with torch.no_grad():
                for each in values:
                    distributed.broadcast(each, src=distributed.get_global_rank(self.group, 0), group=self.group)

    def require_same(self, value: object, what: str) -> None:
        """Refuses processes that were given different data."""
        if self.group is None:
            return
        told: list[Any] = [None] * self.count
        distributed.all_gather_object(told, value, group=self.group)
        if any(other != told[0] for other in told):
            raise InvalidArgument(f"the processes were given different {what}; give all of them the same")


ALONE = Team()
"""One process."""


def team(processes: Any) -> Team:
    """The team of a process group; True takes all processes, None or False this one alone."""
    if processes is None or processes is False:
        return Team()
    if not distributed.is_available() or not distributed.is_initialized():
        raise InvalidArgument("processes= needs torch.distributed.init_process_group(...) to be called first")
    return Team(distributed.group.WORLD if processes is True else processes)
