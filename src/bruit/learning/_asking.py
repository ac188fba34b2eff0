"""What a fit states before any record is read, and how it pays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import column_or_1d, validate_data

from bruit.errors import BudgetMissing, InvalidArgument, NeighboursDiffer, NotPrivate, PrivacyError
from bruit.learning._records import as_array, as_rows, is_query
from bruit.ledger import WITHOUT_PRIVACY, Budget, Charge, require
from bruit.privacy import EACH_ROW, LOCAL, REPLACE_ONE, Assumption, Loss
from bruit.randomness import generator, is_strong
from bruit.tables import Within

RandomState = int | np.random.Generator | np.random.RandomState | None


def charged(price: Budget, loss: Loss, *, what: str, assumes: Iterable[Assumption] = ()) -> Charge:
    """The charge of a loss; by concentrated privacy where the book's own accountant has no price for its noise.

    A vector that one person moves in many places has no dominating pair that is proved, but a rho that is.
    """
    try:
        return price.charge(loss, what=what, assumes=assumes)
    except NotPrivate:
        if price.by is not None or price.ledger.terms.by != "basic" or not price.delta:
            raise
        return replace(price, by="zcdp").charge(loss, what=what, assumes=assumes)


def stream(state: RandomState, charge: Charge | None = None) -> np.random.Generator:
    """A stream of this fit's own: the strong source, or one derived from the seed and the entry that paid.

    Clones of a seeded estimator stand in the book under numbers of their own, so that they draw noise of their own.
    """
    if state is None or (isinstance(state, np.random.Generator) and is_strong(state)):
        return generator(None)
    if isinstance(state, np.random.Generator):
        seed = int(state.integers(2**63))
    elif isinstance(state, np.random.RandomState):
        seed = int(state.randint(2**31))
    else:
        seed = whole(state, "random_state", least=0)
    entry = [] if charge is None else [charge.number, *charge.ledger.name.encode()]
    return np.random.default_rng([seed, *entry])


def name_of(estimator: Any) -> str:
    """The name under which the book keeps a charge."""
    return f"learning.{type(estimator).__name__}"


def required_price(estimator: Any, groups: Any) -> Budget | None:
    """The budget, where its book protects the people whose rows are given; None for the exact algorithm."""
    what, budget = name_of(estimator), estimator.budget
    if budget is WITHOUT_PRIVACY:
        return None
    if budget is None:
        raise BudgetMissing(what, exact=True)
    price = require(budget, what)
    if price.neighbours is LOCAL:
        raise NeighboursDiffer(
            f"{what} reads a table behind one curator; the book {price.ledger.name!r} is local, kept by respondents: "
            "use a book for add or remove one, or for replace one"
        )
    if price.epsilon == 0:
        raise InvalidArgument(f"{what}: a price of epsilon=0 buys no answer; give an epsilon above zero")
    if (price.person == EACH_ROW) != (groups is None):
        told = (
            "fit(..., groups=...) says whose row each is" if groups is not None else "each row is a person of its own"
        )
        raise PrivacyError(
            f"{what}: the book {price.ledger.name!r} protects {price.person!r}, but here {told}; "
            "where people have several rows give groups= and a book whose person names them; otherwise neither"
        )
    return price


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
    found = np.unique(np.asarray(stated))
    if len(found) < 2 or len(found) < len(np.asarray(stated)):
        raise InvalidArgument("classes= must list at least two labels, each once")
    return found


def public_target(estimator: Any, price: Budget | None) -> Within | None:
    """The bounds of what a regressor predicts; None where they may be read from the data."""
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
    """The stated size; the number of rows itself without privacy or where only whole rows are exchanged, at least 1."""
    stated = getattr(estimator, "size", None)
    if stated is not None:
        return whole(stated, "size")
    if price is None or (price.neighbours is REPLACE_ONE and groups is None and not price.covers_a_part):
        rows = X.shape[0] if getattr(X, "shape", ()) else len(X) if hasattr(X, "__len__") else 1
        return max(int(rows), 1)
    return None


def whole(value: Any, name: str, *, least: int = 1) -> int:
    """The value, where it is a whole number and not too small."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidArgument(f"{name}={value!r} must be a whole number, at least {least}")
    return int(value)


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


def require_schema(estimator: Any, X: Any, y: Any, *, reset: bool) -> None:
    """Refuses what has not two dimensions or other columns than before; values are not looked at."""
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
    """What is predicted as one column; entries of a list stay as they are, whatever else the list holds."""
    if not hasattr(y, "shape"):
        return as_array(y)
    if getattr(getattr(y, "dtype", None), "kind", "") == "c":
        raise InvalidArgument("Complex data not supported: y must hold labels or real numbers")
    return np.asarray(column_or_1d(y, warn=True))
