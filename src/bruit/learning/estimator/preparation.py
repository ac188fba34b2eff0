"""Refuses a fit whose rows an earlier step prepared by learning from protected rows outside the budget.

A scaler's means, an imputer's medians or a list of categories read from the rows are exact statistics of them, and the
model behind would still print its own ε. scikit-learn hands a fit nothing but the prepared rows, so what prepared them
is looked up on the call stack. What learns is refused; what cannot be seen is marked in the guarantee: a function that
may look at several rows, a step that was fitted before, an ensemble that divides, relabels or weighs rows by itself,
whatever called a worker of joblib in another thread or process, and folds, of which one more row moves the borders.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.pipeline import FeatureUnion, Pipeline

from bruit.core.guarantee import Assumption
from bruit.errors import PrivacyError
from bruit.ledger import WITHOUT_PRIVACY

FREE = ("DomainEncoder", "FrozenEstimator", "PolynomialFeatures")
"""Steps that read the columns' names and number and nothing else, or were fitted before."""

STATED_CATEGORIES = ("OneHotEncoder", "OrdinalEncoder")

CHOOSERS = ("SelectFromModel", "RFE")
"""Steps that keep the columns which a model of theirs weighs most: post-processing of that model."""

HARMLESS = ("compose", "feature_selection", "frozen", "model_selection", "multioutput", "pipeline")
"""Modules of scikit-learn that hand on rows as they are, or in folds whose scores are tracked by themselves."""

ENSEMBLES = ("calibration", "ensemble", "multiclass", "semi_supervised")
"""Modules of scikit-learn that divide, weigh or relabel rows; their workers may run without the ensemble."""

FOLDS = ("sklearn.model_selection._validation", "sklearn.model_selection._classification_threshold")
"""Modules that fit to some of the rows; which of them may hang on the number of rows and on the labels of others."""

BUILT_IN = frozenset({"sklearn", "bruit"})


def unpaid_preparation(estimator: object) -> tuple[Assumption, ...]:
    """What the guarantee of a fit must assume of the steps before it; PrivacyError where one learns without paying."""
    frames = list(_frames())
    trusted = any(map(_hides_rows, frames))
    for owner, inner in _owners(frames, estimator):
        steps = list(_steps_before(owner, inner))
        for name, step in steps:
            if learns_unpaid(step):
                raise PrivacyError(
                    f"the step {name!r} ({type(step).__name__}) learns from the rows outside the budget, and what it "
                    f"learns is told by every prediction: {type(estimator).__name__} would promise too much. Leave it "
                    "out: domain= scales, encodes and fills in from what is public. Or use learning.DomainEncoder, or "
                    "sklearn.frozen.FrozenEstimator around a step that was fitted on public rows"
                )
        if getattr(owner, "bootstrap", False):
            raise PrivacyError(
                f"{type(owner).__name__} draws rows with replacement: a row that is drawn k times would be hidden by k "
                f"times the ε that {type(estimator).__name__} states. Give it bootstrap=False, or use learning.Forest"
            )
        trusted |= any(_is_trusted(step) for _, step in steps) or _rearranges(owner)
    return (Assumption.UNPAID_PREPARATION,) if trusted else ()


def learns_unpaid(step: Any) -> bool:
    """Whether fitting a transformer learns more from the rows than their columns, without paying."""
    if step is None or isinstance(step, str):
        return False
    if _is_container(step):
        return any(map(learns_unpaid, _parts(step)))
    return not (_is_paid(step) or _takes_nothing(step))


def _is_container(step: object) -> bool:
    return isinstance(step, Pipeline | FeatureUnion | ColumnTransformer)


def _parts(step: Any) -> list[Any]:
    """The steps inside a pipeline, a union or a transformer of columns."""
    if isinstance(step, ColumnTransformer):
        return [step.remainder, *(each for _, each, _ in step.transformers)]
    return [each for _, each in (step.steps if isinstance(step, Pipeline) else step.transformer_list)]


def _is_paid(step: Any) -> bool:
    """Whether a step, or the model it asks, spends from a book by itself."""
    if type(step).__name__ in CHOOSERS and _is_built_in(step):
        return _is_paid(step.estimator)
    return hasattr(step, "budget") and hasattr(step, "_stays_behind") and step.budget is not WITHOUT_PRIVACY


def _takes_nothing(step: Any) -> bool:
    """Whether a step keeps nothing of the rows: stateless, frozen, or with everything stated beforehand."""
    name, built_in = type(step).__name__, _is_built_in(step)
    if (name in FREE and built_in) or _needs_no_fit(step):
        return True
    if name in STATED_CATEGORIES and built_in:
        counts = step.min_frequency is not None or step.max_categories is not None  # how often each occurs
        return not (isinstance(step.categories, str) or step.handle_unknown == "error" or counts)
    if name == "SimpleImputer" and built_in:
        return bool(step.strategy == "constant" and step.keep_empty_features and not step.add_indicator)
    return False


def _needs_no_fit(step: Any) -> bool:
    """Whether a step says of itself that it learns nothing."""
    return hasattr(step, "__sklearn_tags__") and not step.__sklearn_tags__().requires_fit


def _is_trusted(step: Any) -> bool:
    """Whether only the caller knows that a step tells of no other row: its own code, or what it was fitted on."""
    if step is None or isinstance(step, str):
        return False
    if _is_container(step):
        return any(map(_is_trusted, _parts(step))) or _chooses_columns(step)
    if type(step).__name__ == "FrozenEstimator":
        return getattr(step.estimator, "guarantee_", None) is None
    if type(step).__name__ == "FunctionTransformer":
        return bool(step.kw_args) or not _is_elementwise(step.func)
    if type(step).__name__ in CHOOSERS and callable(getattr(step, "max_features", None)):
        return True  # a function that is handed all rows says how many columns are kept
    return not _is_built_in(step) and not _is_paid(step)


def _chooses_columns(step: Any) -> bool:
    """Whether a function that is handed all rows says which columns a step is given; one by their names is none."""
    chosen = [columns for _, _, columns in step.transformers] if isinstance(step, ColumnTransformer) else []
    return any(callable(each) and not _goes_by_names(each) for each in chosen)


def _goes_by_names(chooser: object) -> bool:
    typed = ("dtype_include", "dtype_exclude")  # one record may change the type of a column
    return isinstance(chooser, make_column_selector) and all(getattr(chooser, name) is None for name in typed)


def _is_elementwise(function: object) -> bool:
    """Whether a function is none, or one of NumPy's that look at one number at a time."""
    return function is None or (isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is function)


def _is_built_in(thing: object) -> bool:
    return type(thing).__module__.partition(".")[0] in BUILT_IN


def _rearranges(owner: object) -> bool:
    """Whether an estimator may hand on other rows or labels than it was given: most ensembles do."""
    if isinstance(owner, TransformedTargetRegressor):
        return not _is_elementwise(owner.func)
    if any(each.__module__.startswith("bruit.") for each in type(owner).__mro__):
        return False
    return not any(_module(each.__module__) in HARMLESS for each in type(owner).__mro__)


def _module(name: str) -> str:
    """The part of scikit-learn that a module belongs to; nothing for another package."""
    package, _, rest = name.partition(".")
    return rest.partition(".")[0] if package == "sklearn" else ""


def _steps_before(owner: Any, inner: list[Any]) -> Iterator[tuple[str, Any]]:
    """The steps of an estimator that prepared the rows of this fit; `inner` are the estimators inside it."""
    if isinstance(owner, TransformedTargetRegressor):
        yield "transformer", owner.transformer
    elif isinstance(owner, Pipeline):
        last = len(owner.steps) - 1
        place = next((at for at, (_, step) in enumerate(owner.steps) if any(step is each for each in inner)), last)
        holds_it = place < last and owner.steps[place][1] is not inner[0]  # a step that has the model inside
        yield from owner.steps[: place + holds_it]
    elif any(each is getattr(owner, "final_estimator_", None) for each in inner):
        for name, step in owner.estimators:  # a stack: the last model learns from what these say of the rows
            yield name, step[-1] if isinstance(step, Pipeline) else step


def _frames() -> Iterator[FrameType]:
    """The call stack, from the innermost."""
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _hides_rows(frame: FrameType) -> bool:
    """Whether a call may have been handed other rows than the table's, which no estimator on this stack tells.

    joblib's batches run for a caller in another thread or process, whose steps are not on this stack.
    """
    module = frame.f_globals.get("__name__", "")
    batch = module == "joblib.parallel" and frame.f_code.co_qualname.startswith("BatchedCalls")
    return batch or module in FOLDS or _module(module) in ENSEMBLES


def _owners(frames: list[FrameType], estimator: object) -> Iterator[tuple[Any, list[Any]]]:
    """The other estimators whose methods run, from the innermost, each with those inside it.

    `ensemble` is whose members a worker of scikit-learn fits in another thread or process.
    """
    inner = [estimator]
    for owner in (frame.f_locals.get(name) for frame in frames for name in ("self", "ensemble")):
        if isinstance(owner, BaseEstimator) and not any(owner is each for each in inner):
            yield owner, list(inner)
            inner.append(owner)
