"""k-nearest-neighbour classification with noise on the votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from bruit.core.arguments import whole
from bruit.core.numbers import Exact
from bruit.core.seeds import RandomState
from bruit.errors import InvalidArgument, LedgerError
from bruit.learning.estimator.contract import FitRequest, PrivateEstimator
from bruit.learning.estimator.records import Domains
from bruit.learning.nearest_neighbours.plan import Method, VotePlan, plan_answers
from bruit.learning.nearest_neighbours.query_allowance import STAYS, Allowance
from bruit.learning.nearest_neighbours.space import Space, space_of
from bruit.learning.nearest_neighbours.votes import count_votes
from bruit.ledger import Payment


class Voters:
    """The stored records and labels that vote; without domains their numbers are the coordinates.

    Private records are never written: who would pickle them is refused before the first of them is. Copies share them.
    """

    def __init__(
        self,
        values: NDArray[Any],
        labels: NDArray[np.int64],
        space: Space | None,
        classes: int,
        *,
        private: bool = True,
    ) -> None:
        self.space, self.labels, self.classes, self.private = space, labels, classes, private
        # Around their mean, large numbers lose fewer digits in the product of coordinates.
        self._centre = 0.0 if space is not None else values.mean(axis=0)
        self._records = self.located(values)

    def located(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """The coordinates of encoded rows."""
        return values - self._centre if self.space is None else self.space.coordinates(values)

    def votes(self, values: NDArray[Any], nearest: int) -> NDArray[np.int64]:
        """How many of each query's nearest records have each class, one row per query."""
        return count_votes(self._records, self.labels, self.located(values), nearest=nearest, classes=self.classes)

    def __copy__(self) -> Voters:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Voters:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        if self.private:
            raise LedgerError(STAYS)
        return super().__reduce_ex__(protocol)


class NearestNeighbours(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """k nearest neighbours over public classes, with noise on the votes before the majority class is chosen.

    The budget pays, at the fit, for a number of questions fixed beforehand: `queries` shares it among so many,
    `per_query` buys as many of that epsilon as it holds. `predict` takes one question a row from those left and
    refuses more. A fitted model holds the records, so it stays with the curator; only its answers may leave.

    n_neighbors   the noise does not grow with k and the votes do: a private vote wants many voters
    method        "permute-and-flip" (pure), "laplace", "gaussian" (needs a delta; best for many questions),
                  "document" (noise 1/epsilon a question, charged at the 2 epsilon that it costs), or "auto"
    weights       public numbers, one a column: how much its width counts in a distance
    classes, domain, rows_per_person, budget, random_state    as in every estimator here

    One record exchanges at most one voter: l1 sensitivity 2, l2 sqrt(2), under both neighbours.  [docs/neighbours.md]
    """

    def __init__(
        self,
        n_neighbors: int = 101,
        *,
        queries: int | None = None,
        per_query: Exact | None = None,
        method: Method = "auto",
        domain: Domains | None = None,
        classes: ArrayLike | None = None,
        weights: Sequence[float] | None = None,
        rows_per_person: int = 1,
        budget: Payment = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.queries = queries
        self.per_query = per_query
        self.method = method
        self.domain = domain
        self.classes = classes
        self.weights = weights
        self.rows_per_person = rows_per_person
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> NearestNeighbours:
        """Pays for the queries, then stores the records."""
        require_labels(self, y)
        question = self._ask(X, y, groups=groups)
        voters = whole(self.n_neighbors, "n_neighbors")
        space = question_space(question, self.weights)
        plan: VotePlan | None = None
        if question.price is not None:
            plan = plan_answers(
                question.price, self.method, queries=self.queries, per_query=self.per_query, rows=question.rows
            )
        records = question.pay(None if plan is None else plan.loss)
        self.classes_ = records.classes
        self._plan, self._nearest = plan, voters
        self._voters = Voters(records.values, records.target, space, len(records.classes), private=plan is not None)
        self._allowance = None if plan is None else Allowance(plan.queries, records.rng)
        return records.finish(self)

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of each row; every row uses one of the paid queries."""
        values = self._encode(X)
        if self._plan is None or self._allowance is None:
            return np.asarray(self.classes_[self._voters.votes(values, self._nearest).argmax(axis=1)])
        with self._allowance.spend(len(values)) as rng:
            votes = self._voters.votes(values, self._nearest)
            return np.asarray(self.classes_[self._plan.answers(votes, rng=rng)])

    @property
    def queries_left_(self) -> int | None:
        """How many paid queries are left; None without privacy, where there is no limit."""
        return None if self._allowance is None else self._allowance.left


def require_labels(estimator: Any, y: Any) -> None:
    """Refuses a fit without labels, with the error message that scikit-learn expects."""
    if y is None:
        raise InvalidArgument(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: give one label a row"
        )


def question_space(question: FitRequest, weights: Sequence[float] | None) -> Space | None:
    """The coordinate space of the public domains, or None without domains."""
    if question.domains is not None:
        return space_of(question.domains, weights)
    if weights is not None:
        raise InvalidArgument("weights= scale the columns of a domain: give domain=, or scale the numbers yourself")
    return None
