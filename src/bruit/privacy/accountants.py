"""Accountants by name: each turns a loss into an epsilon at a delta, or a delta at an epsilon.

basic       sums, exactly                                        advanced   many small pure losses
zcdp        one number that adds up                              gdp        Gaussian trade-offs
rdp-simple  Rényi, simple conversion, coarse orders            rdp        Rényi, the tighter conversion, a wider grid
pld         the whole distribution of the privacy loss: the tightest
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bruit.core.best_of import BestOf
from bruit.core.losses import BoundedRange, Gaussian, Loss, NormalShift, Sampled, ZeroConcentrated
from bruit.core.numbers import Exact, exactly, probability, root, rounded_up
from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy.accounting import concentrated, renyi
from bruit.privacy.accounting.composition import (
    advanced_epsilon,
    approximation,
    basic,
    remaining_delta,
    require_amplification,
    total,
)
from bruit.privacy.accounting.gaussian import bounded_range_shift, gaussian_delta, gaussian_epsilon, pure_shift
from bruit.privacy.pld.best_of_runs import best_delta, best_epsilon
from bruit.privacy.pld.distribution import pld_delta, pld_epsilon

Orders = Sequence[float] | NDArray[np.float64] | Literal["fine"] | None
"""Rényi orders: own ones, "fine" for a search on a wide grid, or None for the coarse grid of [docs/spec.md S2.11]."""


LEAST_DELTA = Fraction(1, 10**280)
"""The least delta that accountants in floating point take."""


@dataclass(frozen=True)
class Price:
    """An epsilon or a delta, and the Rényi order that gave it where there was one."""

    amount: Fraction
    order: float | None = None


def epsilon(loss: Loss, *, delta: Exact, by: str, orders: Orders = None) -> Fraction:
    """The epsilon of a loss at a delta by a named accountant; never below the true one."""
    return epsilon_price(loss, delta=delta, by=by, orders=orders).amount


def delta(loss: Loss, *, epsilon: Exact, by: str, orders: Orders = None) -> Fraction:
    """The delta of a loss at an epsilon by a named accountant; never below the true one."""
    asked = exactly(epsilon, "epsilon")
    if asked < 0:
        raise InvalidArgument(f"epsilon={epsilon} must not be negative")
    return min(_compute(_accountant(by, _DELTAS), loss, asked, orders).amount, Fraction(1))


def epsilon_price(loss: Loss, *, delta: Exact, by: str, orders: Orders = None) -> Price:
    """The epsilon of a loss at a delta, with the Rényi order that gave it where there is one."""
    return _compute(_accountant(by, _EPSILONS), loss, probability(delta, "delta"), orders)


Accountant = Callable[[Loss, Fraction, Orders], Price]


def _accountant(by: str, table: dict[str, Accountant]) -> Accountant:
    if by not in table:
        raise InvalidArgument(f"by={by!r} is no accountant; choose one of {', '.join(ACCOUNTANTS)}")
    return table[by]


def _compute(accountant: Accountant, loss: Loss, given: Fraction, orders: Orders) -> Price:
    try:
        return accountant(loss, given, orders)
    except OverflowError as error:
        raise NotPrivate("the loss is too large to be computed with; ask by='basic', which is exact") from error


def _basic_epsilon(loss: Loss, delta: Fraction, _: Orders) -> Price:
    """Every part at its own price; parts that have none without a delta share what is left of it equally."""
    left = remaining_delta(delta, total(loss, approximation), "basic")
    sharing = total(loss, lambda part: Fraction(not _has_own_price(part)))
    if sharing and not left:
        raise NotPrivate("delta=0: Gaussian noise has no epsilon without a delta; give delta=1e-6 or another small one")

    def price(part: Loss) -> Fraction:
        return basic(part)[0] if _has_own_price(part) else _single(part, left / sharing)

    return Price(total(loss, price))


def _has_own_price(part: Loss) -> bool:
    try:
        basic(part)
    except NotPrivate:
        return False
    return True


def _single(part: Loss, share: Fraction) -> Fraction:
    """The epsilon of one part at its share of delta."""
    own = {ZeroConcentrated: "zcdp", NormalShift: "gdp"}
    return epsilon(part, delta=share, by=own.get(type(part), "pld"))


def _basic_delta(loss: Loss, epsilon: Fraction, _: Orders) -> Price:
    spent, failed = basic(loss)
    if spent > epsilon:
        raise NotPrivate(
            f"basic composition costs {float(spent):.6g}, above epsilon={float(epsilon):.6g}; ask by='pld'"
        )
    return Price(failed)


def _advanced_epsilon(loss: Loss, delta: Fraction, _: Orders) -> Price:
    return Price(advanced_epsilon(loss, delta))


def _advanced_delta(loss: Loss, epsilon: Fraction, _: Orders) -> Price:
    """The least delta whose advanced-composition epsilon is within the one asked, by bisection."""
    failed = total(loss, approximation)
    low, high = -700.0, -1e-9
    if advanced_epsilon(loss, failed) <= epsilon:
        return Price(failed)
    if advanced_epsilon(loss, failed + Fraction(math.exp(high))) > epsilon:
        return Price(Fraction(1))
    for _step in range(60):
        middle = (low + high) / 2
        enough = advanced_epsilon(loss, failed + Fraction(math.exp(middle))) <= epsilon
        low, high = (low, middle) if enough else (middle, high)
    return Price(failed + rounded_up(math.exp(high)))


def _zcdp_epsilon(loss: Loss, delta: Fraction, _: Orders) -> Price:
    rho = concentrated.zcdp(loss)
    left = _delta_left(loss, delta, "zcdp")
    return Price(rounded_up(concentrated.concentrated_epsilon(_not_zero(rho), left)))


def _zcdp_delta(loss: Loss, epsilon: Fraction, _: Orders) -> Price:
    rest = concentrated.concentrated_delta(_not_zero(concentrated.zcdp(loss)), float(epsilon))
    return Price(total(loss, approximation) + rounded_up(rest))


def _gdp_epsilon(loss: Loss, delta: Fraction, _: Orders) -> Price:
    near, far, squares = total(loss, _near), total(loss, _far), total(loss, _squared_shift)
    left = _delta_left(loss, delta - far, "gdp")
    if not squares:
        return Price(Fraction(0))
    found = rounded_up(gaussian_epsilon(_not_zero(root(squares)), left * math.exp(-float(near))))
    return Price(_within_reach(found + 2 * near, near))


def _gdp_delta(loss: Loss, epsilon: Fraction, _: Orders) -> Price:
    squares, near = total(loss, _squared_shift), total(loss, _near)
    spent = float(max(_within_reach(epsilon, near) - 2 * near, Fraction(0)))
    rest = gaussian_delta(_not_zero(root(squares)), spent) * math.exp(float(near)) if squares else 0.0
    return Price(total(loss, approximation) + total(loss, _far) + rounded_up(rest))


REACH = 59
"""The exchange of laws inside a `NormalShift` is proved up to this epsilon."""


def _near(loss: Loss) -> Fraction:
    return loss.near if isinstance(loss, NormalShift) else Fraction(0)


def _far(loss: Loss) -> Fraction:
    return loss.far if isinstance(loss, NormalShift) else Fraction(0)


def _within_reach(epsilon: Fraction, near: Fraction) -> Fraction:
    """The epsilon of a whole composition, where the exchange of laws holds for it."""
    if near and epsilon >= REACH:
        raise NotPrivate(f"an epsilon of {float(epsilon):.4g} with shifted integer noise: gdp is proved below {REACH}")
    return epsilon


def _squared_shift(loss: Loss) -> Fraction:
    """The square of the Gaussian shift a loss is no easier to tell than.      [Dong, Roth & Su 2022, Cor. 3.3]"""
    if isinstance(loss, Gaussian):
        return 1 / loss.noise**2
    if isinstance(loss, NormalShift):
        return loss.squared_shift
    if isinstance(loss, BoundedRange):
        return bounded_range_shift(loss.epsilon) ** 2
    if isinstance(loss, Sampled):
        require_amplification(loss)
    try:
        return pure_shift(basic(loss)[0]) ** 2
    except NotPrivate as error:
        raise NotPrivate(
            f"{type(loss).__name__} has no Gaussian trade-off that is proved (the central limit is no bound); "
            "ask by='pld' or by='rdp'"
        ) from error


def _rdp_epsilon(loss: Loss, delta: Fraction, orders: Orders) -> Price:
    return _least(loss, _delta_left(loss, delta, "rdp"), orders, renyi.improved_epsilon)


def _rdp_simple_epsilon(loss: Loss, delta: Fraction, orders: Orders) -> Price:
    return _least(loss, _delta_left(loss, delta, "rdp-simple"), orders, renyi.simple_epsilon)


def _rdp_delta(loss: Loss, epsilon: Fraction, orders: Orders) -> Price:
    found = _least(loss, float(epsilon), orders, renyi.improved_delta)
    return Price(total(loss, approximation) + found.amount, found.order)


def _rdp_simple_delta(loss: Loss, epsilon: Fraction, orders: Orders) -> Price:
    found = _least(loss, float(epsilon), orders, renyi.simple_delta)
    return Price(total(loss, approximation) + found.amount, found.order)


def _least(loss: Loss, given: float, orders: Orders, convert: renyi.Conversion) -> Price:
    """The least over the orders; the coarse ones are left for the wide grid when their best stands at an end."""

    def least(grid: NDArray[np.float64]) -> tuple[int, Price]:
        bounds = convert(renyi.renyi(loss, grid), grid, given)
        best = int(np.argmin(bounds))
        return best, Price(rounded_up(float(bounds[best])), float(grid[best]))

    if isinstance(orders, str) and orders != "fine":
        raise InvalidArgument(f"orders={orders!r}: give numbers above 1, or 'fine' for a search on a wide grid")
    if orders is not None and not isinstance(orders, str):
        return least(renyi.choose_orders(orders))[1]
    best, price = least(renyi.DOCUMENT_ORDERS)
    if orders is None and 0 < best < len(renyi.DOCUMENT_ORDERS) - 1:
        return price
    best, price = least(renyi.ORDERS)
    around = np.linspace(renyi.ORDERS[max(best - 1, 0)], renyi.ORDERS[min(best + 1, len(renyi.ORDERS) - 1)], 33)
    return min(price, least(around)[1], key=lambda found: found.amount)


def _pld_epsilon(loss: Loss, delta: Fraction, _: Orders) -> Price:
    if delta == 0 or (delta < LEAST_DELTA and _has_own_price(loss)):
        remaining_delta(delta, total(loss, approximation), "pld")
        return Price(basic(loss)[0])  # the largest loss there is
    given = _round_down(delta, "pld")
    found = rounded_up(best_epsilon(loss, given) if isinstance(loss, BestOf) else pld_epsilon(loss, given))
    return Price(min(found, _sum_of_prices(loss, delta, otherwise=found)))


def _sum_of_prices(loss: Loss, delta: Fraction, *, otherwise: Fraction) -> Fraction:
    """The basic price where it needs no delta: a grid lies above small losses by more than they are."""
    if not _has_own_price(loss) or total(loss, approximation) > delta:
        return otherwise
    return basic(loss)[0]


def _pld_delta(loss: Loss, epsilon: Fraction, _: Orders) -> Price:
    if _has_own_price(loss) and basic(loss)[0] <= epsilon:
        return Price(total(loss, approximation))  # no finite loss is above it
    given = float(epsilon) * (1 - 2.0**-50)
    return Price(rounded_up(best_delta(loss, given) if isinstance(loss, BestOf) else pld_delta(loss, given)))


def _delta_left(loss: Loss, delta: Fraction, by: str) -> float:
    """What is left of delta for an accountant that cannot do without one, rounded down."""
    left = remaining_delta(delta, total(loss, approximation), by)
    if left == 0:
        raise NotPrivate(f"delta={float(delta):.3g} leaves nothing for {by}; give a larger one, or ask by='basic'")
    return _round_down(left, by)


def _round_down(delta: Fraction, by: str) -> float:
    if delta < LEAST_DELTA:
        raise NotPrivate(
            f"{by} computes with a delta of at least {float(LEAST_DELTA)}; give a larger one, or ask by='basic' or "
            "by='advanced', which are exact for pure losses"
        )
    return float(delta) * (1 - 2.0**-50)


def _not_zero(value: Fraction) -> float:
    """The number as a float of at least 1e-150, zero only where it is zero: even 1e-400 counts when it comes often."""
    return max(float(value), 1e-150) if value else 0.0


_EPSILONS: dict[str, Accountant] = {
    "basic": _basic_epsilon,
    "advanced": _advanced_epsilon,
    "zcdp": _zcdp_epsilon,
    "gdp": _gdp_epsilon,
    "rdp-simple": _rdp_simple_epsilon,
    "rdp": _rdp_epsilon,
    "pld": _pld_epsilon,
}

_DELTAS: dict[str, Accountant] = {
    "basic": _basic_delta,
    "advanced": _advanced_delta,
    "zcdp": _zcdp_delta,
    "gdp": _gdp_delta,
    "rdp-simple": _rdp_simple_delta,
    "rdp": _rdp_delta,
    "pld": _pld_delta,
}

ACCOUNTANTS = tuple(_EPSILONS)
