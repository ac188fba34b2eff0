"""Traces a run over tensors without values (fake tensors), reporting every allocation and release to an allocator."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter
from torch.utils.weak import WeakIdKeyDictionary

from bruit.deep.memory import cuda_workspaces
from bruit.deep.memory.allocator import Block, CachingAllocator


class Tape(TorchDispatchMode):
    """A dispatch mode that reports each storage created or released to an allocator.

    Questions about values are answered as ordinary data would answer them: all are finite, all are equal, nothing odd
    is found anywhere.
    """

    def __init__(self, allocator: CachingAllocator, *, on_card: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.allocator, self.on_card = allocator, on_card
        self._known, self._denied = WeakIdKeyDictionary(), WeakIdKeyDictionary()
        self._loaded: set[str] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = function._schema.name
        if name == "aten::_local_scalar_dense":
            return _answer(args[0], is_true=args[0] not in self._denied)
        if name == "aten::equal":
            return True
        kept = cuda_workspaces.lasting_workspace(name) if self.on_card else None
        if kept is not None and kept[0] not in self._loaded:
            self._loaded.add(kept[0])
            for room in kept[1]:
                self.allocator.allocate(room)
        results = function(*args, **(kwargs or {}))
        for value in tree_iter(results):
            if isinstance(value, Tensor):
                self._note(value)
        if name == "aten::any":
            self._denied[results] = True
        if self.on_card:
            self._pass(cuda_workspaces.passing_workspaces(name, args, results))
        return results

    def _note(self, values: Tensor) -> None:
        storage = values.untyped_storage()
        if values.device.type != "meta" or storage in self._known:
            return
        self._known[storage] = True
        block = self.allocator.allocate(storage.nbytes())
        if block is not None:
            weakref.finalize(storage, self.allocator.free, block).atexit = False

    def _pass(self, rooms: list[int]) -> None:
        for room in rooms:
            block: Block | None = self.allocator.allocate(room)
            if block is not None:
                self.allocator.free(block)


def _answer(values: Tensor, *, is_true: bool) -> Any:
    kind: Callable[[int], Any] = float if values.is_floating_point() else int
    return is_true if values.dtype.itemsize == 1 else kind(is_true)
