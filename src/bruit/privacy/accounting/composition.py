"""Basic and advanced composition: what one person pays for several losses together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from bruit.core.best_of import BestOf
from bruit.core.guarantee import Guarantee
from bruit.core.losses import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteLaplace,
    Laplace,
    Loss,
    Parallel,
    Pure,
    Sampled,
    Scheme,
)
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE
from bruit.core.numbers import SMALLEST, exp_above, root, rounded_up
from bruit.errors import NeighboursDiffer, NotPrivate

ZERO = Fraction(0)
LARGEST_EXPONENT = 700


def basic(loss: Loss) -> tuple[Fraction, Fraction]:
    """The summed epsilon and the summed delta of a loss, exactly, by basic composition.

    (sum epsilon_i, sum delta_i)                                              [Dwork & Roth 2014, Theorem 3.16]

    Rational parameters are added as rationals; an amplified epsilon is rounded up. Gaussian noise has no price of this
    kind: ask for it with a delta, `epsilon(loss, delta=..., by="basic")`.
    """
    return total(loss, _epsilon), total(loss, approximation)


def approximation(loss: Loss) -> Fraction:
    """The delta of a loss as a chance of failure; zero for a loss that cannot fail."""
    if isinstance(loss, Approximate):
        return loss.delta
    if isinstance(loss, Sampled):
        inside = total(loss.loss, approximation)
        return sampled_share(loss) * inside if inside else ZERO
    if isinstance(loss, BestOf):
        inside = total(loss.loss, approximation)
        return min(rounded_up(loss.mean) * inside, Fraction(1)) if inside else ZERO
    return ZERO


def advanced_epsilon(loss: Loss, delta: Fraction) -> Fraction:
    """The epsilon of many small losses at a total delta (advanced composition), or the basic sum if less.

    sum epsilon_i (e^epsilon_i - 1) + sqrt(2 ln(1/delta') sum epsilon_i^2), delta' = delta - sum delta_i
                                                                              [Dwork & Roth 2014, Theorem 3.20]
    """
    plain, failed = basic(loss)
    left = remaining_delta(delta, failed, "advanced")
    if left == 0:
        return plain
    drift = total(loss, lambda part: _epsilon(part) * _exp_minus_one(_epsilon(part)))
    squares = total(loss, lambda part: _epsilon(part) ** 2)
    log_inverse = math.log(left.denominator) - math.log(left.numerator)  # also where left is below every float
    return min(plain, drift + rounded_up(math.sqrt(2 * log_inverse)) * root(squares))


def _exp_minus_one(epsilon: Fraction) -> Fraction:
    """e^epsilon - 1, rounded up; beyond the largest exponent any huge number leaves the basic sum smaller."""
    return rounded_up(max(math.expm1(float(min(epsilon, Fraction(LARGEST_EXPONENT)))), SMALLEST)) if epsilon else ZERO


def total(loss: Loss, price: Callable[[Loss], Fraction]) -> Fraction:
    """The most one person pays when prices add up: the sum over composed parts, the dearest of parallel parts."""
    if isinstance(loss, Composed):
        return sum((times * total(part, price) for part, times in loss.counted), ZERO)
    if isinstance(loss, Parallel):
        prices = sorted((total(part, price) for part in loss.losses), reverse=True)
        return sum(prices[: parts_touched(loss)], ZERO)
    return price(loss)


def parts_touched(loss: Parallel) -> int:
    """How many parallel parts one person can change; twice as many under replacement as under add-or-remove."""
    moves = 1 if loss.neighbours is ADD_OR_REMOVE_ONE else 2
    return min(moves * loss.cells, len(loss.losses))


def remaining_delta(delta: Fraction, failed: Fraction, by: str) -> Fraction:
    """Delta less the summed deltas of the losses; raises NotPrivate where they exceed it."""
    if failed > delta:
        raise NotPrivate(
            f"delta={float(delta):.3g} is below {float(failed):.3g}, the sum of the deltas of the losses: "
            f"{by} composition can only give a larger delta"
        )
    return delta - failed


def sampled_share(loss: Sampled) -> Fraction:
    """The factor by which sampling shrinks delta: the rate where amplification is proved, else 1."""
    require_amplification(loss)
    return Fraction(1) if loss.scheme is Scheme.SHUFFLED else loss.rate


def amplify(loss: Sampled, epsilon: Fraction) -> Fraction:
    """The epsilon after amplification by sampling, rounded up.

    ln(1 + rate (e^epsilon - 1))                                   [Balle, Barthe & Gaboardi 2018, Theorems 8 and 9]
    """
    require_amplification(loss)
    if loss.scheme is Scheme.SHUFFLED or loss.rate == 1:
        return epsilon
    rate, size = max(float(loss.rate), SMALLEST), max(float(epsilon), SMALLEST)
    lost = size * 2.0**-51  # by the last place of the size as a float
    if size < LARGEST_EXPONENT:
        smaller = math.log1p(rate * math.expm1(size) * (1 + lost))
    else:
        smaller = size + math.log(rate + (1 - rate) * math.exp(-size)) + 2 * lost
    return min(epsilon, rounded_up(max(smaller, SMALLEST)))


def require_amplification(loss: Sampled) -> None:
    """Refuses a sampling scheme and neighbours without a proved amplification (docs/accounting.md, Sampling).

    Poisson: one coin decides whether the record is there, so presence is what must be hidden. Fixed size: exchanging a
    record exchanges one in the subset. Shuffled: given the order, a record is in one batch, which pays once.
    """
    proved = {(Scheme.POISSON, ADD_OR_REMOVE_ONE), (Scheme.FIXED_SIZE, REPLACE_ONE), (Scheme.SHUFFLED, REPLACE_ONE)}
    if (loss.scheme, loss.neighbours) not in proved or loss.loss.neighbours is not loss.neighbours:
        inside = "" if loss.loss.neighbours is loss.neighbours else f" around a loss for {loss.loss.neighbours}"
        raise NotPrivate(
            f"{loss.scheme} sampling for {loss.neighbours}{inside}: no amplification is proved for "
            f"{type(loss.loss).__name__} by this accountant; poisson is for add or remove one, fixed size and shuffled "
            "for replace one, and poisson for replace one is for Gaussian noise by pld or rdp"
        )


def replacement(guarantee: Guarantee) -> Guarantee:
    """Converts an add-or-remove guarantee into one for replacing one person; there is no other conversion.

    (epsilon, delta) becomes (2 epsilon, (1 + e^epsilon) delta): one removal, then one addition.
    """
    if guarantee.neighbours is not ADD_OR_REMOVE_ONE:
        raise NeighboursDiffer(
            f"a guarantee for {guarantee.neighbours} cannot be converted; only one for {ADD_OR_REMOVE_ONE} can"
        )
    grown = Fraction(1) if guarantee.delta else ZERO
    if guarantee.delta and guarantee.epsilon < LARGEST_EXPONENT:
        grown = guarantee.delta * (1 + exp_above(Fraction(guarantee.epsilon)))
    by = f"{guarantee.by}, converted from {ADD_OR_REMOVE_ONE}"
    return replace(
        guarantee, epsilon=2 * guarantee.epsilon, delta=min(grown, Fraction(1)), neighbours=REPLACE_ONE, by=by
    )


def _epsilon(loss: Loss) -> Fraction:
    if isinstance(loss, Pure | Approximate | BoundedRange):
        return loss.epsilon
    if isinstance(loss, Laplace | DiscreteLaplace):
        return Fraction(loss.sensitivity) / loss.scale
    if isinstance(loss, Sampled):
        return amplify(loss, total(loss.loss, _epsilon))
    if isinstance(loss, BestOf):
        return (2 + loss.shape) * total(loss.loss, _epsilon)  # [docs/choosing.md, Theorem 1]
    raise NotPrivate(f"{type(loss).__name__} has no price without a delta; ask epsilon(loss, delta=..., by='basic')")
