"""Questions: several measures by group over one plan and one choice of rows, paid with one charge."""

from bruit.central.questions.asking import Question
from bruit.central.questions.levels import Level, Levels, cube, rollup
from bruit.central.questions.measures import (
    MEASURES,
    Measure,
    count,
    distinct,
    mean,
    non_missing,
    people,
    quantiles,
    total,
    variance,
)
from bruit.central.questions.pricing import Prepared
from bruit.central.questions.sensitivities import RowRange, Sensitivity, sensitivity
from bruit.central.questions.targets import least_price
from bruit.central.questions.totals import consistent_totals
from bruit.tables.choice.limits import Limit

__all__ = [
    "MEASURES",
    "Level",
    "Levels",
    "Limit",
    "Measure",
    "Prepared",
    "Question",
    "RowRange",
    "Sensitivity",
    "consistent_totals",
    "count",
    "cube",
    "distinct",
    "least_price",
    "mean",
    "non_missing",
    "people",
    "quantiles",
    "rollup",
    "sensitivity",
    "total",
    "variance",
]
