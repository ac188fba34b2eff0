"""A registry of values by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from bruit.errors import InvalidArgument

T = TypeVar("T")


class Registry(Generic[T]):
    """Values by name, in order of registration; asking for an unknown name raises an error that lists them all."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._values: dict[str, T] = {}

    def register(self, name: str, value: T) -> T:
        """Adds a value under a name that must be new, and returns the value."""
        if name in self._values:
            raise InvalidArgument(f"a {self.kind} named {name!r} is registered already")
        self._values[name] = value
        return value

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, in order."""
        return tuple(self._values)

    def __getitem__(self, name: str) -> T:
        if name not in self._values:
            raise InvalidArgument(f"no {self.kind} {name!r}; choose among {', '.join(self._values)}")
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[T]:
        return iter(self._values.values())

    def __len__(self) -> int:
        return len(self._values)
