"""Describes a privacy loss and turns a composition of losses into a guarantee; plans a training budget."""

from bruit.privacy.accountants import ACCOUNTANTS, delta, epsilon
from bruit.privacy.belief import Belief, belief, belief_table, premium
from bruit.privacy.calibration import calibrate
from bruit.privacy.composition import approximation, basic, replacement
from bruit.privacy.concentrated import concentrated_price, zcdp
from bruit.privacy.curves import curve, delta_curve, order_curve
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
from bruit.privacy.plan import Plan, plan, sound_delta, steps_of, training_loss
from bruit.privacy.release import Covers, Interval, Release
from bruit.privacy.renyi import DOCUMENT_ORDERS, ORDERS, rdp

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
    "Plan",
    "Pure",
    "Release",
    "Sampled",
    "Scheme",
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
