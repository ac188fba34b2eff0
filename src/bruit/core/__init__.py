"""Types that every package shares (losses, neighbours, guarantees, releases), and checks of arguments."""

from bruit.core.best_of import BestOf, RenyiBounded
from bruit.core.guarantee import Assumption, Guarantee, guarantee_from_json
from bruit.core.intervals import Covers, Interval
from bruit.core.losses import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Loss,
    NormalShift,
    Parallel,
    Pure,
    Sampled,
    Scheme,
    ZeroConcentrated,
    composed,
    loss_from_json,
    parallel,
)
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, LOCAL, REPLACE_ONE, Neighbours
from bruit.core.numbers import Exact, exactly
from bruit.core.release import Outcome, Receipt, Release
from bruit.core.seeds import RandomState, Seed

__all__ = [
    "ADD_OR_REMOVE_ONE",
    "EACH_ROW",
    "LOCAL",
    "REPLACE_ONE",
    "Approximate",
    "Assumption",
    "BestOf",
    "BoundedRange",
    "Composed",
    "Covers",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exact",
    "Gaussian",
    "Guarantee",
    "Interval",
    "Laplace",
    "Loss",
    "Neighbours",
    "NormalShift",
    "Outcome",
    "Parallel",
    "Pure",
    "RandomState",
    "Receipt",
    "Release",
    "RenyiBounded",
    "Sampled",
    "Scheme",
    "Seed",
    "ZeroConcentrated",
    "composed",
    "exactly",
    "guarantee_from_json",
    "loss_from_json",
    "parallel",
]
