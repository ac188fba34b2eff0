"""TOML that others wrote is read, or refused by one error."""

import tomllib
from fractions import Fraction

import pytest

from bruit.core.toml import read_toml
from bruit.errors import BadFile
from bruit.tables.schema import Schema


def test_numbers_are_read_as_asked() -> None:
    assert read_toml("a = 0.1") == {"a": 0.1}
    assert read_toml("a = 0.1", parse_float=Fraction) == {"a": Fraction(1, 10)}


@pytest.mark.parametrize("text", ["a = " + "[" * 5000 + "]" * 5000, "a = " + "9" * 10_000, "a ="])
def test_whatever_cannot_be_read_is_refused_by_one_error(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        read_toml(text)
    with pytest.raises(BadFile):
        Schema.from_toml(text)
