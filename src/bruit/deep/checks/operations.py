"""Notes the operations of a step on made-up samples, to compare batch sizes and to find what outlives the step."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch._ops import OpOverload
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

LENGTHS = {"slice": {3}, "slice_backward": {3, 4}, "native_group_norm": {3}, "native_group_norm_backward": {5}}
"""Positions of numbers that may grow with the batch, as they are lengths."""

SHAPES = frozenset({"size", "shape", "self_size", "input_size", "input_sizes", "split_sizes", "output_size", "repeats"})
"""Names of lists that may grow with the batch along one axis."""

STRIDES = "stride"
"""The name of lists in which several numbers may: those of a value whose samples are not first."""


@dataclass(frozen=True)
class Operation:
    """One operation: what must not move with the size of the batch, and what may follow it."""

    name: str
    told: tuple[str, ...]
    """Numbers, lists and words that the operation was given."""
    shapes: tuple[tuple[int, ...], ...]
    strides: tuple[tuple[int, ...], ...]
    constants: tuple[tuple[tuple[int, ...], int], ...]
    """Shape and contents of every value that samples meet and that comes neither from them nor from the model."""


class Operations(TorchDispatchMode):
    """Notes every operation while the context is open, and which values come from the samples.

    `samples` are the inputs and targets, `own` the tensors of the model, which are put back after each step.
    """

    def __init__(self, samples: Iterable[Tensor], own: Iterable[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: list[Operation] = []
        self._own = {_memory(each).cdata for each in own}
        self._seen: dict[int, StorageWeakRef | None] = dict.fromkeys(_memory(each).cdata for each in samples)
        self._drawn: dict[int, StorageWeakRef | None] = {}

    def __torch_dispatch__(self, function: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        given = list(_named(function, args, kwargs or {}))
        read = [each for each in tree_iter((args, kwargs)) if isinstance(each, Tensor)]
        with torch._C.DisableTorchFunction():
            met = any(_memory(each).cdata in self._seen for each in read)
            constants = tuple(self._constants(read)) if met else ()
            drawn = torch.Tag.nondeterministic_seeded in function.tags
            drawn = drawn or any(_memory(each).cdata in self._drawn for each in read)
            results = function(*args, **(kwargs or {}))
            made = [each for each in tree_iter(results) if isinstance(each, Tensor)]
            for each in made:
                if met or drawn:
                    memory = _memory(each)
                    kept = None if memory.cdata in self._own else memory
                    (self._seen if met else self._drawn).setdefault(memory.cdata, kept)
            self._note(function, given, made, constants)
        return results

    def _note(
        self,
        function: OpOverload,
        given: Sequence[tuple[str, int, Any]],
        made: Sequence[Tensor],
        constants: tuple[tuple[tuple[int, ...], int], ...],
    ) -> None:
        name = function._schema.name.removeprefix("aten::")
        told, shapes, strides = [], [tuple(each.shape) for each in made], []
        for called, place, value in given:
            if place in LENGTHS.get(name, ()):
                shapes.append((value,))
            elif called == STRIDES:
                strides.append(tuple(value))
            elif called in SHAPES and isinstance(value, list | tuple):
                shapes.append(tuple(value))
            elif not any(isinstance(each, Tensor | torch.Generator) for each in tree_iter(value)):
                told.append(repr(value))  # equal for what is not a number too
        self.found.append(Operation(str(function), tuple(told), tuple(shapes), tuple(strides), constants))

    def _constants(self, read: Sequence[Tensor]) -> Iterator[tuple[tuple[int, ...], int]]:
        for each in read:
            cdata = _memory(each).cdata
            if cdata not in self._seen and cdata not in self._own and cdata not in self._drawn:
                yield tuple(each.shape), hash(_bytes(each))

    def outlived(self) -> bool:
        """Whether something computed from the samples is still held by someone outside the model."""
        kept = [memory for memory in self._seen.values() if memory is not None]
        if any(not memory.expired() for memory in kept):
            gc.collect()
        return any(not memory.expired() for memory in kept)


def follow(found: Sequence[Sequence[Operation]], sizes: Sequence[int]) -> bool:
    """Whether runs at several sizes of batch are of the same operations, whose shapes grow with the batch alone."""
    if len({len(run) for run in found}) > 1:
        return False
    return all(_are_alike(each, sizes) for each in zip(*found, strict=True))


def _are_alike(runs: Sequence[Operation], sizes: Sequence[int]) -> bool:
    if len({(each.name, each.told, len(each.constants), len(each.shapes), len(each.strides)) for each in runs}) > 1:
        return False
    constants = list(zip(*(each.constants for each in runs), strict=True))
    shapes = [*zip(*(each.shapes for each in runs), strict=True)]
    shapes += [tuple(shape for shape, _ in each) for each in constants]
    same = all(len(set(each)) == 1 for each in constants if len({shape for shape, _ in each}) == 1)
    along = all(_grow(each, sizes) for each in zip(*(each.strides for each in runs), strict=True))
    return same and along and all(_grow(each, sizes, most=1) for each in shapes)


def _grow(shapes: Sequence[tuple[int, ...]], sizes: Sequence[int], most: int | None = None) -> bool:
    """Whether lengths are the same at every size, but for `most` of them, which are proportional to it."""
    if len({len(shape) for shape in shapes}) > 1:
        return False
    moving = [lengths for lengths in zip(*shapes, strict=True) if len(set(lengths)) > 1]
    if most is not None and len(moving) > most:
        return False
    return all(one * sizes[0] == each[0] * size for each in moving for one, size in zip(each, sizes, strict=True))


def _named(function: OpOverload, args: Sequence[object], kwargs: dict[str, object]) -> Iterator[tuple[str, int, Any]]:
    """The name, the place and the value of each argument."""
    names = [each.name for each in function._schema.arguments]
    yield from ((names[place], place, value) for place, value in enumerate(args))
    yield from ((name, names.index(name), value) for name, value in kwargs.items())


def _memory(value: Tensor) -> StorageWeakRef:
    return StorageWeakRef(value.untyped_storage())


def _bytes(value: Tensor) -> bytes:
    flat = value.detach().cpu().contiguous().reshape(-1)
    found: NDArray[np.generic] = flat.view(torch.uint8).numpy() if flat.numel() else np.empty(0)
    return found.tobytes()
