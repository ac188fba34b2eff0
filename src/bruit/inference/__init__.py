"""Statistics one can publish: intervals for the population and tests that know the privacy noise."""

from bruit.inference.anytime import e_values
from bruit.inference.association import correlation, slope, slope_test
from bruit.inference.means import difference, mean, proportion, ratio
from bruit.inference.noisy_counts import Cells
from bruit.inference.planning import people_for
from bruit.inference.quantiles import quantile
from bruit.inference.residual_tests import anova, independence, mann_whitney, two_proportions
from bruit.inference.results import Estimate, Evidence
from bruit.inference.sources import cells

__all__ = [
    "Cells",
    "Estimate",
    "Evidence",
    "anova",
    "cells",
    "correlation",
    "difference",
    "e_values",
    "independence",
    "mann_whitney",
    "mean",
    "people_for",
    "proportion",
    "quantile",
    "ratio",
    "slope",
    "slope_test",
    "two_proportions",
]
