"""The points of a grid, and the independent random stream of each point and repeat."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from bruit.errors import InvalidArgument

Value = str | int | float | bool | None
"""What a point may hold for one name: something a table and a file can show."""

Point = dict[str, Value]
Grid = Mapping[str, Sequence[Value]] | Sequence[Mapping[str, Value]]
"""Values for each name, all combined; or the points themselves."""

RESERVED = ("repeat", "rng")


def points_of(grid: Grid) -> list[Point]:
    """Every point of the grid, the last name varying fastest; refuses points that are equal or not plain values."""
    points = list(_combine(grid)) if isinstance(grid, Mapping) else [_plain(point) for point in grid]
    if not points:
        raise InvalidArgument("grid holds no point: give a value for every name, or a list of points")
    names = tuple(points[0])
    for point in points:
        if tuple(sorted(point)) != tuple(sorted(names)):
            raise InvalidArgument(f"grid: the point {point} does not name {', '.join(names)} like the first point")
    if len({point_key(point) for point in points}) < len(points):
        raise InvalidArgument("grid holds the same point twice: ask for more repeats instead")
    return points


def stream(root: Sequence[int], point: Point, repeat: int) -> np.random.Generator:
    """The random stream of one repeat of one point, independent of workers, order and the other points.

    The root, the point's digest and the repeat's number are hashed into a state of its own by `SeedSequence`.
    """
    digest = np.frombuffer(hashlib.sha256(point_key(point).encode()).digest()[:16], dtype="<u4")
    seeds = np.random.SeedSequence(list(root), spawn_key=(*map(int, digest), repeat))
    return np.random.Generator(np.random.PCG64(seeds))


def point_key(point: Point) -> str:
    """The canonical JSON text of a point: its identity in files and in seeds."""
    return json.dumps(point, sort_keys=True, ensure_ascii=False)


def describe_point(point: Point, repeat: int) -> str:
    """A point and repeat as text for progress and errors."""
    return ", ".join([*(f"{name}={value!r}" for name, value in point.items()), f"repeat {repeat}"])


def _combine(grid: Mapping[str, Sequence[Value]]) -> Iterator[Point]:
    for name, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            raise InvalidArgument(f"grid: {name}={values!r} is not a list of values")
    for values in product(*grid.values()):
        yield _plain(dict(zip(grid, values, strict=True)))


def _plain(point: Mapping[str, Value]) -> Point:
    """The point in plain Python types."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in point.items()}
    for name, value in plain.items():
        if name in RESERVED:
            raise InvalidArgument(f"grid: the name {name!r} is taken; call the parameter something else")
        if not isinstance(value, str | int | float | bool | None):
            raise InvalidArgument(f"grid: {name}={value!r} must be a text, a number, a truth value or None")
    return plain
