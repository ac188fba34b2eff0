"""Refuses a fit in a pipeline where an earlier step learns from protected rows outside the budget.

A scaler's means, an imputer's medians or a list of categories read from the rows are exact statistics of them, and the
model behind would still print its own ε. scikit-learn hands a fit nothing but the prepared rows, so the pipelines that
are running are looked up on the call stack.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, Pipeline

from bruit.errors import PrivacyError
from bruit.ledger import WITHOUT_PRIVACY

FREE = ("DomainEncoder", "FrozenEstimator", "PolynomialFeatures")
"""Steps that read the columns' names and number and nothing else, or were fitted before."""

STATED_CATEGORIES = ("OneHotEncoder", "OrdinalEncoder")


def require_paid_preparation(estimator: Any) -> None:
    """Raises PrivacyError where an earlier pipeline step learns from rows without paying."""
    for name, step in _steps_before(estimator):
        if learns_unpaid(step):
            raise PrivacyError(
                f"the step {name!r} ({type(step).__name__}) learns from the rows outside the budget, and what it "
                f"learns is told by every prediction: {type(estimator).__name__} would promise too much. Leave it out: "
                "domain= scales, encodes and fills in from what is public. Or use learning.DomainEncoder, or "
                "sklearn.frozen.FrozenEstimator around a step that was fitted on public rows"
            )


def learns_unpaid(step: Any) -> bool:
    """Whether fitting a transformer learns more from the rows than their columns, without paying."""
    if step is None or isinstance(step, str):
        return False
    if isinstance(step, Pipeline):
        return any(learns_unpaid(each) for _, each in step.steps)
    if isinstance(step, FeatureUnion):
        return any(learns_unpaid(each) for _, each in step.transformer_list)
    if isinstance(step, ColumnTransformer):
        return learns_unpaid(step.remainder) or any(learns_unpaid(each) for _, each, _ in step.transformers)
    return not (_is_paid(step) or _takes_nothing(step))


def _is_paid(step: Any) -> bool:
    """Whether a step spends from a book by itself."""
    return hasattr(step, "budget") and hasattr(step, "_stays_behind") and step.budget is not WITHOUT_PRIVACY


def _takes_nothing(step: Any) -> bool:
    """Whether a step keeps nothing of the rows: stateless, frozen, or with everything stated beforehand."""
    name = type(step).__name__
    if name in FREE or not step.__sklearn_tags__().requires_fit:
        return True
    if name in STATED_CATEGORIES:
        counts = step.min_frequency is not None or step.max_categories is not None  # how often each occurs
        return not (isinstance(step.categories, str) or step.handle_unknown == "error" or counts)
    if name == "SimpleImputer":
        return bool(step.strategy == "constant" and step.keep_empty_features and not step.add_indicator)
    return False


def _steps_before(estimator: Any) -> Iterator[tuple[str, Any]]:
    """The steps that prepared the rows of this fit: those before it in every pipeline that is being fitted."""
    for owner in _owners():
        if isinstance(owner, TransformedTargetRegressor):
            yield "transformer", owner.transformer
        else:
            yield from _earlier(owner.steps, estimator)


def _earlier(steps: list[tuple[str, Any]], estimator: Any) -> Iterator[tuple[str, Any]]:
    """The steps before the one that is, or holds, the estimator; all but the last where none is."""
    places = [place for place, (_, step) in enumerate(steps) if step is estimator]
    yield from steps[: places[0] if places else len(steps) - 1]


def _owners() -> Iterator[Any]:
    """The pipelines on the call stack."""
    frame = inspect.currentframe()
    seen: set[int] = set()
    while frame is not None:
        owner = frame.f_locals.get("self")
        if isinstance(owner, Pipeline | TransformedTargetRegressor) and id(owner) not in seen:
            seen.add(id(owner))
            yield owner
        frame = frame.f_back
