"""Metrics of a classifier on protected rows as one paid release: accuracy, AUC, log loss, confusion, calibration.

Three quarters of the price buy one histogram of rows by true class, predicted class and confidence, of which a row is
in one cell; the last quarter buys the sum and the sum of squares of the clipped log losses. Everything else is
post-processing, with intervals that know both the noise and that the rows are a sample.       [docs/choosing.md]
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bruit.channels import IntegerNoise
from bruit.core.arguments import confidence as checked_confidence
from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption
from bruit.core.intervals import Covers, Interval
from bruit.core.losses import composed
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.core.release import Outcome, Release
from bruit.errors import InvalidArgument
from bruit.learning.classification_figures import FINE, LEAST_CHANCE, ClassificationFigures
from bruit.learning.estimator.contract import PrivateEstimator
from bruit.learning.estimator.public_question import require_columns, require_rows, require_schema
from bruit.learning.estimator.records import as_array, choose_rows, encode_classes
from bruit.learning.estimator.unpaid_scores import unrecorded
from bruit.learning.selection.trials import ask_each
from bruit.ledger import Budget, Charge, Purchase, ask
from bruit.mechanisms import part_of

if TYPE_CHECKING:
    import polars

WHAT = "learning.evaluate"
HISTOGRAM, LOSSES = Fraction(3, 4), Fraction(1, 4)


class Evaluation(Release[Any]):
    """Accuracy, AUC of two classes and log loss, with intervals; confusion and calibration as tables."""

    @property
    def confusion(self) -> polars.DataFrame:
        """One row for each pair of true and predicted class: the noisy count and the half-width due to its noise."""
        import polars

        return polars.DataFrame(self.details["confusion"])

    @property
    def calibration(self) -> polars.DataFrame:
        """One row for each confidence range: the noisy count, the share of correct predictions, and its interval."""
        import polars

        return polars.DataFrame(self.details["calibration"])


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    budget: Budget | None,
    bins: int = 10,
    size: int | None = None,
    groups: Any = None,
    rows_per_person: int = 1,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Evaluation:
    """The metrics of a fitted classifier of bruit.learning on protected rows, for one charge.

    Intervals cover the figure in the population that the rows were drawn from. AUC is that of confidences rounded to
    `bins` ranges. A row whose label is none of the model's classes is left out; `size` is the number of the others,
    where that is public. `groups` says whose row each is, of whom at most `rows_per_person` count. Of a search its best
    model is evaluated. A row at which a Student's own model fails counts as one whose classes are equally likely.
    """
    model = getattr(model, "best_estimator_", model)
    purchase = ask(budget, what=WHAT, person=EACH_ROW if groups is None else None, rng=rng)
    asked = _Question.of(model, purchase, bins=bins, size=size, groups=groups, rows=rows_per_person)
    level = checked_confidence(confidence)
    require_rows(X=X, y=y, groups=groups)
    require_columns(y=y, groups=groups)
    require_schema(model, X, None, reset=False)
    check_consistent_length(X, y, groups)
    charge = asked.pay()
    source = charge.generator()
    cells, losses = asked.read(X, y, groups, source)
    noisy = cells + asked.histogram.draw(cells.size, rng=source).reshape(cells.shape)
    sums = losses + asked.losses.draw(2, rng=source)
    return _finish(charge, asked.figures(noisy, sums, level))


@dataclass(frozen=True)
class _Question:
    """What an evaluation asks, and the noise that its price buys."""

    model: Any
    purchase: Purchase
    bins: int
    size: int | None
    rows: int
    histogram: IntegerNoise
    losses: IntegerNoise

    @staticmethod
    def of(model: Any, purchase: Purchase, *, bins: int, size: int | None, groups: Any, rows: int) -> _Question:
        """The question, where the model is a fitted classifier that gives chances."""
        if not isinstance(model, PrivateEstimator) or not is_classifier(model) or not hasattr(model, "predict_proba"):
            raise InvalidArgument(
                f"{WHAT} takes a classifier of bruit.learning that gives chances (predict_proba), which answers for "
                f"any row; this is {type(model).__name__}. Of a pipeline give the model, pipeline[-1], and the rows "
                "that its other steps prepared, pipeline[:-1].transform(X)"
            )
        check_is_fitted(model)
        if model._domains is None:
            raise InvalidArgument(
                f"{WHAT} takes a model with domain=, which answers for any row: this {type(model).__name__} was fitted "
                "to bare numbers, so that a missing one would be an error, which tells of a row; fit it with domain="
            )
        price = purchase.price
        most = 1 if groups is None else whole(rows, "rows_per_person")
        people = most * (2 if price.neighbours is REPLACE_ONE else 1)
        epsilon = part_of(price, 1, WHAT)
        histogram = IntegerNoise.laplace(epsilon * HISTOGRAM, sensitivity=people, neighbours=price.neighbours)
        # Exchanged rows move a sum of numbers from 0 to FINE by at most FINE each, whichever way.
        losses = IntegerNoise.laplace(epsilon * LOSSES, sensitivity=2 * FINE * most, neighbours=price.neighbours)
        stated = None if size is None else whole(size, "size")
        return _Question(model, purchase, whole(bins, "bins"), stated, most, histogram, losses)

    def pay(self) -> Charge:
        """Commits the charge of both parts."""
        public = self.size is not None and self.purchase.price.neighbours is ADD_OR_REMOVE_ONE
        loss = composed([(self.histogram.loss, 1), (self.losses.loss, 1)])
        return self.purchase.pay(loss, assumes=(Assumption.PUBLIC_SIZE,) if public else ())

    def read(
        self, X: Any, y: Any, groups: Any, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Exact rows by true class, predicted class and range of confidence; exact sums of log losses and squares."""
        classes = np.asarray(self.model.classes_)
        shape = (len(classes), len(classes), self.bins)
        true, kept = encode_classes(as_array(y), classes)
        if groups is not None:
            chosen = np.zeros(len(kept), bool)
            chosen[kept] = choose_rows(as_array(groups)[kept], self.rows, rng=rng)
            kept = chosen
        if not len(true):
            return np.zeros(shape, np.int64), np.zeros(2, np.int64)
        with unrecorded():
            found, answered = ask_each(self.model.predict_proba, X, (len(true), len(classes)))
        chances = np.where(answered[:, None], np.nan_to_num(found.astype(np.float64)), 1 / len(classes))
        guess = chances.argmax(axis=1)
        top = (chances.max(axis=1) - 1 / len(classes)) / (1 - 1 / len(classes))
        place = np.clip((top * self.bins).astype(np.int64), 0, self.bins - 1)
        cells = np.zeros(shape, np.int64)
        np.add.at(cells, (true[kept], guess[kept], place[kept]), 1)
        surprise = -np.log(np.clip(chances[np.arange(len(true)), true], LEAST_CHANCE, 1)) / -log(LEAST_CHANCE)
        held = surprise[kept]
        return cells, np.array([np.rint(FINE * part).astype(np.int64).sum() for part in (held, held**2)], np.int64)

    def figures(self, cells: NDArray[np.int64], sums: NDArray[np.int64], level: float) -> ClassificationFigures:
        """What the noisy histogram and sums tell."""
        return ClassificationFigures(
            cells.astype(np.float64),
            sums / FINE,
            tuple(np.asarray(self.model.classes_).tolist()),
            self.histogram,
            self.losses,
            self.size,
            self.rows,
            level,
        )


def _finish(charge: Charge, figures: ClassificationFigures) -> Evaluation:
    """Keeps the figures in the entry that paid for them."""
    told = {"accuracy": figures.accuracy()}
    if len(figures.cells) == 2:
        told["auc"] = figures.auc()
    told["log loss"] = figures.log_loss()
    value, low, high, deviation = (np.array(column) for column in zip(*told.values(), strict=True))
    outcome = Outcome(
        value=value,
        method=WHAT,
        labels=tuple(told),
        interval=Interval(low, high, figures.confidence, Covers.POPULATION),
        noise=figures.reach * deviation,
        details={"confusion": figures.confusion(), "calibration": figures.calibration()},
    )
    release = charge.finish(outcome)
    return Evaluation(**{each.name: getattr(release, each.name) for each in fields(release)})
