"""A scikit-learn hyperparameter search whose choice is paid for: only the best setting is released."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bruit.core.guarantee import Guarantee
from bruit.core.neighbours import EACH_ROW
from bruit.core.seeds import RandomState
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import PrivateEstimator
from bruit.learning.selection.selecting import Choice, Selection
from bruit.ledger import Payment, Quote, ask
from bruit.ledger.best_of_runs import Stopping

WHAT = "learning.PrivateSearch"


def _best_has(name: str) -> Any:
    """Whether the estimator that was searched over has a method."""
    return available_if(lambda self: hasattr(getattr(self, "best_estimator_", self.estimator), name))


class PrivateSearch(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Searches the parameters of a private estimator as GridSearchCV does, and pays for the choice.

    Settings are drawn at random and tried, `tries` times on average; the fitted model that scored best, with noise, on
    people held back is `best_estimator_`. The price of the whole is known before the first fit, `quote()`, and is what
    the book shows after. `cv_results_` lists the settings and which was chosen, and no score of any other.

    estimator    an estimator of bruit.learning; its own budget is not used
    param_grid   settings to try, as for GridSearchCV
    budget       pays for everything: pure, with a delta, or in a book by "zcdp" or ("rdp", order)
    tries        the expected number of runs; twice the number of settings unless given
    stopping     "geometric": three runs are paid; "logarithmic": two, and more often there is only one run
    held_parts   one of so many parts of the people is held back for the score
                                              [Liu & Talwar 2019; Papernot & Steinke 2022; docs/choosing.md]
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        budget: Payment = None,
        tries: int | None = None,
        stopping: Stopping = "geometric",
        held_parts: int = 4,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.budget = budget
        self.tries = tries
        self.stopping = stopping
        self.held_parts = held_parts
        self.random_state = random_state

    def quote(self, *, several_rows: bool = False) -> Quote:
        """The guarantee and the cost of the search, before anything is fitted or charged.

        `several_rows` says that fit will be given groups=.
        """
        return self._choice(None if several_rows else EACH_ROW).quote()

    def fit(self, X: Any, y: Any, groups: Any = None) -> PrivateSearch:
        """Pays for the search, then runs it; `groups` names the person behind each row if people have several rows."""
        choice = self._choice(EACH_ROW if groups is None else None)
        self._selection: Selection = choice.make(X, y, groups)
        self.best_estimator_ = self._selection.estimator
        self.best_index_ = self._selection.candidate
        self.best_params_ = self._settings[self.best_index_]
        self.best_score_ = self._selection.score
        self.n_features_in_ = self.best_estimator_.n_features_in_
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.cv_results_ = self._results()
        return self

    @property
    def release_(self) -> Selection:
        """The choice as a `Selection`, whose value is the chosen model."""
        check_is_fitted(self)
        return self._selection

    @property
    def guarantee_(self) -> Guarantee | None:
        """The privacy guarantee of the whole search."""
        check_is_fitted(self)
        found: Guarantee | None = self.best_estimator_.guarantee_
        return found

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of the chosen model."""
        return np.asarray(self.best_estimator_.classes_)

    @property
    def _settings(self) -> list[dict[str, Any]]:
        return list(ParameterGrid(self.param_grid))

    def _choice(self, person: str | None) -> Choice:
        if not isinstance(self.estimator, PrivateEstimator):
            raise InvalidArgument(
                f"{WHAT} searches settings of an estimator of bruit.learning, not of {type(self.estimator).__name__}; "
                "steps that prepare the rows stand before it: make_pipeline(step, PrivateSearch(model, ...))"
            )
        if any({"budget", "random_state"} & set(setting) for setting in self._settings):
            raise InvalidArgument(f"{WHAT}: param_grid holds settings of the model, not its budget or its random_state")
        candidates = [clone(self.estimator).set_params(**setting) for setting in self._settings]
        purchase = ask(self.budget, what=WHAT, person=person, random_state=self.random_state)
        asked: dict[str, Any] = {"tries": self.tries, "stopping": self.stopping, "held_parts": self.held_parts}
        return Choice.of(purchase, candidates, **asked)

    def _results(self) -> dict[str, Any]:
        """The settings as scikit-learn lists them, and which of them was chosen."""
        settings = self._settings
        names = sorted({name for setting in settings for name in setting})
        columns: dict[str, Any] = {}
        for name in names:
            column = np.ma.MaskedArray(np.empty(len(settings), object), mask=True)
            for place, setting in enumerate(settings):
                if name in setting:
                    column[place] = setting[name]
            columns[f"param_{name}"] = column
        chosen = np.arange(len(settings)) == self.best_index_
        return {**columns, "params": settings, "chosen": chosen, "rank_test_score": np.where(chosen, 1, 2)}

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), self.estimator.__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags, tags.regressor_tags = (
            inner.estimator_type,
            inner.classifier_tags,
            inner.regressor_tags,
        )
        tags.target_tags, tags.input_tags, tags.non_deterministic = inner.target_tags, inner.input_tags, True
        return tags

    @_best_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """What the chosen model predicts."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict(X))

    @_best_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The class probabilities of the chosen model."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict_proba(X))

    @_best_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The decision function of the chosen model."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.decision_function(X))

    @_best_has("score")  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any) -> float:
        """The score of the chosen model; on private rows it is not private, and for the curator only."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y))

    def __getstate__(self) -> dict[str, Any]:
        """The pickled state, which after a fit leaves out the ledger and the seed, those of its estimator too."""
        state: dict[str, Any] = super().__getstate__()
        if "best_estimator_" not in state:
            return state
        bare = clone(self.estimator).set_params(**dict.fromkeys(self.estimator._stays_behind))
        return {**state, "budget": None, "random_state": None, "estimator": bare}
