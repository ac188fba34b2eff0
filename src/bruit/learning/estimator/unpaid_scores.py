"""Tracks which models of a ledger have predicted, so that choosing a model by unpaid scores shows in the guarantee.

Scores of fitted models on protected rows are exact numbers about those rows: who chooses by them tells of the rows by
the choice, whatever each fit cost. This process cannot see what becomes of a prediction, so it remembers that it was
made. Once a fit that a book paid has predicted, it and every other fit of that book that may be for the same task say
`no choice by unpaid scores` among what their guarantees assume, those that never predicted too: a second may be there
because the first scored badly, and the first be kept because it did not. So does a fit whose estimator left for another
process before it was fitted. Choices that are paid for (`select`, `PrivateSearch`) and paid figures (`evaluate`) are
not remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_clusterer, is_regressor

from bruit.core.guarantee import Assumption, Guarantee
from bruit.ledger import Budget


@dataclass(frozen=True)
class Task:
    """The identity of a book, and what is predicted: some of these labels (any, where none are stated), or a kind."""

    book: str
    kind: str
    labels: frozenset[str] = frozenset()

    def may_be(self, other: Task) -> bool:
        """Whether a user may choose between models of both: bounds are a setting, and so are labels beside others."""
        shared = not self.labels or not other.labels or bool(self.labels & other.labels)
        return self.book == other.book and self.kind == other.kind and shared


ELSEWHERE = -1
"""Stands for fits of another process."""

_FITTED: dict[Task, set[int]] = {}
_PREDICTED: dict[Task, set[int]] = {}
"""The ledger entries of a task's fits, and of those that have predicted."""

_RECORDING: ContextVar[bool] = ContextVar("recording", default=True)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Suspends the tracking of predictions while the context is open, for scores that are paid for."""
    token = _RECORDING.set(False)
    try:
        yield
    finally:
        _RECORDING.reset(token)


def record_fit(estimator: object) -> None:
    """Remembers a paid fit."""
    _record(_FITTED, estimator, _number(estimator))


def record_prediction(estimator: object) -> None:
    """Remembers that a paid fit has predicted."""
    if _RECORDING.get():
        _record(_PREDICTED, estimator, _number(estimator))


def record_departure(estimator: Any) -> None:
    """Records that an estimator with its budget was sent to another process, where it may be fitted and scored."""
    _record(_PREDICTED, estimator, ELSEWHERE)


def mark_choice(guarantee: Guarantee, estimator: Any) -> Guarantee:
    """The guarantee, with an assumption added where the model may have been chosen by unpaid scores."""
    task = _task(estimator)
    if task is None or Assumption.UNPAID_SCORES in guarantee.assumes:
        return guarantee
    fitted, predicted = (
        {number for other, numbers in kept.items() if task.may_be(other) for number in numbers}
        for kept in (_FITTED, _PREDICTED)
    )
    if not predicted or fitted | predicted == {_number(estimator)}:
        return guarantee
    return replace(guarantee, assumes=(*guarantee.assumes, Assumption.UNPAID_SCORES))


def _record(kept: dict[Task, set[int]], estimator: object, number: int | None) -> None:
    task = _task(estimator)
    if task is not None and number is not None:
        kept.setdefault(task, set()).add(number)


def _number(estimator: object) -> int | None:
    """The number of the ledger entry that paid for the fit; None before one."""
    release = getattr(estimator, "_release", None)
    return None if release is None or release.receipt is None else int(release.receipt.number)


def _task(estimator: Any) -> Task | None:
    """The book that paid or will pay, and what is predicted (coordinates, where it is no label and no number)."""
    release = getattr(estimator, "_release", None)
    if release is not None and release.receipt is not None:
        book = release.receipt.identity
    elif isinstance(estimator.budget, Budget):
        book = estimator.budget.ledger.book.identity
    else:
        return None
    if is_classifier(estimator):
        stated = getattr(estimator, "classes", None)
        labels = [] if stated is None else np.asarray(stated).reshape(-1).tolist()
        return Task(book, "classes", frozenset(map(str, labels)))
    if is_clusterer(estimator):
        return Task(book, "clusters")
    return Task(book, "numbers" if is_regressor(estimator) else "coordinates")
