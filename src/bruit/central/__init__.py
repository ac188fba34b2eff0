"""Statistics of a table behind one curator, each paid from a budget."""

from bruit.central.counting import count
from bruit.central.histograms import histogram
from bruit.central.moments import mean, sum, variance  # noqa: A004  central.sum is the statistic

__all__ = ["count", "histogram", "mean", "sum", "variance"]
