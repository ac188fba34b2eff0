"""Central differential privacy: statistics of a table held by a trusted curator, each paid from a budget."""

from bruit.central.bounds_search import bounds, bounds_mechanism
from bruit.central.counting import count, count_mechanism
from bruit.central.finite_functions import inverse_sensitivity, inverse_sensitivity_mechanism
from bruit.central.forecasts import epsilon_for, expected_error
from bruit.central.grouping import found_groups_mechanism, group_by, group_sums_mechanism
from bruit.central.histograms import histogram, histogram_mechanism
from bruit.central.moments import (
    mean,
    mean_mechanism,
    sum,  # noqa: A004  central.sum is the statistic
    sum_mechanism,
    variance,
    variance_mechanism,
)
from bruit.central.ranks.accuracy import (
    Bound,
    above_threshold_accuracy,
    histogram_expected_error,
    histogram_failure,
    inverse_sensitivity_failure,
)
from bruit.central.ranks.errors import epsilon_for_rank_error, expected_rank_error
from bruit.central.ranks.probabilities import DECILES
from bruit.central.ranks.quantiles import quantiles, quantiles_mechanism
from bruit.central.ranks.rank_sums import rank_sums, rank_sums_mechanism
from bruit.central.selection import (
    exponential,
    exponential_mechanism,
    most_common,
    most_common_mechanism,
    noisy_max,
    noisy_max_mechanism,
)
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
    "bounds_mechanism",
    "count",
    "count_mechanism",
    "epsilon_for",
    "epsilon_for_rank_error",
    "expected_error",
    "expected_rank_error",
    "exponential",
    "exponential_mechanism",
    "found_groups_mechanism",
    "group_by",
    "group_sums_mechanism",
    "histogram",
    "histogram_expected_error",
    "histogram_failure",
    "histogram_mechanism",
    "inverse_sensitivity",
    "inverse_sensitivity_failure",
    "inverse_sensitivity_mechanism",
    "mean",
    "mean_mechanism",
    "most_common",
    "most_common_mechanism",
    "noisy_max",
    "noisy_max_mechanism",
    "quantiles",
    "quantiles_mechanism",
    "rank_sums",
    "rank_sums_mechanism",
    "sum",
    "sum_mechanism",
    "variance",
    "variance_mechanism",
]
