"""The answers that a survey question allows, and the mapping of respondents' answers to them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from bruit.errors import InvalidArgument, OutOfDomain
from bruit.tables import OTHER

Categories = int | Iterable[Hashable]
"""The allowed answers, or how many there are when they are the numbers 0, 1, …"""


@dataclass(frozen=True)
class CategoryList:
    """The allowed answers in order; with `other`, a last one, OTHER, takes every answer that is not listed."""

    listed: tuple[Hashable, ...]
    other: bool = False

    def __len__(self) -> int:
        return len(self.listed) + self.other

    @property
    def labels(self) -> tuple[str, ...]:
        """The category names used in releases."""
        return tuple(map(str, self.listed)) + ((OTHER,) if self.other else ())

    def indices(self, values: ArrayLike | polars.Series | Iterable[Any]) -> NDArray[np.int32]:
        """The category index of each answer, computed on the respondent's side; accepts lists, arrays and series.

        An answer that is not listed becomes OTHER where the protocol has it and is refused where not.
        """
        places = self._places(values)
        unknown = places < 0
        if unknown.any():
            if not self.other:
                raise InvalidArgument(
                    f"an answer is not among the {len(self)} that this protocol allows; "
                    "ask again, or make the protocol with other=True (--other) to count such answers as OTHER"
                )
            places = np.where(unknown, len(self.listed), places).astype(np.int32)
        return np.ascontiguousarray(places)

    def _places(self, values: Any) -> NDArray[np.int32]:
        """The place of each answer, -1 for one that is not listed."""
        if self._counted and isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 1:
            if values.dtype.itemsize <= 4 and values.dtype != np.uint32:
                small = values.astype(np.int32, copy=False)
                outside = small.size > 0 and (small.min() < 0 or small.max() >= len(self.listed))
                return np.where((small >= 0) & (small < len(self.listed)), small, -1) if outside else small
            inside = (values >= 0) & (values < len(self.listed))
            return np.where(inside, values, -1).astype(np.int32)
        texts = self._texts(values)
        if texts is not None:
            found = texts.replace_strict(self.listed, range(len(self.listed)), default=-1, return_dtype=polars.Int32)
            return found.fill_null(-1).to_numpy()
        column = values.tolist() if isinstance(values, np.ndarray) else values
        if isinstance(column, polars.Series) or hasattr(column, "to_numpy"):
            column = column.to_list() if isinstance(column, polars.Series) else column.tolist()
        place = self._place
        return np.fromiter((_find(place, value) for value in column), dtype=np.int32)

    def _texts(self, values: Any) -> polars.Series | None:
        """A column of texts that polars can look up at once, when every listed answer is a text."""
        if not all(isinstance(label, str) for label in self.listed):
            return None
        named = isinstance(values, polars.Series) and values.dtype in (polars.String, polars.Categorical, polars.Enum)
        return values.cast(polars.String) if named else None

    @cached_property
    def _counted(self) -> bool:
        return all(type(label) is int and label == place for place, label in enumerate(self.listed))

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {label: place for place, label in enumerate(self.listed)}


def _find(place: dict[Hashable, int], value: Any) -> int:
    try:
        return place.get(value, -1)
    except Exception:  # an answer that cannot be looked up, such as a list, is in no list either
        return -1


def category_list(categories: Categories, *, other: bool) -> CategoryList:
    """A `CategoryList` from a list of distinct answers or from their number."""
    if isinstance(categories, bool | str):
        raise OutOfDomain(f"categories={categories!r}: give a list of the allowed answers, or how many there are")
    if isinstance(categories, int):
        return _enough(CategoryList(tuple(range(categories)), other))
    listed = tuple(categories)
    if any(not isinstance(label, str | int | bool) for label in listed):
        raise OutOfDomain("categories must be texts or whole numbers, so that a reports file can name them")
    if len(set(map(str, listed))) != len(listed) or (other and OTHER in listed):
        raise OutOfDomain(f"categories must differ from each other, and {OTHER!r} is kept for other=True")
    return _enough(CategoryList(listed, other))


def _enough(found: CategoryList) -> CategoryList:
    if not 2 <= len(found) < 1 << 31:
        raise OutOfDomain(f"{len(found)} allowed answers: a survey needs at least two, or there is nothing to tell")
    return found
