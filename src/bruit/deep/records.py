"""The records of a data set, taken by their places and padded to even batches."""

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
    """Samples that are computed at once; the weight of padding is zero."""

    inputs: tuple[Tensor, ...]
    targets: Tensor
    weights: Tensor


class Records:
    """A data set of (inputs..., target), whole tensors or one record at a time."""

    def __init__(self, data: Any) -> None:
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
        if len(self) == 0:
            raise InvalidArgument("the data set is empty: give one with records")
        if len(self._collated([0])) < 2:
            raise InvalidArgument("a record must hold inputs and a target: give (inputs, targets)")

    def __len__(self) -> int:
        return len(self._data) if self._tensors is None else len(self._tensors[0])

    def example(self, device: torch.device) -> Part:
        """Zeros with the shapes and types of two records."""
        parts = tuple(_padded(part[:0].to(device), 2) for part in self._collated([0]))
        return Part(parts[:-1], parts[-1], torch.ones(2, device=device))

    def parts(
        self, places: NDArray[np.int64], *, at_once: int, device: torch.device, even: int = EVEN
    ) -> Iterator[Part]:
        """The records at some places, at most `at_once` at a time; none at all for no places.

        Each part is padded to a multiple of `even` samples: to `at_once` itself where all shall have one shape.
        """
        for begin in range(0, len(places), at_once):
            chosen = places[begin : begin + at_once]
            size = min(-(-len(chosen) // even) * even, max(at_once, len(chosen)))
            parts = tuple(_padded(part, size).to(device, non_blocking=True) for part in self._collated(chosen))
            yield Part(parts[:-1], parts[-1], _padded(torch.ones(len(chosen)), size).to(device))

    def _collated(self, places: Sequence[int] | NDArray[np.int64]) -> tuple[Tensor, ...]:
        if self._tensors is not None:
            index = torch.as_tensor(np.asarray(places))
            return tuple(each[index.to(each.device)] for each in self._tensors)
        return tuple(map(torch.as_tensor, default_collate([self._data[int(place)] for place in places])))


def _padded(values: Tensor, size: int) -> Tensor:
    missing = size - len(values)
    return torch.cat([values, values.new_zeros(missing, *values.shape[1:])]) if missing else values
