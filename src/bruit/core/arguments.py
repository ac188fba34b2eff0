"""Checks the arguments of a call: one check and one error message for each kind of number or name."""

from collections.abc import Iterable
from fractions import Fraction
from math import inf, isfinite
from numbers import Rational
from typing import Any, TypeGuard

import numpy as np

from bruit.errors import InvalidArgument

Number = int | float | Fraction
"""A float is read as the shortest decimal that denotes it, so 0.1 is 1/10."""

LONGEST_SHOWN = 60
"""Characters of an argument that a message repeats."""


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is an integer of Python or NumPy; neither a bool nor a float is."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole(value: Any, name: str, *, least: int | None = 1, most: int | None = None, why: str = "") -> int:
    """Returns the value as a Python integer, or refuses one outside `least` to `most`; `why` ends the message."""
    if is_whole(value) and (least is None or value >= least) and (most is None or value <= most):
        return int(value)
    span = "" if least is None else f", at least {least}" if most is None else f" from {least} to {most}"
    raise InvalidArgument(f"{name}={shown(value)} must be a whole number{span}{': ' + why if why else ''}")


def number(value: Any, name: str, *, above: float = -inf, most: float = inf, why: str = "") -> float:
    """Returns the value as a float, or refuses one that is not a finite number greater than `above`, at most `most`."""
    is_number = isinstance(value, Rational | float | np.integer | np.floating) and not isinstance(value, bool)
    if is_number and above < value <= most and abs(value) < inf:
        return float(value)
    span = [f"above {above:g}"] * (above > -inf) + [f"at most {most:g}"] * (most < inf)
    raise InvalidArgument(f"{name}={shown(value)} must be {', '.join(['a number', *span])}{': ' + why if why else ''}")


def one_of(value: object, name: str, allowed: Iterable[str]) -> str:
    """Returns the value, or refuses one that is not among the allowed texts."""
    *others, last = allowed
    if isinstance(value, str) and value in (*others, last):
        return value
    raise InvalidArgument(f"{name}={shown(value)}: give {', '.join(map(repr, others))} or {last!r}")


def flag(value: object, name: str) -> bool:
    """Returns the value as a bool, or refuses one that is not True, False, 1 or 0."""
    if isinstance(value, bool | np.bool_) or (is_whole(value) and value in (0, 1)):
        return bool(value)
    raise InvalidArgument(f"{name}={shown(value)} must be True or False")


def octets(value: object, name: str) -> bytes:
    """Returns the value as bytes, or refuses what is no bytes, bytearray or memoryview."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise InvalidArgument(f"{name} of type {type(value).__name__}: give bytes; a text becomes bytes by .encode()")


def text(value: object, name: str) -> str:
    """Returns the value, or refuses what is no text."""
    if isinstance(value, str):
        return value
    raise InvalidArgument(f"{name}={shown(value)} must be a text")


def shown(value: object) -> str:
    """An argument as it stands in a message: on one line and not long."""
    line = " ".join(repr(value).split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[:LONGEST_SHOWN]}…"


def share(value: Any, name: str, *, why: str = "") -> float:
    """Returns the value, or refuses one that is not a number strictly between 0 and 1."""
    if isinstance(value, float | np.floating | Fraction) and 0 < value < 1:
        return float(value)
    raise InvalidArgument(f"{name}={shown(value)} must lie between 0 and 1{', ' + why if why else ''}")


def confidence(value: Any) -> float:
    """Returns the confidence level of an interval, or refuses one that is not strictly between 0 and 1."""
    return share(value, "confidence", why="for example 0.95")


def fraction(value: Number, name: str) -> Fraction:
    """Returns a sampler's argument as an exact rational, or refuses a negative one."""
    if isinstance(value, bool) or not isinstance(value, Rational | float | np.integer | np.floating):
        raise InvalidArgument(f"{name}={shown(value)} is not a number; give an int, a float or a Fraction")
    if not isinstance(value, Rational) and not isfinite(value):
        raise InvalidArgument(f"{name}={value}: give a finite number")
    number = Fraction(value) if isinstance(value, Rational) else Fraction(str(value))
    if number < 0:
        raise InvalidArgument(f"{name}={value} is negative; give a number of at least 0")
    return number
