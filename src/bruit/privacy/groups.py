"""Group privacy: the loss of several people at once, computed from the loss itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from bruit.core.guarantee import factor_of_delta
from bruit.core.losses import (
    BoundedRange,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Loss,
    NormalShift,
    Pure,
    Sampled,
    Scheme,
    ZeroConcentrated,
)
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.core.numbers import LARGEST_LOG
from bruit.errors import PrivacyError
from bruit.privacy.accountants import epsilon

STEPS = 8
"""The most attempts with a smaller δ for one person; two or three usually suffice."""


def group_loss(loss: Loss, people: int) -> Loss | None:
    """The loss of a group of k people who join, leave or are replaced together; None where none is proved.

    Noise of integers or reals      k people move the sum k times as far: sensitivity k, squared k^2
    pure, bounded range             the factors of k steps from person to person multiply
    rho-zCDP                        k^2 rho                                        [Bun & Steinke 2016, Prop. 1.9]
    sampled by Poisson, Gaussian    noise / k at the rate 1 - (1 - q)^k

    The last: let S be those of the group that are in the sample, w_S its chance, w that of none, v_S the sum of their
    gradients, |v_S| <= k. For each S some channel K_S takes N(0) to N(0) and N(k) to N(v_S), as a smaller shift is told
    no better. Draw S, not none, with chance w_S / (1 - w) and apply K_S: this takes N(0) to N(0) and w N(0) + (1 - w)
    N(k) to the sum of w_S N(v_S), and 1 - w = 1 - (1 - q)^k. So the pair on the left is no harder to tell apart.
    """
    match loss:
        case Sampled():
            return _sampled(loss, people)
        case Composed():
            return _composed(loss, people)
        case Laplace():
            return replace(loss, sensitivity=people * loss.sensitivity)
        case DiscreteLaplace():
            return replace(loss, sensitivity=people * loss.sensitivity)
        case Gaussian():
            return Gaussian(loss.noise / people, neighbours=loss.neighbours)
        case DiscreteGaussian():
            squares, entries = people**2 * loss.squared_sensitivity, people * loss.entries
            return replace(loss, squared_sensitivity=squares, entries=entries)
    return _of_a_number(loss, people)


def _of_a_number(loss: Loss, people: int) -> Loss | None:
    """The loss of a group where one number says everything."""
    match loss:
        case Pure() | BoundedRange():
            return replace(loss, epsilon=people * loss.epsilon)
        case ZeroConcentrated():
            return replace(loss, rho=people**2 * loss.rho)
        case NormalShift():
            return ZeroConcentrated(people**2 * loss.squared_shift / 2, neighbours=loss.neighbours)
    return None


def _sampled(loss: Sampled, people: int) -> Sampled | None:
    if not isinstance(loss.loss, Gaussian) or loss.scheme is not Scheme.POISSON:
        return None
    if loss.neighbours is not ADD_OR_REMOVE_ONE:
        return None
    inner = Gaussian(loss.loss.noise / people, neighbours=loss.neighbours)
    return Sampled(inner, rate=1 - (1 - loss.rate) ** people, scheme=loss.scheme)


def _composed(loss: Composed, people: int) -> Composed | None:
    parts = [(group_loss(part, people), times) for part, times in loss.parts()]
    known = tuple((part, times) for part, times in parts if part is not None)
    return Composed(loss.neighbours, known) if len(known) == len(parts) else None


@dataclass(frozen=True)
class LossCurve:
    """The loss behind a guarantee and the accountant that prices it, for groups of any size."""

    loss: Loss
    by: str

    def epsilon(self, people: int, delta: Fraction) -> Fraction | None:
        """The epsilon for a group of `people` persons at a delta; None where none is known.

        The less of two: what the loss of the whole group costs, and k times what one person's costs at a smaller delta,
        d (1 + e^ε + ... + e^((k-1)ε)) <= delta.                                  [Dwork & Roth 2014, Theorem 2.2]
        """
        group = group_loss(self.loss, people)
        found = [None if group is None else self._price(group, delta), self._by_steps(people, delta)]
        return min((each for each in found if each is not None), default=None)

    def _by_steps(self, people: int, delta: Fraction) -> Fraction | None:
        alone = self._price(self.loss, delta)
        for _ in range(STEPS):
            if alone is None or people * alone > LARGEST_LOG:
                return None
            failing = delta / (2 * factor_of_delta(alone, people)) if delta else delta
            alone = self._price(self.loss, failing)
            if alone is not None and failing * factor_of_delta(alone, people) <= delta:
                return people * alone
        return None

    def _price(self, loss: Loss, delta: Fraction) -> Fraction | None:
        by = "pld" if self.by == "basic" and delta else self.by
        try:
            return epsilon(loss, delta=delta, by=by)
        except PrivacyError:
            return None
