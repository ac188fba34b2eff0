"""Serialises a fitted model as JSON and flat arrays: plain values and a closed list of classes, never code.

A value is itself where JSON has it, and otherwise {"kind": ..., ...}. Arrays are laid one behind the other, one run a
dtype; {"kind": "array", "type": dtype, "at": first, "shape": [...]} names its place. A class is named and looked up in
`CLASSES`: a file that names another is refused, so that reading a file runs nothing that the file brings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from bruit.core.guarantee import Assumption, Guarantee
from bruit.core.intervals import Covers, Interval
from bruit.core.neighbours import Neighbours
from bruit.core.release import Receipt, Release
from bruit.errors import BadFile, InvalidArgument, LedgerError
from bruit.learning.linear_models._design import Design
from bruit.learning.nearest_neighbours.classifier import Voters
from bruit.learning.nearest_neighbours.query_allowance import STAYS
from bruit.learning.nearest_neighbours.space import Space
from bruit.learning.trees.binning import Bins
from bruit.learning.trees.growing import GrownTree
from bruit.learning.trees.random_trees import RandomTree
from bruit.tables import Among, Within

RECORDS = (Among, Bins, Design, Guarantee, Interval, RandomTree, Receipt, Release, Space, Within)
ENUMS = (Assumption, Covers, Neighbours)
STUDENTS = (DummyClassifier, LogisticRegression)
CLASSES: dict[str, type[Any]] = {each.__name__: each for each in (*RECORDS, *ENUMS, *STUDENTS, GrownTree)}
"""What a file may name: public descriptions, parts of trees, and the two models that a Student makes by itself."""

FLAT = "biufUS"
"""The kinds of NumPy's dtypes that are numbers or texts of one width."""

Arrays = dict[str, NDArray[Any]]


class Packing:
    """Turns values into JSON and gathers their arrays by dtype."""

    def __init__(self) -> None:
        self._runs: dict[str, list[NDArray[Any]]] = {}
        self._lengths: dict[str, int] = {}

    @property
    def arrays(self) -> Arrays:
        """All arrays of each dtype, one behind the other."""
        return {name: np.concatenate(run) for name, run in self._runs.items()}

    def pack(self, value: Any) -> Any:
        """The value in JSON types."""
        if value is None or (isinstance(value, bool | str | int) and not isinstance(value, Enum)):
            return value
        for kind, how in self._ways:
            if isinstance(value, kind):
                return how(value)
        if is_dataclass(value) and type(value) in RECORDS:
            # What is not compared, such as the curve behind a guarantee, is no part of the value.
            parts = {each.name: self.pack(getattr(value, each.name)) for each in fields(value) if each.compare}
            return {"kind": "record", "class": type(value).__name__, "fields": parts}
        raise InvalidArgument(
            f"a {type(value).__name__} inside the model has no form in a file that runs no code; "
            "keep the model with joblib.dump, or leave that part out of it"
        )

    @property
    def _ways(self) -> tuple[tuple[Any, Callable[[Any], Any]], ...]:
        return (
            (ENUMS, lambda value: {"kind": "enum", "class": type(value).__name__, "value": value.value}),
            (float, _pack_float),
            (Fraction, lambda value: {"kind": "fraction", "value": str(value)}),
            (np.ndarray | np.generic, self._pack_array),
            (GrownTree, lambda value: {"kind": "tree", "parts": [self.pack(part) for part in value]}),
            (tuple, lambda value: {"kind": "tuple", "parts": [self.pack(part) for part in value]}),
            (list, lambda value: {"kind": "list", "parts": [self.pack(part) for part in value]}),
            (Mapping, self._pack_mapping),
            (STUDENTS, self._pack_student),
        )

    def _pack_mapping(self, value: Mapping[Any, Any]) -> Any:
        return {"kind": "mapping", "parts": [[self.pack(key), self.pack(part)] for key, part in value.items()]}

    def _pack_student(self, value: Any) -> Any:
        state = {name: part for name, part in vars(value).items() if name != "random_state"}
        return {"kind": "student", "class": type(value).__name__, "state": self.pack(state)}

    def _pack_array(self, value: Any) -> Any:
        array = np.asarray(value)
        if array.dtype.kind not in FLAT:
            return {"kind": "objects", "shape": list(array.shape), "parts": [self.pack(each) for each in array.flat]}
        name = array.dtype.str
        at = self._lengths.get(name, 0)
        self._runs.setdefault(name, []).append(array.reshape(-1))
        self._lengths[name] = at + array.size
        return {"kind": "array", "type": name, "at": at, "shape": list(array.shape)}


def unpack(value: Any, arrays: Arrays) -> Any:
    """The value that was packed; refuses anything that `Packing` does not write."""
    if not isinstance(value, dict):
        return value
    how = WAYS.get(value.get("kind", ""))
    if how is None:
        raise BadFile(
            f"the model's file holds a value of the kind {value.get('kind')!r}, which this version does not know"
        )
    return how(value, arrays)


def _pack_float(value: float) -> Any:
    return value if math.isfinite(value) else {"kind": "float", "value": repr(value)}


def require_no_records(model: Any) -> None:
    """Refuses a model that holds training records."""
    if any(isinstance(part, Voters) for part in vars(model).values()):
        raise LedgerError(STAYS)


def _class(name: str, among: tuple[type[Any], ...]) -> type[Any]:
    found = CLASSES.get(name)
    if found not in among:
        raise BadFile(f"the model's file names the class {name!r}, which is none of those that a model is made of")
    return found


def _parts(value: dict[str, Any], arrays: Arrays) -> list[Any]:
    return [unpack(part, arrays) for part in value["parts"]]


def _array(value: dict[str, Any], arrays: Arrays) -> Any:
    shape = tuple(value["shape"])
    size, first = math.prod(shape), value["at"]
    found = arrays[value["type"]][first : first + size].reshape(shape).copy()
    return found if shape else found[()]


def _objects(value: dict[str, Any], arrays: Arrays) -> NDArray[Any]:
    return np.fromiter(_parts(value, arrays), object, len(value["parts"])).reshape(value["shape"])


def _record(value: dict[str, Any], arrays: Arrays) -> Any:
    kind = _class(value["class"], RECORDS)
    return kind(**{name: unpack(part, arrays) for name, part in value["fields"].items()})


def _student(value: dict[str, Any], arrays: Arrays) -> Any:
    found = _class(value["class"], STUDENTS)()
    vars(found).update(unpack(value["state"], arrays))
    return found


WAYS: dict[str, Callable[[dict[str, Any], Arrays], Any]] = {
    "array": _array,
    "enum": lambda value, _: _class(value["class"], ENUMS)(value["value"]),
    "float": lambda value, _: float(value["value"]),
    "fraction": lambda value, _: Fraction(value["value"]),
    "list": _parts,
    "mapping": lambda value, arrays: {unpack(key, arrays): unpack(part, arrays) for key, part in value["parts"]},
    "objects": _objects,
    "record": _record,
    "student": _student,
    "tree": lambda value, arrays: GrownTree(*_parts(value, arrays)),
    "tuple": lambda value, arrays: tuple(_parts(value, arrays)),
}
