"""Statistics of a table behind one curator, each paid from a budget."""

from bruit.central.counting import count
from bruit.central.histograms import histogram
from bruit.central.moments import mean, sum, variance  # noqa: A004  central.sum is the statistic
from bruit.central.selection import exponential, most_common, noisy_max
from bruit.central.threshold import AboveThreshold

__all__ = [
    "AboveThreshold",
    "count",
    "exponential",
    "histogram",
    "mean",
    "most_common",
    "noisy_max",
    "sum",
    "variance",
]
