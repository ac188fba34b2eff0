"""People with several records: which records each owns, and which ones count in a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.core.names import number_people
from bruit.deep.training.dataset import EVEN, Part, Records, pad
from bruit.errors import InvalidArgument


class People(Records):
    """A data set indexed by person: the records of a person that count in a step are clipped as one gradient.

    Of a person with more than `most` records, as many are taken in turn, the next ones at the next step: what is taken
    depends on nobody else's. Records whose person has no name are left out.
    """

    def __init__(self, data: Any, person: Any, most: Any, *, example: Any = None) -> None:
        super().__init__(data, example=example)
        names = _names(person) if getattr(person, "ndim", 1) == 1 else []
        if len(names) != super().__len__():
            raise InvalidArgument(
                f"person= has {len(names)} names for {super().__len__()} records: give one name or number for each"
            )
        self.most = whole(most, "records_per_person", why="the most records of a person that count in a step")
        owners = number_people(names)
        order = np.argsort(owners, kind="stable")
        self._order = order[owners[order] >= 0]
        self._counts = np.bincount(owners[owners >= 0])
        self._starts = np.concatenate([[0], np.cumsum(self._counts)[:-1]])

    def __len__(self) -> int:
        """How many people there are."""
        return len(self._counts)

    def parts(
        self, places: NDArray[np.int64], *, at_once: int, device: torch.device, even: int = EVEN, step: int = 0
    ) -> Iterator[Part]:
        """The records of the given people, grouped by record count; at most about `at_once` records per part."""
        counts = np.minimum(self._counts[places], self.most)
        for rows in np.unique(counts):
            people = places[counts == rows]
            size = max(at_once // int(rows), 1)
            for begin in range(0, len(people), size):
                some = people[begin : begin + size]
                yield self._part(self._records(some, int(rows), step), len(some), int(rows), device, even)

    def _records(self, people: NDArray[np.int64], rows: int, step: int) -> NDArray[np.int64]:
        """So many records of each person, by turns."""
        turn = (step * self.most + np.arange(rows)) % self._counts[people][:, None]
        chosen: NDArray[np.int64] = self._order[self._starts[people][:, None] + turn].ravel()
        return chosen

    def _part(self, records: NDArray[np.int64], people: int, rows: int, device: torch.device, even: int) -> Part:
        size = -(-people // even) * even
        parts = tuple(pad(part, size * rows).to(device, non_blocking=True) for part in self._collate(records))
        return Part(parts[:-1], parts[-1], pad(torch.ones(people), size).to(device))


def _names(person: Iterable[object]) -> list[object]:
    """Whose each record is, in Python's own types: as an array a missing one makes floats of all whole numbers.

    Two large ones would be one person then, whose clipped gradient each of them moves by twice the bound.
    """
    own = getattr(person, "to_list", None) or getattr(person, "tolist", None)  # of polars; of pandas, NumPy and torch
    return list(person if own is None else own())
