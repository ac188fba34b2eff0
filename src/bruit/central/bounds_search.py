"""A paid search for the bounds of a column, over powers of two, for callers who do not know them."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from bruit.central.column_questions import ANSWER, Integers, question_about
from bruit.central.questions import measures
from bruit.central.questions.asking import Question
from bruit.channels import IntegerNoise
from bruit.core.arguments import confidence as checked_confidence
from bruit.core.numbers import Exact, exactly
from bruit.core.release import Outcome, Release
from bruit.errors import OutOfDomain
from bruit.ledger import Budget, ask
from bruit.mechanisms import Mechanism, asked, buy_integers, send_array
from bruit.tables import Column, UndeclaredColumn
from bruit.tables.expressions.nodes import Constant, If, IsMissing, Node
from bruit.tables.plan.expressions import Expression
from bruit.tables.plan.kinds import Labels


def bounds(
    column: UndeclaredColumn,
    *,
    largest: Exact,
    grid: Exact,
    budget: Budget | None,
    confidence: float = 0.99,
    rng: np.random.Generator | None = None,
) -> Release[NDArray[np.float64]]:
    """Estimated low and high bounds, each zero or a power of two times `grid`, that enclose most values.

    Rows are counted by magnitude: 0, [1, 2), [2, 4), ... steps of the grid up to `largest`, which must be known
    beforehand, and the same below zero. Every count gets its noise; the bounds enclose the magnitudes whose noisy count
    reaches a threshold that all the empty ones stay below at the stated confidence.              [Wilson et al. 2020]

    The price is that of one histogram. Where nothing reaches the threshold all is enclosed, and `details` says so.
    """
    purchase = ask(budget, what="central.bounds", person=column.table.person, rng=rng)
    mechanism = bounds_mechanism(column, purchase.price, largest=largest, grid=grid, confidence=confidence)
    return mechanism.release(purchase)


def bounds_mechanism(
    column: UndeclaredColumn, price: Budget, *, largest: Exact, grid: Exact, confidence: float = 0.99
) -> Mechanism[Integers, NDArray[np.float64]]:
    """The mechanism of `bounds`: noisy counts by magnitude, of which those above a threshold set the bounds."""
    confidence = checked_confidence(confidence)
    searched = searched_column(column, largest, grid)
    question = magnitude_counts(searched)
    moved = question.sensitivity(ANSWER, price.neighbours)
    noise = buy_integers(price, l1=moved.l1, l2_squared=moved.l2_squared, entries=moved.entries)
    least = least_count(noise, question.groups or 1, confidence)
    details = {"threshold": least, "confidence": confidence, **asked(column.table, by=(searched,))}
    reader = question.reader

    def read(rng: np.random.Generator) -> Integers:
        return reader.read(rng).parts[0]

    def send(exact: Integers, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        return np.asarray(send_array(noise)(exact, n, rng) >= least)

    def interpret(shown: NDArray[np.bool_]) -> Outcome[NDArray[np.float64]]:
        return Outcome(
            value=searched.numbers.decode(enclosing(shown)),
            method=f"{type(noise.loss).__name__} by powers of two",
            labels=("low", "high"),
            details={"found": bool(shown.any()), **details},
        )

    return Mechanism("central.bounds", noise.loss, read, send, interpret)


def magnitude_counts(column: Column) -> Question:
    """A question for the number of rows of each magnitude -K, ..., K, where the farther bound has K binary digits.

    The magnitude of a whole number i of steps is 0 for 0, k for 2^(k-1) <= i < 2^k, -k for -i of magnitude k: a sum of
    comparisons, which every engine makes alike.
    """
    most = column.numbers.farthest.bit_length()
    return question_about(column.table, measures.count, by=(column,), key=lambda value: magnitude(value, most))


def magnitude(value: Expression, most: int) -> Expression:
    """The magnitude (signed number of binary digits) of a number, as an expression with 2 most + 1 labels."""
    place: Node = Constant(most)
    one, none = Constant(1), Constant(0)
    for power in range(most):
        place = place + If(value.node >= 2**power, one, none) - If(value.node <= -(2**power), one, none)
    present = If(~IsMissing(value.node), place)
    return Expression(Labels(tuple(map(str, range(-most, most + 1)))), present, f"magnitude of {value.words}")


def searched_column(column: UndeclaredColumn, largest: Exact, grid: Exact) -> Column:
    """The column with symmetric bounds just below the first power of two times `grid` that reaches `largest`."""
    step, most = exactly(grid, "grid"), exactly(largest, "largest")
    if step <= 0 or most < step:
        raise OutOfDomain(f"largest={largest}, grid={grid}: give a grid above zero and the largest value there may be")
    powers = max((ceil(most / step) - 1).bit_length(), 1)
    farthest = step * (2**powers - 1)
    return column.within(-farthest, farthest, grid=step)


def least_count(noise: IntegerNoise, cells: int, confidence: float) -> int:
    """The least t such that the noise of all empty cells stays below t with the given confidence (union bound)."""
    # Both sides of the noise are outside a half-width; only the upper one counts.
    return noise.half_width(1 - min(2 * (1 - confidence) / cells, 0.5)) + 1


def enclosing(shown: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The least and greatest number of grid steps of the magnitudes shown; of all magnitudes where none is shown."""
    most = len(shown) // 2
    places = np.flatnonzero(shown) - most if shown.any() else np.array([-most, most])
    low, high = int(places[0]), int(places[-1])
    near = [2 ** (abs(place) - 1) if place else 0 for place in (low, high)]
    far = [2 * step for step in near]
    if low == high == 0:
        return np.array([0, 1])
    return np.array([-far[0] if low < 0 else near[0], far[1] if high > 0 else -near[1]])
