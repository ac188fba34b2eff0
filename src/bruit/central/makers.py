"""The functions that make the mechanism of each statistic, to be released, sampled and audited.

A maker takes the data, the price and the settings of its statistic, checks them and charges nothing; see
`bruit.mechanisms.Mechanism`. `AboveThreshold` answers one question after the other and is no mechanism of one answer.
"""

from bruit.central.bounds_search import bounds_mechanism
from bruit.central.counting import count_mechanism
from bruit.central.finite_functions import inverse_sensitivity_mechanism
from bruit.central.grouping import found_groups_mechanism, group_sums_mechanism
from bruit.central.histograms import histogram_mechanism
from bruit.central.moments import mean_mechanism, sum_mechanism, variance_mechanism
from bruit.central.ranks.quantiles import quantiles_mechanism
from bruit.central.selection import exponential_mechanism, most_common_mechanism, noisy_max_mechanism

__all__ = [
    "bounds_mechanism",
    "count_mechanism",
    "exponential_mechanism",
    "found_groups_mechanism",
    "group_sums_mechanism",
    "histogram_mechanism",
    "inverse_sensitivity_mechanism",
    "mean_mechanism",
    "most_common_mechanism",
    "noisy_max_mechanism",
    "quantiles_mechanism",
    "sum_mechanism",
    "variance_mechanism",
]
