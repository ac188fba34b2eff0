"""The base class of private estimators: a fit is priced and charged first, and only then is data read.

A fit is three steps:

    question = self._ask(X, y, groups=groups)      # arguments and schema are checked; no record is read
    loss = ...                                     # from question.price, .domains, .size, .rows: all of it public
    records = question.pay(loss)                   # the charge stands in the book; then the rows are read
    return records.finish(self)                    # the entry that paid is finished, and the fit is a release

Without privacy `question.price` is None and `question.pay(None)` reads the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption
from bruit.core.losses import Loss
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours
from bruit.core.release import Outcome
from bruit.core.seeds import RandomState, seed_of_state
from bruit.errors import InvalidArgument
from bruit.learning.estimator.fitted_model import FittedModel
from bruit.learning.estimator.preparation import unpaid_preparation
from bruit.learning.estimator.public_question import (
    name_of,
    one_column,
    public_classes,
    public_size,
    public_target,
    purchase_of,
    require_columns,
    require_rows,
    require_schema,
)
from bruit.learning.estimator.records import (
    Domains,
    as_array,
    choose_rows,
    encode_classes,
    encode_rows,
    encode_target,
    resolve_domains,
)
from bruit.learning.estimator.unpaid_scores import record_prediction
from bruit.ledger import WITHOUT_PRIVACY, Budget, Charge, Payment, Purchase
from bruit.tables import Domain, Within

E = TypeVar("E", bound="PrivateEstimator")


@dataclass(frozen=True)
class Records:
    """The encoded rows that a fit may use, with its random generator and its charge.

    With domains `values` and `target` hold their integers (class numbers for a classifier); without, the numbers that
    were given, and class numbers all the same. Without privacy there is no charge.
    """

    values: NDArray[Any]
    target: NDArray[Any]
    classes: NDArray[Any]
    rng: np.random.Generator
    charge: Charge | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def finish(self, estimator: E) -> E:
        """Closes the ledger entry of a fit with the fitted estimator as its release, and returns the estimator.

        Only now does the estimator have a guarantee: a fit that was interrupted leaves numbers of an earlier one.
        """
        if self.charge is not None:
            outcome = Outcome(value=estimator, method=type(estimator).__name__, details=self.details)
            estimator.guarantee_ = self.charge.guarantee
            estimator._keep_release(self.charge.finish(outcome))
        return estimator


@dataclass(frozen=True)
class FitRequest:
    """The public specification of a fit, checked before any record is read.

    purchase what is bought, None without privacy    domains  one for each column, None where they are read from data
    classes  the public labels, or None              target   the public bounds of what is predicted, or None
    size     the public number of rows, or None      rows     the most rows of one person that count
    trusts   what must be assumed of the steps that prepared the rows
    """

    estimator: Any
    X: Any
    y: Any
    groups: Any
    purchase: Purchase | None
    domains: tuple[Domain, ...] | None
    classes: NDArray[Any] | None
    target: Within | None
    size: int | None
    rows: int
    trusts: tuple[Assumption, ...] = ()

    @property
    def what(self) -> str:
        """The name of the charge in the ledger's book."""
        return name_of(self.estimator)

    @property
    def price(self) -> Budget | None:
        """The budget, None without privacy."""
        return None if self.purchase is None else self.purchase.price

    @property
    def neighbours(self) -> Neighbours:
        """The neighbouring relation of the ledger's book (add-or-remove without privacy)."""
        return ADD_OR_REMOVE_ONE if self.price is None else self.price.neighbours

    @property
    def exchanged(self) -> bool:
        """Whether neighbouring tables replace one person by another, so that two people's rows differ."""
        return self.neighbours is REPLACE_ONE

    @property
    def rows_changed(self) -> int:
        """How many rows differ between neighbouring tables: one person's, or two people's under replacement."""
        return self.rows * (2 if self.exchanged else 1)

    @property
    def certain_size(self) -> int | None:
        """The number of rows that count, where no record can change it (none dropped, size not stated); else None.

        A stated size may be wrong, and rows whose cells are missing do not count: with either the number is noised.
        """
        bounds = (*(self.domains or ()), *(() if self.target is None else (self.target,)))
        drops = self.classes is not None or any(_drops(each) for each in bounds)
        return None if drops or self.estimator_size is not None else self.size

    def pay(self, loss: Loss | None, *, assumes: Iterable[Assumption] = ()) -> Records:
        """Commits the charge and only then reads the rows; what an earlier fit promised holds no more."""
        charge = self._charge(loss, assumes)
        self.estimator._release = self.estimator.guarantee_ = None
        if charge is not None:
            del self.estimator.guarantee_
        source = seed_of_state(self.estimator.random_state).stream() if charge is None else charge.stream()
        return replace(self._read_rows(source), charge=charge, details={} if charge is None else self._details)

    def _charge(self, loss: Loss | None, assumes: Iterable[Assumption]) -> Charge | None:
        """The charge; by concentrated privacy where a basic book has no price for the noise of a vector.

        A vector that one person moves in many places has no dominating pair that is proved, but a rho that is.
        """
        if self.purchase is None:
            return None
        if loss is None:
            raise InvalidArgument(f"{self.what} has a budget but states no loss: nothing is read that is not paid for")
        public = self.estimator_size is not None and self.neighbours is ADD_OR_REMOVE_ONE
        told = (*assumes, *self.trusts, *((Assumption.PUBLIC_SIZE,) if public else ()))
        return self.purchase.pay(loss, assumes=told, otherwise="zcdp")

    @property
    def _details(self) -> dict[str, Any]:
        """What the release of a fit tells beside the model: public numbers."""
        return {"features": self.estimator.n_features_in_, "size": self.size, "rows_per_person": self.rows}

    @property
    def estimator_size(self) -> int | None:
        """The number of rows that the caller stated as `size`, or None."""
        return getattr(self.estimator, "size", None)

    def _read_rows(self, source: np.random.Generator) -> Records:
        if self.domains is None:
            return self._read_numbers(source)
        values, kept = encode_rows(self.X, self.domains)
        target, classes = np.zeros(len(values), np.int64), self.classes
        if self.classes is not None:
            target, known = encode_classes(self.y, self.classes)
            kept &= known
        elif self.target is not None:
            target, known = encode_target(self.y, self.target)
            kept &= known
        elif self.y is not None and self.price is None:
            classes, target = _read_target(self.estimator, self.y)
        kept &= self._counting_rows(kept, source)
        found = np.empty(0) if classes is None else classes
        return Records(values[kept], target[kept], found, source)

    def _counting_rows(self, kept: NDArray[np.bool_], source: np.random.Generator) -> NDArray[np.bool_]:
        """Which rows count within the bound per person; a dropped row takes nobody's place."""
        counted = kept.copy()
        if self.groups is not None:
            people = as_array(self.groups)[kept]
            counted[kept] = choose_rows(people, self.rows, rng=source)
        return counted

    def _read_numbers(self, source: np.random.Generator) -> Records:
        """Rows as scikit-learn reads them, for the exact algorithm without a domain."""
        if not (is_classifier(self.estimator) or is_regressor(self.estimator)):
            values = validate_data(self.estimator, self.X, dtype=np.float64, ensure_min_samples=self._least_rows)
            return Records(values, np.zeros(len(values), np.int64), np.empty(0), source)
        numeric = is_regressor(self.estimator)
        values, y = validate_data(
            self.estimator, self.X, self.y, dtype=np.float64, y_numeric=numeric, ensure_min_samples=self._least_rows
        )
        check_consistent_length(values, self.groups)
        kept, classes = np.ones(len(values), bool), self.classes
        if classes is not None:
            target, kept = encode_classes(y, classes)
        else:
            classes, target = _read_target(self.estimator, y)
        kept = self._counting_rows(kept, source)
        return Records(values[kept], target[kept], classes, source)

    @property
    def _least_rows(self) -> int:
        return int(getattr(self.estimator, "_least_rows", 1))


def _drops(domain: Domain) -> bool:
    """Whether a cell can make its row be dropped."""
    return domain.missing is None if isinstance(domain, Within) else domain.drop_others


class PrivateEstimator(FittedModel):
    """The base class of private estimators; a subclass declares its own parameters, which fitting leaves unchanged.

    domain           what is public about the columns: one domain for all, a sequence, or a mapping by name
    classes, target  what is public about y: the labels of a classifier, `within(...)` of a regressor
    size             the public number of rows, where adding or removing hides it
    rows_per_person  how many rows of one person count where fit is given groups=
    budget           what pays each fit; bruit.WITHOUT_PRIVACY asks for the exact algorithm
    random_state     None is the strong source; with a seed the guarantee says that it was seeded
    """

    domain: Domains | None
    budget: Payment
    random_state: RandomState

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        total = self.domain is not None
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = total
        tags.non_deterministic = self.budget is not WITHOUT_PRIVACY
        return tags

    def _ask(self, X: Any, y: Any = None, *, groups: Any = None) -> FitRequest:
        """The question of a fit: arguments and schema are checked, no record is read."""
        require_rows(X=X, y=y, groups=groups)
        require_columns(groups=groups)
        purchase = purchase_of(self, groups)
        price = None if purchase is None else purchase.price
        trusts = () if price is None else unpaid_preparation(self)
        classes = public_classes(self, price)
        target = public_target(self, price)
        if self.domain is None:
            if price is not None:
                raise InvalidArgument(
                    f"{name_of(self)} with a budget needs domain=: bounds and categories known before seeing the data, "
                    "bruit.tables.within(...) or among(...)"
                )
            domains = None
        else:
            require_schema(self, X, y, reset=True)
            domains = resolve_domains(self.domain, X, self.n_features_in_)
            y = None if y is None or not (is_classifier(self) or is_regressor(self)) else one_column(y)
            check_consistent_length(X, y, groups)
        size = public_size(self, price, X, groups)
        rows = 1 if groups is None else whole(getattr(self, "rows_per_person", 1), "rows_per_person")
        self._domains = domains
        return FitRequest(self, X, y, groups, purchase, domains, classes, target, size, rows, trusts)

    def _encode(self, X: Any) -> NDArray[Any]:
        """Rows to predict for: integers of the domains, or the numbers themselves where there are none.

        Every row gets an answer: a value that its domain drops takes the middle of the bounds or the first category.
        """
        check_is_fitted(self)
        require_rows(X=X)
        record_prediction(self)
        if self._domains is None:
            return np.asarray(validate_data(self, X, reset=False, dtype=np.float64))
        require_schema(self, X, None, reset=False)
        return encode_rows(X, self._domains)[0]


def _read_target(estimator: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes read from the data and their places, or the numbers to predict: without privacy only."""
    if not is_classifier(estimator):
        return np.empty(0), np.asarray(y, np.float64)
    check_classification_targets(y)
    classes, places = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InvalidArgument("y holds only one class; a classifier needs two")
    return classes, places.astype(np.int64)
