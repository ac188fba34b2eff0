"""Describes a privacy loss and turns a composition of losses into a guarantee; plans a training budget."""

from bruit.privacy.guarantee import Assumption, Guarantee, guarantee_from_json
from bruit.privacy.losses import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Loss,
    Parallel,
    Pure,
    Sampled,
    Scheme,
    ZeroConcentrated,
    composed,
    loss_from_json,
    parallel,
)
from bruit.privacy.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, LOCAL, REPLACE_ONE, Neighbours
from bruit.privacy.numbers import Exact, exactly
from bruit.privacy.release import Covers, Interval, Release

__all__ = [
    "ADD_OR_REMOVE_ONE",
    "EACH_ROW",
    "LOCAL",
    "REPLACE_ONE",
    "Approximate",
    "Assumption",
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
    "Parallel",
    "Pure",
    "Release",
    "Sampled",
    "Scheme",
    "ZeroConcentrated",
    "composed",
    "exactly",
    "guarantee_from_json",
    "loss_from_json",
    "parallel",
]
