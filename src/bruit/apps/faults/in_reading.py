"""Faults in reading a table: types, errors and choices of rows that depend on a record's value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray
from scipy import stats

from bruit import central, tables
from bruit.apps.faults.fault import Done, Fault
from bruit.apps.faults.in_sensitivity import exact
from bruit.central.column_questions import question_about
from bruit.central.questions import Question, measures
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.errors import OutOfDomain, StorageError
from bruit.ledger import Ledger
from bruit.tables.cells.single import read_cell
from bruit.tables.cells.texts import Reading
from bruit.tables.schema import Schema, csv, number

PEOPLE = 300
CONSTANT, HIGH, VISITS = 5, 60, 3
MODULUS = 2**31 - 1


def faults() -> Iterator[Fault]:
    """The planted faults, each beside the same reading done right."""
    story = "A column is read by its type, which one missing value turns from truth values into objects."
    yield Fault("a type that depends on a record", story, "row-level pair", _types, 1, 16)
    story = "A database gives each value in the type of its column, and one value that is none raises an error."
    yield Fault("a query that one record fails", story, "row-level pair", _queries, 1, 16)
    story = "What the engine says of a record that it cannot read is passed on."
    yield Fault("an engine that quotes a record", story, "row-level pair", _messages, 1, 16)
    story = "The centred sum of a person is clamped, and the count apart from it."
    yield Fault("sum and count of different rows", story, "row-level pair", _means, 1, 4)
    story = "An affine hash orders the rows of all people alike, up to a rotation."
    yield Fault("an unfair choice of rows", story, "row-level pair", _choices, 1, 4)
    story = "An engine keeps the person of each row in a column that a table may have too."
    yield Fault("a column taken for the person", story, "row-level pair", _names, 1, 4)
    story = "Numbers of a fine grid are multiplied before they are floored, and leave 64 bits on their way."
    yield Fault("an integer that wraps around", story, "row-level pair", _products, 1, 4)


def _types(done: Done, samples: int, _alarm: float, _rng: np.random.Generator) -> bool:
    """Whether one more row, with no value, moves a sum of ones by more than one."""
    total = _total_by_type if done == "wrong" else _total_by_cell
    return any(abs(total([True] * n) - total([True] * n + [None])) > 1 for n in range(PEOPLE, PEOPLE + samples))


def _total_by_type(values: list[Any]) -> int:
    """The sum when objects are turned into texts and back into numbers; the text 'True' is lost on the way."""
    held = np.array(values)
    found = [str(value) for value in held] if held.dtype == object else held.tolist()
    column = tables.read(polars.DataFrame({"x": found}), person=EACH_ROW)["x"].within(0, 1, grid=1)
    return int(exact(question_about(column.table, measures.total, column))[0])


def _total_by_cell(values: list[Any]) -> int:
    declared, reading = number(0, 1, grid=1), Reading(csv())
    return sum(int(read_cell(value, declared, reading) or 0) for value in np.array(values).tolist())


def _queries(done: Done, samples: int, _alarm: float, rng: np.random.Generator) -> bool:
    """Whether one record decides that there is no answer."""
    read: Callable[[Any], Any] = int if done == "wrong" else _total_of_text
    for _ in range(samples):
        texts = [str(value) for value in rng.integers(0, 10, PEOPLE)]
        if _fails(read, texts) != _fails(read, [*texts, "five"]):
            return True
    return False


def _total_of_text(text: str) -> int:
    return int(read_cell(text, number(0, 10, grid=1), Reading(csv())) or 0)


def _fails(read: Callable[[Any], Any], values: list[str]) -> bool:
    try:
        for value in values:
            read(value)
    except ValueError:
        return True
    return False


def _messages(done: Done, samples: int, _alarm: float, _rng: np.random.Generator) -> bool:
    """Whether what fails after the charge shows the record that it failed on."""
    ask = _collect if done == "wrong" else _count
    for place in range(samples):
        secret = f"record {place}"
        frame = polars.LazyFrame({"x": ["1", secret]}).with_columns(polars.col("x").cast(polars.Int64))
        try:
            ask(frame)
        except (StorageError, polars.exceptions.PolarsError) as error:
            if secret in str(error):
                return True
    return False


def _collect(frame: polars.LazyFrame) -> int:
    return frame.collect().height


def _count(frame: polars.LazyFrame) -> int:
    book = Ledger("readings", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    column = tables.read(frame, person=EACH_ROW)["x"].within(0, 1, grid=1)
    return central.count(column, budget=book.budget(epsilon=1)).value


def _means(done: Done, samples: int, _alarm: float, _rng: np.random.Generator) -> bool:
    """Whether the mean of a constant column is another number, without any noise."""
    for more in range(samples):
        who, days = np.repeat(np.arange(PEOPLE + more), VISITS), np.full((PEOPLE + more) * VISITS, CONSTANT)
        mean = _clamped_mean(who, days) if done == "wrong" else _chosen_mean(who, days)
        if abs(mean - CONSTANT) > 1e-9:
            return True
    return False


def _clamped_mean(who: NDArray[np.int64], days: NDArray[np.int64]) -> float:
    """A mean with each person's centred sum clamped to what one row can reach, and each count to one."""
    middle = HIGH // 2
    sums = np.clip(np.bincount(who, days - middle), -middle, middle)
    return float(middle + sums.sum() / np.minimum(np.bincount(who), 1).sum())


def _chosen_mean(who: NDArray[np.int64], days: NDArray[np.int64]) -> float:
    table = tables.read(polars.DataFrame({"who": who, "days": days}), person="who").limit(rows=1)
    question = question_about(table, measures.mean, table["days"].within(0, HIGH, grid=1))
    above, below = (int(part[0]) for part in question.reader.read(np.random.default_rng(1)).parts)
    return HIGH * above / (above + below)


def _choices(done: Done, samples: int, alarm: float, rng: np.random.Generator) -> bool:
    """Whether of ten values that everybody holds once some are chosen too often for chance."""
    chosen = _affine_choice if done == "wrong" else _fair_choice
    limit = stats.chi2.isf(alarm / samples, 9)
    for _ in range(samples):
        held = chosen(rng)
        expected = held.sum() / 10
        if ((held - expected) ** 2 / expected).sum() > limit:
            return True
    return False


def _affine_choice(rng: np.random.Generator) -> NDArray[np.int64]:
    a, b, c = rng.integers(1, MODULUS, 3)
    hashes = (np.arange(10 * PEOPLE)[:, None] * a % MODULUS + np.arange(10) * b + c) % MODULUS
    return np.bincount(hashes.argmin(1), minlength=10)


def _fair_choice(rng: np.random.Generator) -> NDArray[np.int64]:
    people = 10 * PEOPLE
    frame = polars.DataFrame({"who": np.repeat(np.arange(people), 10), "x": np.tile(np.arange(10), people)})
    table = tables.read(frame, person="who").limit(rows=1)
    question = question_about(table, measures.count, by=(table["x"].within(0, 9, grid=1),))
    return question.reader.read(rng).parts[0]


def _names(done: Done, samples: int, _alarm: float, _rng: np.random.Generator) -> bool:
    """Whether one person more moves the sum of a column by more than its bound; the column is called `person`."""
    total = _total_of_one_name if done == "wrong" else _total_of_two_names
    for more in range(samples):
        who, values = list(range(-PEOPLE - more, 0)), [1] * (PEOPLE + more)
        if abs(total([*who, -(10**12)], [*values, 1]) - total(who, values)) > 1:
            return True
    return False


def _total_of_one_name(who: list[int], values: list[int]) -> int:
    held = {"person": values} | {"person": who}
    return sum(held["person"])


def _total_of_two_names(who: list[int], values: list[int]) -> int:
    column = tables.read(polars.DataFrame({"who": who, "person": values}), person="who").limit(rows=1)["person"]
    stated = column.within(0, 1, grid=1)
    return int(exact(question_about(stated.table, measures.total, stated))[0])


def _products(done: Done, samples: int, _alarm: float, rng: np.random.Generator) -> bool:
    """Whether multiplying a column gives a value outside the bounds from which its sensitivity is computed."""
    factor, high = Fraction("1.2345678901234567"), 10**9
    values = rng.integers(high - PEOPLE, high, PEOPLE * samples)
    if done == "wrong":
        found = values * factor.numerator // factor.denominator
        return bool(((found < 0) | (found > float(factor * high))).any())
    schema = Schema(EACH_ROW, {"x": number(0, high, grid=1)})
    plan = tables.open_table(polars.DataFrame({"x": values}), schema)
    try:
        floored = (plan["x"] * factor).floor()
    except OutOfDomain:
        return False
    total = Question(plan, {"sum": measures.total(floored)}).reader.read(rng).parts[0][0]
    return not 0 <= total <= len(values) * factor * high
