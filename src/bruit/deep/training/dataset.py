"""The records of a data set, read by index and padded to even batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import TensorDataset, default_collate

from bruit.errors import InvalidArgument

EVEN = 16
"""Batches are padded to a multiple of this many samples."""


@dataclass(frozen=True)
class Part:
    """Samples computed together, with weights: 1 for a sample, 0 for padding.

    Where there are several inputs and targets to a weight, those side by side are views or records of one owner, and
    have one gradient, their mean.
    """

    inputs: tuple[Tensor, ...]
    targets: Tensor
    weights: Tensor


class Records:
    """A data set of (inputs..., target) records, as whole tensors or as a torch `Dataset`."""

    def __init__(self, data: Any, *, example: Any = None) -> None:
        tensors = data.tensors if isinstance(data, TensorDataset) else data
        self._tensors: tuple[Tensor, ...] | None = None
        if isinstance(tensors, Sequence) and tensors and all(isinstance(each, Tensor) for each in tensors):
            self._tensors = tuple(tensors)
        elif not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
            raise InvalidArgument(
                f"data of type {type(data).__name__}: give a torch Dataset with a length, or a tuple of tensors "
                "(inputs, targets); batches are drawn here, so a DataLoader is not needed"
            )
        self._data = data
        if Records.__len__(self) == 0:
            raise InvalidArgument("the data set is empty: give one with records")
        self._shapes = self._read_shapes(example)
        if len(self._shapes) < 2:
            raise InvalidArgument("a record must hold inputs and a target: give (inputs, targets)")

    def _read_shapes(self, example: Any) -> tuple[Tensor, ...]:
        """No records in the shapes and types of one: of tensors they are seen from outside, else `example` has them."""
        if self._tensors is not None:
            return tuple(each[:0] for each in self._tensors)
        if example is None:
            raise InvalidArgument(
                "a Dataset is not read before the run is paid for: give example=, made-up inputs and target of one "
                "record in the shapes and types of yours, such as example=(torch.zeros(3, 32, 32), 0); or give tensors"
            )
        return tuple(torch.as_tensor(each)[None][:0] for each in example)

    def __len__(self) -> int:
        return len(self._data) if self._tensors is None else len(self._tensors[0])

    def example(self, device: torch.device, count: int = 2) -> Part:
        """A part of a few zero records with the shapes and dtypes of the data."""
        parts = tuple(pad(part.to(device), count) for part in self._shapes)
        return Part(parts[:-1], parts[-1], torch.ones(count, device=device))

    def parts(
        self, places: NDArray[np.int64], *, at_once: int, device: torch.device, even: int = EVEN, step: int = 0
    ) -> Iterator[Part]:
        """The records at the given indices, in parts of at most `at_once`; `step` is ignored.

        Each part is padded to a multiple of `even` samples: to `at_once` itself where all shall have one shape.
        """
        del step
        for begin in range(0, len(places), at_once):
            chosen = places[begin : begin + at_once]
            size = min(-(-len(chosen) // even) * even, max(at_once, len(chosen)))
            parts = tuple(pad(part, size).to(device, non_blocking=True) for part in self._collate(chosen))
            yield Part(parts[:-1], parts[-1], pad(torch.ones(len(chosen)), size).to(device))

    def _collate(self, places: Sequence[int] | NDArray[np.int64]) -> tuple[Tensor, ...]:
        if self._tensors is not None:
            index = torch.as_tensor(np.asarray(places))
            return tuple(each[index.to(each.device)] for each in self._tensors)
        return tuple(map(torch.as_tensor, default_collate([self._data[int(place)] for place in places])))


def pad(values: Tensor, size: int) -> Tensor:
    """The values padded with rows of zeros to `size` rows."""
    missing = size - len(values)
    return torch.cat([values, values.new_zeros(missing, *values.shape[1:])]) if missing else values
