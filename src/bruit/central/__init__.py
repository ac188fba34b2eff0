"""Central differential privacy: statistics of a table held by a trusted curator, each paid from a budget."""

from bruit.central.bounds_search import bounds
from bruit.central.counting import count
from bruit.central.finite_functions import inverse_sensitivity
from bruit.central.forecasts import epsilon_for, expected_error
from bruit.central.grouping import group_by
from bruit.central.histograms import histogram
from bruit.central.moments import mean, sum, variance  # noqa: A004  central.sum is the statistic
from bruit.central.ranks.accuracy import (
    Bound,
    above_threshold_accuracy,
    histogram_expected_error,
    histogram_failure,
    inverse_sensitivity_failure,
)
from bruit.central.ranks.errors import epsilon_for_rank_error, expected_rank_error
from bruit.central.ranks.probabilities import DECILES
from bruit.central.ranks.quantiles import quantiles
from bruit.central.selection import exponential, most_common, noisy_max
from bruit.central.sparse_vector import AboveThreshold
from bruit.central.statistics import STATISTICS, Need, Statistic

__all__ = [
    "DECILES",
    "STATISTICS",
    "AboveThreshold",
    "Bound",
    "Need",
    "Statistic",
    "above_threshold_accuracy",
    "bounds",
    "count",
    "epsilon_for",
    "epsilon_for_rank_error",
    "expected_error",
    "expected_rank_error",
    "exponential",
    "group_by",
    "histogram",
    "histogram_expected_error",
    "histogram_failure",
    "inverse_sensitivity",
    "inverse_sensitivity_failure",
    "mean",
    "most_common",
    "noisy_max",
    "quantiles",
    "sum",
    "variance",
]
