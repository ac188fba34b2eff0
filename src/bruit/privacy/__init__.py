"""Describes a privacy loss and turns a composition of losses into a guarantee; plans a training budget."""

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
from bruit.core.release import Release
from bruit.privacy.accountants import ACCOUNTANTS, delta, epsilon
from bruit.privacy.accounting.composition import approximation, basic, replacement
from bruit.privacy.accounting.concentrated import concentrated_price, zcdp
from bruit.privacy.accounting.renyi import DOCUMENT_ORDERS, ORDERS, rdp
from bruit.privacy.beliefs import Belief, belief, belief_table, premium
from bruit.privacy.calibration import calibrate
from bruit.privacy.curves import curve, delta_curve, order_curve
from bruit.privacy.training.plans import TrainingPlan, plan, sound_delta, steps_of, training_loss

__all__ = [
    "ACCOUNTANTS",
    "ADD_OR_REMOVE_ONE",
    "DOCUMENT_ORDERS",
    "EACH_ROW",
    "LOCAL",
    "ORDERS",
    "REPLACE_ONE",
    "Approximate",
    "Assumption",
    "Belief",
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
    "Parallel",
    "Pure",
    "Release",
    "RenyiBounded",
    "Sampled",
    "Scheme",
    "TrainingPlan",
    "ZeroConcentrated",
    "approximation",
    "basic",
    "belief",
    "belief_table",
    "calibrate",
    "composed",
    "concentrated_price",
    "curve",
    "delta",
    "delta_curve",
    "epsilon",
    "exactly",
    "guarantee_from_json",
    "loss_from_json",
    "order_curve",
    "parallel",
    "plan",
    "premium",
    "rdp",
    "replacement",
    "sound_delta",
    "steps_of",
    "training_loss",
    "zcdp",
]
