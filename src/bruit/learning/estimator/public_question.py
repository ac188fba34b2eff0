"""The public part of a fit, checked before any record is read: name, budget, classes, target bounds, size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import column_or_1d, validate_data

from bruit.core.arguments import whole
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE
from bruit.errors import InvalidArgument
from bruit.learning.estimator.records import as_array, as_rows, is_query, is_series
from bruit.ledger import Budget, Purchase, ask
from bruit.tables import Within


def name_of(estimator: Any) -> str:
    """The name of an estimator's charges in the ledger's book."""
    return f"learning.{type(estimator).__name__}"


def purchase_of(estimator: Any, groups: Any) -> Purchase | None:
    """The purchase that pays for a fit, for people or for each row; None for the exact algorithm."""
    person = EACH_ROW if groups is None else None
    state = estimator.random_state
    return ask(estimator.budget, what=name_of(estimator), person=person, random_state=state, exact=True)


def public_classes(estimator: Any, price: Budget | None) -> NDArray[Any] | None:
    """The labels of a classifier, sorted; None where they may be read from the data."""
    stated = getattr(estimator, "classes", None)
    if not is_classifier(estimator):
        return None
    if stated is None:
        if price is not None and hasattr(estimator, "_usual_classes"):
            return np.asarray(estimator._usual_classes)
        if price is not None:
            raise InvalidArgument(
                f"{name_of(estimator)} with a budget needs classes=: the labels, known before the data"
            )
        return None
    return _public_labels(stated)


def _public_labels(stated: Any) -> NDArray[Any]:
    """The labels in their order, where they are one list of labels of one kind, each once and none missing."""
    labels = np.asarray(stated)
    if labels.ndim != 1:
        raise InvalidArgument(
            f"classes= must be one list of at least two labels, each once, such as ['no', 'yes']; this is a "
            f"{type(stated).__name__} of the shape {labels.shape}"
        )
    texts = labels.dtype.kind in "US" and not all(isinstance(each, str | bytes) for each in stated)
    if not texts and any(each is None or each != each for each in labels.tolist()):
        raise InvalidArgument("classes= holds a missing value: a row without a label is dropped, and no class")
    try:
        found = np.unique(labels)
    except TypeError:
        texts = True
    if texts:
        raise InvalidArgument("classes= holds labels of several kinds (texts and numbers?): give one kind, as y has it")
    if len(found) < 2 or len(found) < len(labels):
        raise InvalidArgument("classes= must list at least two labels, each once")
    return found


def public_target(estimator: Any, price: Budget | None) -> Within | None:
    """The public bounds of a regressor's target; None where they may be read from the data."""
    stated = getattr(estimator, "target", None)
    if not is_regressor(estimator) or (stated is None and price is None):
        return None
    if not isinstance(stated, Within):
        raise InvalidArgument(
            f"{name_of(estimator)} with a budget needs target=bruit.tables.within(low, high, grid=...): "
            "the bounds of what is predicted, known before the data"
        )
    return stated


def public_size(estimator: Any, price: Budget | None, X: Any, groups: Any) -> int | None:
    """The stated size, or the actual number of rows where that is not private (at least 1), else None."""
    stated = getattr(estimator, "size", None)
    if stated is not None:
        return whole(stated, "size")
    if price is None or (price.neighbours is REPLACE_ONE and groups is None and not price.covers_a_part):
        rows = X.shape[0] if getattr(X, "shape", ()) else len(X) if hasattr(X, "__len__") else 1
        return max(int(rows), 1)
    return None


def require_rows(**given: Any) -> None:
    """Refuses frames that are lazy, before anything is paid.

    X, y and groups belong together row by row, and a query promises no order of its rows; to know how many they are it
    would have to run before the charge.
    """
    for name, data in given.items():
        if is_query(data):
            raise InvalidArgument(
                f"{name} is a lazy frame: its rows have no order in which they belong to y or groups; "
                "give a table in memory, as .collect() of polars makes it"
            )


def require_columns(**given: Any) -> None:
    """Refuses what is not one column, such as one person or one label for each row, before anything is paid."""
    for name, data in given.items():
        if data is None:
            continue
        shape = getattr(data, "shape", None)
        if shape is None and (isinstance(data, str | bytes) or not hasattr(data, "__len__")):
            raise InvalidArgument(f"{name} is {type(data).__name__}, no column: give one entry for each row")
        if shape is not None and (not len(shape) or any(width != 1 for width in shape[1:])):
            raise InvalidArgument(f"{name} has the shape {tuple(shape)}: give one column, one entry for each row")


def require_schema(estimator: Any, X: Any, y: Any, *, reset: bool) -> None:
    """Refuses an X that is not two-dimensional or has other columns than at the fit; values are not read."""
    if not (
        hasattr(X, "shape") or hasattr(X, "__array__") or (isinstance(X, Sequence) and not isinstance(X, str | bytes))
    ):
        raise InvalidArgument(f"X is {type(X).__name__}, no table: give a two-dimensional array or a data frame")
    if hasattr(X, "tocsr"):
        raise InvalidArgument("X is sparse; sparse data is not supported: X must be dense, X.toarray() makes it so")
    shape = getattr(X, "shape", None) or as_rows(X).shape
    if len(shape) != 2 or shape[1] < 1:
        raise InvalidArgument(
            f"X must be a dense table with rows and columns, at least one feature; it has the shape {shape}. "
            "Reshape your data: X.reshape(-1, 1) makes one column"
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise InvalidArgument("Complex data not supported: X must hold real numbers or categories")
    supervised = reset and (is_classifier(estimator) or is_regressor(estimator))
    validate_data(estimator, X, y if supervised else "no_validation", skip_check_array=True, reset=reset)


def one_column(y: Any) -> NDArray[Any]:
    """The target as a one-dimensional array; entries of a list, and of a series, keep their own types."""
    if not hasattr(y, "shape"):
        require_columns(y=y)
        return as_array(y)
    if getattr(getattr(y, "dtype", None), "kind", "") == "c":
        raise InvalidArgument("Complex data not supported: y must hold labels or real numbers")
    return as_array(y) if is_series(y) else np.asarray(column_or_1d(y, warn=True))
