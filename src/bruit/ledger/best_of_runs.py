"""The random number of runs of a search, and the price of each run within the total budget.

The number is drawn from a public law, independently of the data, and never told. All runs together then cost two or
three of them, however many they are.                     [Liu & Talwar 2019; Papernot & Steinke 2022; docs/choosing.md]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import log
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.core.best_of import BestOf, RenyiBounded, log_mean
from bruit.core.losses import Approximate, Gaussian, Loss, Pure, ZeroConcentrated
from bruit.errors import BudgetExceeded, InvalidArgument, NotPrivate
from bruit.ledger.budget import Budget
from bruit.ledger.ledger import Ledger
from bruit.ledger.terms import Terms
from bruit.ledger.till import Purchase
from bruit.privacy import epsilon

Stopping = Literal["geometric", "logarithmic"]
SHAPES: dict[str, int] = {"geometric": 1, "logarithmic": 0}
HALVINGS = 30
"""How often the interval that holds the price of a run is halved, in its logarithm."""

SMALLEST_RUN = Fraction(1, 10**9)
"""The least rho or Rényi divergence of a run that is looked for."""

LEAST_NOISE, MOST_NOISE = 1e-4, 1e7
"""Between these the noise multiplier of a Gaussian run is looked for."""

BELOW = 1 - Fraction(1, 10**6)
"""A run is planned this factor below its price, and its ledger allows as much more: wider than any rounding."""


@dataclass(frozen=True)
class RunPrice:
    """The privacy loss allowed to one run, as the terms of its own ledger."""

    loss: Loss
    terms: Terms
    shape: int
    stop: Fraction
    covers_a_part: bool

    @property
    def whole(self) -> BestOf:
        """The privacy loss of all runs together when only the best is released."""
        return BestOf(self.loss, shape=self.shape, stop=self.stop)

    @property
    def epsilon(self) -> float:
        """What one run alone would cost, at the delta of its ledger."""
        if isinstance(self.loss, Gaussian):
            return float(epsilon(self.loss, delta=self.terms.delta, by="pld"))
        return float(self.terms.epsilon)

    def budget(self, name: str) -> Budget:
        """The whole budget of a fresh ledger for one run; `name` makes the run's seed different from other runs'.

        Where the price is that of a part of the data, a run's is too: the size of a part is private.
        """
        book = Ledger.in_memory(name, self.terms)
        buy = partial(book.partition("parts").budget, "this") if self.covers_a_part else book.budget
        if isinstance(self.loss, Pure):
            return buy(epsilon=self.loss.epsilon)
        if isinstance(self.loss, Approximate):
            return buy(epsilon=self.loss.epsilon, delta=self.loss.delta)
        # Noise that is calibrated to an epsilon may miss its divergence by a rounding: it aims a little below.
        divergence = _squared(self.loss) if isinstance(self.loss, Gaussian) else self.loss
        return replace(buy(divergence), epsilon=_worth(_times(divergence, BELOW), self.terms.delta))

    def score_noise(self, moved: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Integer noise for a score of sensitivity `moved`, at the price of one run."""
        from bruit.randomness import discrete_gaussian, discrete_laplace

        loss = self.loss
        if isinstance(loss, Gaussian):
            return discrete_laplace(moved / _sign_epsilon(loss), 1, rng=rng)
        if isinstance(loss, ZeroConcentrated):
            return discrete_gaussian(Fraction(moved) ** 2 / (2 * loss.rho), 1, rng=rng)
        if isinstance(loss, RenyiBounded):
            return discrete_gaussian(loss.order * Fraction(moved) ** 2 / (2 * loss.divergence), 1, rng=rng)
        assert isinstance(loss, Pure | Approximate)
        return discrete_laplace(moved / loss.epsilon, 1, rng=rng)

    def draw_runs(self, rng: np.random.Generator) -> int:
        """Draws the number of runs from its exact distribution.

        A geometric number is drawn coin by coin; kept with the chance 1/k it is a logarithmic one.
        """
        from bruit.randomness import uniform_below

        while True:
            runs = 1
            while uniform_below(self.stop.denominator, 1, rng=rng)[0] >= self.stop.numerator:
                runs += 1
            if self.shape or uniform_below(runs, 1, rng=rng)[0] == 0:
                return runs


def price_runs(
    purchase: Purchase, *, tries: int, stopping: str, sampled: bool = False, gaussian: bool = False
) -> RunPrice:
    """The price of one of `tries` expected runs, from the total budget alone.

    A price in epsilon is divided by the two or three runs that are paid, its delta by the expected number. Where runs
    are `gaussian`, all their noise on whole sums normal, a run is the Gaussian whose best costs the price by its
    privacy profile, about half of it. In a book that adds Rényi divergences a run is the dearest whose best still costs
    the price: in concentrated privacy, or, where runs are `sampled`, at the book's own order, since concentrated
    privacy gains nothing from sampling.
    """
    price = purchase.price
    if stopping not in SHAPES:
        raise InvalidArgument(f"stopping={stopping!r} is no law of a number of runs; choose one of {', '.join(SHAPES)}")
    shape = SHAPES[stopping]
    stop = _stop(tries, shape)
    if isinstance(price.loss, Pure):
        loss: Pure | Approximate = Pure(price.epsilon / (2 + shape), neighbours=price.neighbours)
        return _run(price, loss, shape, stop)
    if isinstance(price.loss, Approximate) and price.ledger.terms.by == "basic":
        if gaussian and price.by in (None, "pld"):
            return _least_gaussian(purchase, shape, stop)
        mean = Fraction(BestOf(price.loss, shape=shape, stop=stop).mean) * (1 + Fraction(1, 10**9))
        loss = Approximate(price.epsilon / (2 + shape), price.delta / mean, neighbours=price.neighbours)
        return _run(price, loss, shape, stop)
    if not price.delta or price.ledger.terms.by == "basic":
        raise NotPrivate(
            "a search is paid with budget(epsilon=...), budget(epsilon=..., delta=...), or in a book by 'zcdp' or 'rdp'"
        )
    order = price.ledger.terms.order if sampled else None
    return _dearest_run(purchase, shape, stop, order)


def _run(price: Budget, loss: Pure | Approximate, shape: int, stop: Fraction) -> RunPrice:
    delta = loss.delta if isinstance(loss, Approximate) else Fraction(0)
    terms = Terms(loss.epsilon / BELOW, delta / BELOW, price.neighbours, price.person, "basic")
    return RunPrice(loss, terms, shape, stop, price.covers_a_part)


def _least_gaussian(purchase: Purchase, shape: int, stop: Fraction) -> RunPrice:
    """The run of the least Gaussian noise of which the best costs no more than the price.

    [docs/choosing.md, Theorems 4 and 5]
    """
    price = purchase.price

    def loss(noise: float) -> Gaussian:
        return Gaussian(Fraction(noise), neighbours=price.neighbours)

    low, high = log(LEAST_NOISE), log(MOST_NOISE)
    if not _is_paid(purchase, BestOf(loss(MOST_NOISE), shape=shape, stop=stop)):
        raise NotPrivate("the price buys no run of a search over so many tries; raise it or lower tries=")
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        paid = _is_paid(purchase, BestOf(loss(np.exp(middle)), shape=shape, stop=stop))
        low, high = (low, middle) if paid else (middle, high)
    found = loss(np.exp(high))
    room = _worth(_times(_squared(found), 1 / BELOW), price.delta)
    terms = Terms(room, price.delta, price.neighbours, price.person, "zcdp")
    return RunPrice(found, terms, shape, stop, price.covers_a_part)


def _is_paid(purchase: Purchase, loss: Loss) -> bool:
    """Whether the price covers a loss."""
    try:
        purchase.quote(loss)
    except BudgetExceeded:
        return False
    return True


def _squared(loss: Gaussian) -> ZeroConcentrated:
    """The rho of Gaussian noise; losses that are all Gaussian and have it together are no more than this one."""
    return ZeroConcentrated(1 / (2 * loss.noise**2), neighbours=loss.neighbours)


def _sign_epsilon(loss: Gaussian) -> float:
    """The epsilon of the sign of a Gaussian release, a little below: whatever has it is no more than the release.

    e^epsilon = Phi(1/(2 noise)) / Phi(-1/(2 noise))                                   [docs/choosing.md, Theorem 5]
    """
    half = float(1 / (2 * loss.noise))
    return float(special.log_ndtr(half) - special.log_ndtr(-half)) * float(BELOW)


def _dearest_run(purchase: Purchase, shape: int, stop: Fraction, order: Fraction | None) -> RunPrice:
    """The run of the largest rho, or divergence at an order, of which the best costs no more than the price.

    Its book is stated in (epsilon, delta) and holds a little more than that; its budget holds no more.
    """
    price = purchase.price

    def loss(amount: Fraction) -> ZeroConcentrated | RenyiBounded:
        if order is None:
            return ZeroConcentrated(amount, neighbours=price.neighbours)
        return RenyiBounded(amount, order=order, neighbours=price.neighbours)

    def fits(amount: Fraction) -> bool:
        return _is_paid(purchase, BestOf(loss(amount), shape=shape, stop=stop))

    if not fits(SMALLEST_RUN):
        raise NotPrivate(
            "the price buys no run of a search over so many tries; raise it, lower tries=, or keep a book by 'rdp' at "
            "a higher order"
        )
    low, high = log(SMALLEST_RUN), log(max(price.epsilon, SMALLEST_RUN))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(Fraction(np.exp(middle))) else (low, middle)
    found = loss(Fraction(np.exp(low)))
    room = _worth(_times(found, 1 / BELOW), price.delta)
    terms = Terms(room, price.delta, price.neighbours, price.person, "zcdp" if order is None else "rdp", order)
    return RunPrice(found, terms, shape, stop, price.covers_a_part)


def _times(loss: Loss, factor: Fraction) -> Loss:
    """The loss of a run, with its rho or divergence a little larger or smaller."""
    if isinstance(loss, RenyiBounded):
        return replace(loss, divergence=loss.divergence * factor)
    assert isinstance(loss, ZeroConcentrated)
    return replace(loss, rho=loss.rho * factor)


def _worth(loss: Loss, delta: Fraction) -> Fraction:
    """The epsilon of a run's loss at a delta, at its own Rényi order where it has one."""
    if isinstance(loss, RenyiBounded):
        return epsilon(loss, delta=delta, by="rdp", orders=[float(loss.order)])
    return epsilon(loss, delta=delta, by="zcdp")


def _stop(tries: int, shape: int) -> Fraction:
    """The chance to stop, one over a whole number, at which the mean number of runs is about `tries`."""
    if shape:
        return Fraction(1, tries)
    most = 1
    while log_mean(Fraction(1, most)) < tries:
        most *= 2
    low, high = max(most // 2, 1), most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if log_mean(Fraction(1, middle)) >= tries else (middle + 1, high)
    return Fraction(1, low)
