"""A registry keeps order, refuses a name twice and names what it knows."""

import pytest

from bruit.core.registry import Registry
from bruit.errors import InvalidArgument


def test_values_come_in_the_order_of_their_registration() -> None:
    shapes = Registry[int]("shape")
    assert shapes.register("square", 4) == 4
    shapes.register("line", 2)
    assert (shapes.names, list(shapes), len(shapes), shapes["line"]) == (("square", "line"), [4, 2], 2, 2)
    assert "line" in shapes
    assert "cube" not in shapes


def test_a_name_is_registered_once() -> None:
    shapes = Registry[int]("shape")
    shapes.register("square", 4)
    with pytest.raises(InvalidArgument, match="a shape named 'square' is registered already"):
        shapes.register("square", 5)


def test_an_unknown_name_is_refused_with_the_list() -> None:
    shapes = Registry[int]("shape")
    shapes.register("square", 4)
    shapes.register("line", 2)
    with pytest.raises(InvalidArgument, match="no shape 'cube'; choose among square, line"):
        shapes["cube"]
