"""Tracks which models of a ledger have predicted, so that choosing a model by unpaid scores shows in the guarantee.

Scores of fitted models on protected rows are exact numbers about those rows: who chooses by them tells of the rows by
the choice, whatever each fit cost. This process cannot see what becomes of a prediction, so it remembers that it was
made. Once two fits that one book paid for the same task have predicted, or an estimator left for another process before
it was fitted, every model of that book and task says `no choice by unpaid scores` among what its guarantee assumes.
Choices that are paid for (`select`, `PrivateSearch`) and paid figures (`evaluate`) are not remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_clusterer, is_regressor

from bruit.core.guarantee import Assumption, Guarantee
from bruit.ledger import Budget

Task = tuple[str, str]
"""The identity of a book, and what is predicted: the classes, the bounds, or clusters."""

ELSEWHERE = -1
"""Stands for fits of another process."""

_PREDICTED: dict[Task, set[int]] = {}
_RECORDING: ContextVar[bool] = ContextVar("recording", default=True)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Suspends the tracking of predictions while the context is open, for scores that are paid for."""
    token = _RECORDING.set(False)
    try:
        yield
    finally:
        _RECORDING.reset(token)


def record_prediction(estimator: Any) -> None:
    """Remembers that a paid fit has predicted."""
    release, task = getattr(estimator, "_release", None), _task(estimator)
    if _RECORDING.get() and task is not None and release is not None and release.receipt is not None:
        _PREDICTED.setdefault(task, set()).add(release.receipt.number)


def record_departure(estimator: Any) -> None:
    """Records that an estimator with its budget was sent to another process, where it may be fitted and scored."""
    task = _task(estimator)
    if task is not None:
        _PREDICTED.setdefault(task, set()).add(ELSEWHERE)


def mark_choice(guarantee: Guarantee, estimator: Any) -> Guarantee:
    """The guarantee, with an assumption added where models may have been chosen by unpaid scores."""
    task = _task(estimator)
    seen = set() if task is None else _PREDICTED.get(task, set())
    marked = Assumption.UNPAID_SCORES in guarantee.assumes
    if marked or (ELSEWHERE not in seen and len(seen) < 2):
        return guarantee
    return replace(guarantee, assumes=(*guarantee.assumes, Assumption.UNPAID_SCORES))


def _task(estimator: Any) -> Task | None:
    """The book that paid or will pay, and what is predicted; None without a book, or where nothing is predicted."""
    release = getattr(estimator, "_release", None)
    if release is not None and release.receipt is not None:
        book = release.receipt.identity
    elif isinstance(estimator.budget, Budget):
        book = estimator.budget.ledger.book.identity
    else:
        return None
    if is_classifier(estimator):
        stated = getattr(estimator, "classes", None)
        return book, "" if stated is None else repr(sorted(map(str, np.asarray(stated).reshape(-1).tolist())))
    if is_clusterer(estimator):
        return book, "clusters"
    return (book, repr(getattr(estimator, "target", None))) if is_regressor(estimator) else None
