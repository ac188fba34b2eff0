"""How far an exponential mechanism can be pruned and rounded within its epsilon.

Every output gets a floor, a tiny weight that does not depend on the data, so that outputs of a large loss may be left
out: bare pruning would not be private. The proof is in docs/joint_quantiles.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, log, nextafter

FLOOR = exp(-14.0)
"""All outputs together get this extra weight; one perfect output has weight 1."""

UNIT = 2.0**-53
"""The largest relative error of one rounding."""

LARGEST_EXPONENT = 700.0
"""Weights stay above exp(-700), well within the range of doubles."""

LARGEST_WINDOW = 1 << 22
"""The widest window whose tables are worth their memory."""

LARGEST_EPSILON = Fraction(200)
"""No mechanism of quantiles uses more than this: a larger budget is charged for this much only."""

ALLOWANCES = (2.0**-20, 2.0**-16, 2.0**-12, 2.0**-8)
"""Which share of epsilon may be set aside for rounding; the first that suffices is taken."""


@dataclass(frozen=True)
class Pruning:
    """An exponential mechanism with weights decay^loss, whose outputs with a loss above `window` may be left out."""

    kappa: float
    decay: float
    window: int


def pruning(
    epsilon: Fraction,
    sensitivity: int,
    *,
    log_outputs: float,
    unit: int | None = None,
    sizes: Callable[[int], int] = lambda _: 1,
    roundings: Callable[[int], float],
) -> Pruning | None:
    """The pruning with the narrowest window that keeps the guarantee, or None where no window does.

    log M + kappa d - kappa W <= log(exp(kappa d) - 1) + log(floor / outputs), M = sizes(W) pairs for each output, and
    2 kappa D + roundings(W) * 2^-53 <= epsilon; both are checked on the numbers that are used. D is the sensitivity;
    d is D, or the `unit` that one record moves where the records of one person may touch several draws.
    """
    step = unit or sensitivity
    for allowance in ALLOWANCES:
        kappa = float(epsilon) * (1 - allowance) / (2 * sensitivity)
        decay = exp(-kappa)
        for _ in range(4):  # exp is within four units in the last place: rounded towards less privacy spent
            decay = nextafter(decay, 1.0)
        if not 0 < decay < 1:
            continue
        used = -log(decay)
        window = _window(used, step, log_outputs, sizes)
        enough = roundings(window) * UNIT <= float(epsilon) * allowance * (1 - 2.0**-10)
        fits = used * (window + sensitivity) <= LARGEST_EXPONENT
        if enough and fits and _slack(used, step, window, log_outputs, sizes(window)) >= 0:
            return Pruning(used, decay, window)
    return None


def _window(kappa: float, unit: int, log_outputs: float, sizes: Callable[[int], int]) -> int:
    """The window for as many sizes as the window itself has; three rounds, since a logarithm moves it little."""
    window = 1
    for _ in range(3):
        lacking = -_slack(kappa, unit, 0, log_outputs, sizes(window))
        window = max(1, ceil(lacking / kappa * (1 + 1e-9)) + 1)
    return window


def _slack(kappa: float, unit: int, window: int, log_outputs: float, sizes: int) -> float:
    """The margin by which the inequality of `pruning` holds, less a bound on its rounding error."""
    step = kappa * unit
    small = log(FLOOR) - log_outputs
    return log(expm1(step)) + small - log(sizes) - step + kappa * window - 1e-9
