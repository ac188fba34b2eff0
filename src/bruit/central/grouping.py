"""Counts and sums by group, with groups declared beforehand or discovered in the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.central.column_questions import (
    ANSWER,
    Integers,
    buy_answer,
    integers_mechanism,
    question_about,
)
from bruit.central.histograms import histogram, labels_of
from bruit.central.questions import measures
from bruit.central.questions.noises import PricedNoise, Threshold
from bruit.central.questions.pricing import Prepared
from bruit.channels import IntegerNoise
from bruit.core.intervals import Covers, Interval
from bruit.core.release import Outcome, Release
from bruit.ledger import Budget, ask
from bruit.mechanisms import Mechanism, asked, send_array, the_table
from bruit.tables import Column, Table, UndeclaredColumn
from bruit.tables.plan.reading import ExactIntegers


def group_by(
    by: Column | UndeclaredColumn,
    *,
    values: Column | None = None,
    budget: Budget | None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[NDArray[np.float64]] | Release[NDArray[np.int64]]:
    """Noisy counts, or sums of `values`, by group.

    The groups are those that the column's domain declares; a column without a domain gives the groups that are found,
    of which only those with a noisy number of people above a threshold are shown, at the price of a delta.
    """
    if isinstance(by, Column) and values is None:
        return histogram(by, budget=budget, confidence=confidence, rng=rng)
    purchase = ask(budget, what="central.group_by", person=by.table.person, rng=rng)
    if isinstance(by, UndeclaredColumn):
        return found_groups_mechanism(by, purchase.price, values=values, confidence=confidence).release(purchase)
    assert values is not None
    return group_sums_mechanism(by, values, purchase.price, confidence=confidence).release(purchase)


def group_sums_mechanism(
    by: Column, values: Column, price: Budget, *, confidence: float = 0.95
) -> Mechanism[Integers, NDArray[np.float64]]:
    """The mechanism for sums by declared group, with the integer noise that a budget pays for."""
    table, domain = the_table(by, values), values.numbers
    question = question_about(table, measures.total, values, by=(by,), confidence=confidence)
    bought = buy_answer(question, price)
    width = bought.noise.half_width(question.confidence) * float(domain.grid)
    labels, details = labels_of(question), asked(table, values, by=(by,))

    def interpret(row: Integers) -> Outcome[NDArray[np.float64]]:
        noisy = domain.decode(row[0])
        return Outcome(
            value=noisy,
            method=type(bought.noise.loss).__name__,
            labels=labels,
            interval=Interval(noisy - width, noisy + width, question.confidence, Covers.TABLE),
            noise=width,
            details=details,
        )

    return integers_mechanism("central.group_by", question, bought, interpret)


def found_groups_mechanism(
    column: UndeclaredColumn, price: Budget, *, values: Column | None = None, confidence: float = 0.95
) -> Mechanism[ExactIntegers, NDArray[Any]]:
    """The mechanism for groups discovered in the data: only those whose noisy number of people reaches a threshold.

    Where nobody has two rows in a group, the numbers of people are those of the rows and all of the price is theirs;
    elsewhere half of it pays for the counts, or the sums, of the groups that are shown. An output is one tuple of the
    groups shown, each with its noisy numbers.
    """
    summed = () if values is None else (values,)
    table = the_table(column, *summed)
    measure = measures.total if summed else measures.people if _once(table) else measures.count
    question = question_about(table, measure, *summed, by=(column,), confidence=confidence)
    prepared = Prepared.of(question, price)
    shown_by, paid = prepared.levels[0].threshold, prepared.levels[0].bought.get(ANSWER)
    assert shown_by is not None
    noise = paid.noise if isinstance(paid, PricedNoise) else None
    grid = 1.0 if values is None else float(values.numbers.grid)
    width = (noise or shown_by.noise).half_width(question.confidence) * grid
    details = {"threshold": shown_by.least, **asked(table, *summed, by=(column,))}

    def interpret(output: NDArray[Any]) -> Outcome[NDArray[Any]]:
        labels, noisy, people = zip(*output[0], strict=True) if output[0] else ((), (), ())
        value = np.array(noisy, np.int64) if values is None else np.array(noisy, np.float64) * grid
        least = 0 if values is None else -np.inf
        low, high = (np.maximum(value + side, least).astype(np.float64) for side in (-width, width))
        return Outcome(
            value=value,
            method="threshold",
            labels=tuple(labels),
            interval=Interval(low, high, question.confidence, Covers.TABLE),
            noise=float(width),
            details={"people": list(people), **details},
        )

    return Mechanism("central.group_by", prepared.loss, question.reader.read, _send_shown(shown_by, noise), interpret)


def _send_shown(
    shown_by: Threshold, noise: IntegerNoise | None
) -> Callable[[ExactIntegers, int, np.random.Generator], NDArray[Any]]:
    """The channel of found groups: noisy numbers of people, and of groups that reach the threshold what was paid."""

    def send(exact: ExactIntegers, n: int, rng: np.random.Generator) -> NDArray[Any]:
        outputs, labels = np.empty((n, 1), object), [texts[0] for _, texts in exact.found or ()]
        for place, people in enumerate(send_array(shown_by.noise)(exact.parts[0], n, rng)):
            shown = np.flatnonzero(people >= shown_by.least)
            noisy = people[shown] if noise is None else noise.send(exact.parts[1][shown], rng)
            names = [labels[i] for i in shown]
            outputs[place, 0] = tuple(zip(names, noisy.tolist(), people[shown].tolist(), strict=True))
        return outputs

    return send


def _once(table: Table) -> bool:
    """Whether no person has two rows in a group."""
    limit = table.bounds
    return limit is None or 1 in (limit.rows, limit.each)
