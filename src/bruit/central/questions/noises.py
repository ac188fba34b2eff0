"""Chooses the noise for one measure: discrete Laplace or discrete Gaussian, whichever is narrower."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, log, log1p, sqrt

from scipy import optimize, special

from bruit.central.questions.sensitivities import Sensitivity
from bruit.channels import IntegerNoise, ratio_of
from bruit.core.losses import Approximate, DiscreteGaussian, DiscreteLaplace, Loss, composed
from bruit.core.neighbours import Neighbours
from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy import delta as delta_of
from bruit.privacy.accounting.concentrated import concentrated_price
from bruit.privacy.accounting.gaussian import gaussian_delta

KINDS = ("laplace", "gaussian")

LEAST_DELTA, GREATEST_DELTA = Fraction(1, 10**200), Fraction(1, 2)
LEAST_EPSILON, GREATEST_EPSILON = Fraction(1, 10**6), 100
"""Outside these δ and ε only Laplace noise is tried: Gaussian noise is wider there, and floats too coarse."""

MOST_SPREADS = 40
"""The most spreads of a change whose curves are computed one by one."""

WIDEST_LISTED = 2**22
"""The largest squared change of one entry whose exact curve is computed; beyond it zCDP's conversion is as tight."""

STEPS = 6
"""Halvings in the search for the least variance, from a hint that was too small up to the variance that zCDP needs."""

SHARES = tuple(Fraction(i, 20) for i in range(1, 20))
"""How a delta may be shared between the noise of a threshold and its failure."""


@dataclass(frozen=True)
class PricedNoise:
    """The noise of one measure, and the privacy loss charged for it."""

    noise: IntegerNoise
    loss: Loss


@dataclass(frozen=True)
class BudgetShare:
    """The part of a budget for one measure: (epsilon, delta), or `rho` in a ledger that adds up zCDP.

    With a rho, epsilon^2 / 2 is at most rho and delta is zero: what a book adds up is the rho of either noise.
    """

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    rho: Fraction | None = None

    @property
    def offers_gaussian(self) -> bool:
        """Whether the share can pay for Gaussian noise that floats can compute."""
        usual = LEAST_DELTA <= self.delta <= GREATEST_DELTA and LEAST_EPSILON <= self.epsilon <= GREATEST_EPSILON
        return self.rho is not None or usual


def buy(moved: Sensitivity, share: BudgetShare, *, confidence: float, kind: str | None = None) -> PricedNoise:
    """The narrower noise at the given confidence, by public numbers alone; `kind` forces Laplace or Gaussian.

    Laplace noise charges the epsilon alone; Gaussian noise the pair whose curve it was made for, or its own rho.
    """
    _check_kind(kind, share)
    offers = []
    if kind != "gaussian":
        laplace = IntegerNoise.laplace(share.epsilon, sensitivity=moved.l1, neighbours=share.neighbours)
        offers.append(PricedNoise(laplace, laplace.loss))
    if (
        share.offers_gaussian
        and kind != "laplace"
        and (kind == "gaussian" or _may_be_narrower(offers[0].noise, moved, share, confidence))
    ):
        offers.append(_gaussian(moved, share))
    return min(offers, key=lambda offer: offer.noise.half_width(confidence))


def _check_kind(kind: str | None, share: BudgetShare) -> None:
    """Refuses a kind of noise that there is not, or Gaussian noise at a price without a delta, or beyond floats."""
    if kind not in (None, *KINDS):
        raise InvalidArgument(f"noise={kind!r}; choose 'laplace' or 'gaussian', or leave it out for the narrower")
    if kind != "gaussian" or share.offers_gaussian:
        return
    if share.delta:
        raise NotPrivate(
            f"noise='gaussian' needs an epsilon from {float(LEAST_EPSILON):g} to {GREATEST_EPSILON} and a delta from "
            f"{float(LEAST_DELTA):g} to {float(GREATEST_DELTA):g} for each number: leave it out"
        )
    raise NotPrivate("noise='gaussian' needs a delta: give budget=ledger.budget(epsilon=..., delta=...)")


def _gaussian(moved: Sensitivity, share: BudgetShare) -> PricedNoise:
    if share.rho is not None:
        noise = IntegerNoise(concentrated_loss(moved, share.rho, share.neighbours))
        return PricedNoise(noise, noise.loss)
    noise = IntegerNoise(gaussian_loss(moved, share.epsilon, share.delta, share.neighbours))
    return PricedNoise(noise, Approximate(share.epsilon, share.delta, neighbours=share.neighbours))


def concentrated_loss(moved: Sensitivity, rho: Fraction, neighbours: Neighbours) -> DiscreteGaussian:
    """The discrete Gaussian loss at rho: variance = l2^2 / (2 rho).   [Canonne, Kamath and Steinke 2020, Thm 4]"""
    variance = moved.l2_squared / (2 * rho)
    return DiscreteGaussian(
        variance, squared_sensitivity=moved.l2_squared, entries=moved.entries, neighbours=neighbours
    )


def _may_be_narrower(laplace: IntegerNoise, moved: Sensitivity, share: BudgetShare, confidence: float) -> bool:
    """Whether Gaussian noise at this price can be narrower than Laplace noise; a quick check before a search."""
    if share.rho is not None:
        return True
    deviation = sqrt(normal_variance(moved.l2_squared, share.epsilon, share.delta))
    return float(special.ndtri((1 + confidence) / 2)) * deviation < 1.1 * laplace.half_width(confidence) + 2


def normal_variance(squares: int, epsilon: Fraction, delta: Fraction) -> float:
    """The variance of continuous Gaussian noise for (epsilon, delta), a starting point that is never charged."""
    target = float(delta)
    shift = optimize.brentq(lambda log: gaussian_delta(exp(log), float(epsilon)) - target, log(1e-9), log(1e4))
    return squares / exp(2 * shift)


@lru_cache(maxsize=512)
def gaussian_loss(moved: Sensitivity, epsilon: Fraction, delta: Fraction, neighbours: Neighbours) -> DiscreteGaussian:
    """The smallest discrete Gaussian noise that meets (epsilon, delta) for every change one person can make.

    The curve of the discrete law is no function of l2^2: every largest spread is computed where they can be listed;
    elsewhere rho = l2^2 / (2 variance) and its conversion.   [Canonne, Kamath and Steinke 2020]
    """
    enough = moved.l2_squared / (2 * concentrated_price(float(epsilon), float(delta)))
    spreads = moved.spreads
    listed = spreads is not None and len(spreads) <= MOST_SPREADS and moved.linf**2 <= WIDEST_LISTED
    if spreads is not None and listed:
        hint = Fraction(normal_variance(moved.l2_squared, epsilon, delta)) * Fraction(101, 100)
        enough = _least_variance(enough, hint, _curve(spreads, epsilon, neighbours), delta)
    return DiscreteGaussian(enough, squared_sensitivity=moved.l2_squared, entries=moved.entries, neighbours=neighbours)


def _curve(
    spreads: tuple[tuple[tuple[int, int], ...], ...], epsilon: Fraction, neighbours: Neighbours
) -> Callable[[Fraction], Fraction]:
    """The delta at epsilon of noise of a variance, of the worst spread; moved entries are independent."""

    def worst(variance: Fraction) -> Fraction:
        return max(
            delta_of(
                composed(
                    (DiscreteGaussian(variance, squared_sensitivity=by**2, neighbours=neighbours), times)
                    for by, times in spread
                ),
                epsilon=epsilon,
                by="pld",
            )
            for spread in spreads
        )

    return worst


def _least_variance(
    enough: Fraction, hint: Fraction, curve: Callable[[Fraction], Fraction], delta: Fraction
) -> Fraction:
    """A variance that meets delta, near the least: the hint, or by halving between it and one known to be enough."""

    def fits(variance: Fraction) -> bool:
        try:
            return curve(variance) <= delta
        except NotPrivate:  # too little noise to be computed with
            return False

    low, high = min(hint, enough).limit_denominator(10**6), enough
    if fits(low):
        return low
    for _ in range(STEPS):
        middle = ((low + high) / 2).limit_denominator(10**6)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class Threshold:
    """Noise on a discovered group's number of people, and the least noisy number at which the group is shown."""

    noise: IntegerNoise
    least: int
    loss: Loss


def threshold(
    moved: Sensitivity, share: BudgetShare, failure: Fraction, *, groups: int, kind: str | None = None
) -> Threshold:
    """The lowest threshold that a budget share pays for, where each person is in at most `groups` groups.

    A group of one person is shown when 1 + noise >= t; t is the least whole number with P(noise >= t - 1) <= p,
    1 - (1 - p)^groups = delta_2, so that none of a person's own groups is shown but with chance delta_2. Under
    replacement `groups` stays: either person owns at most so many groups alone. Each group's noise is independent.
    The failure is shared with Gaussian noise that has a delta of its own.             [Korolova et al. 2009, Thm 1]
    """
    if not failure:
        raise NotPrivate("groups that nobody declared need a delta: give budget=ledger.budget(epsilon=..., delta=...)")
    _check_kind(kind, share)
    offers = []
    if kind != "gaussian":
        laplace = IntegerNoise.laplace(share.epsilon, sensitivity=moved.l1, neighbours=share.neighbours)
        offers.append(_threshold(laplace, failure, groups, share, failure))
    if kind != "laplace" and share.rho is not None:
        noise = IntegerNoise(concentrated_loss(moved, share.rho, share.neighbours))
        offers.append(_threshold(noise, failure, groups, share, failure))
    elif kind != "laplace" and share.offers_gaussian:
        own = _best_share(groups, share.epsilon, failure)
        noise = IntegerNoise(gaussian_loss(moved, share.epsilon, failure * own, share.neighbours))
        offers.append(_threshold(noise, failure * (1 - own), groups, share, failure))
    return min(offers, key=lambda offer: offer.least)


def _best_share(groups: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The share of delta for the noise that would give the lowest threshold by the normal law: any share is sound."""

    def height(share: Fraction) -> float:
        deviation = 1 / sqrt(2 * concentrated_price(float(epsilon), float(delta * share)))
        return float(-special.ndtri(_chance(delta * (1 - share), groups)) * deviation)

    return min(SHARES, key=height)


def _chance(failure: Fraction, groups: int) -> float:
    """The largest p with 1 - (1 - p)^groups at most the failure."""
    return -expm1(log1p(-float(failure)) / groups)


def _threshold(noise: IntegerNoise, own: Fraction, groups: int, share: BudgetShare, failure: Fraction) -> Threshold:
    """The least number at which groups are shown; a book that adds rho up keeps the chance of failure apart."""
    least = 1 + least_above(noise, _chance(own, groups))
    if share.rho is None:
        return Threshold(noise, least, Approximate(share.epsilon, failure, neighbours=share.neighbours))
    fails = Approximate(0, own, neighbours=share.neighbours)
    return Threshold(noise, least, composed([(noise.loss, 1), (fails, 1)]))


def least_above(noise: IntegerNoise, chance: float) -> int:
    """The least whole z >= 1 with P(noise >= z) <= chance, by the exact law."""
    low, high = 0, 1
    while upper_tail(noise, high) > chance:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if upper_tail(noise, middle) > chance else (low, middle)
    return high


def upper_tail(noise: IntegerNoise, z: int) -> float:
    """The upper tail probability P(noise >= z), for z >= 1."""
    if isinstance(noise.loss, DiscreteLaplace):
        ratio = ratio_of(float(noise.loss.scale))
        return float(ratio**z / (1 + ratio))
    reach = z + int(40 * sqrt(float(noise.loss.variance))) + 10
    return float(noise.law(reach)[reach + z :][::-1].sum())
