"""The privacy odometer: a running total that is valid even when later questions depend on it.

A filter promises the whole of a book. An odometer is read while questions follow answers, and stopping because of what
it shows must not break it: of neighbours P and P', any set S of answers after which it shows at most (epsilon, delta)
has P(S) <= e^epsilon P'(S) + delta.

    basic           the sums of the epsilons and of the deltas                         [Rogers et al. 2016, Sec. 3]
    rdp, order a    R + log(1/delta) / (a - 1), R the sum of the divergences
    zcdp            the least of a rho + log(J/delta) / (a - 1) over J orders a that are fixed when the book is made

Basic: what comes after the figure may be answered by nothing, and the proof of the filter holds. The privacy loss L
itself is above the sum of the epsilons more often than delta says: an (epsilon, delta) allows it.

For an order a more is true, with a chance of at least 1 - delta L is at most the figure at every time:
exp((a - 1) (L - R)) is a supermartingale whatever is asked next, since each question adds its own
divergence to R and exp((a - 1) L) grows by no more on average; so it passes 1/delta with a chance of at most delta, at
whatever time [Ville]. For rho-zCDP the divergence of order a is a rho; over J orders the chances add up, J delta/J.
What a book keeps for chances of failure is no part of that delta: they add to it.
"""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

from bruit.core.numbers import rounded_up
from bruit.ledger.books.units import Units
from bruit.ledger.pricing import UNITS, Amount, capacity
from bruit.ledger.terms import Terms

ORDERS = 12
"""The orders of a zCDP odometer: one for each fourth of the book's rho, and of the rest, and so on."""


def odometer(spent: Units, terms: Terms) -> Amount:
    """The (ε, δ) of everything released so far, valid at whatever moment it is read; never below zero."""
    total, delta = spent.exact
    measure = UNITS[terms.by]
    if terms.by == "basic" or not total:
        return Amount(total, delta, total, measure)
    left = terms.delta - terms.failures
    if terms.order is not None:
        worth = float(total) - log(left) / float(terms.order - 1)
    else:
        over = log(ORDERS) - log(left)
        worth = min(order * float(total) + over / (order - 1) for order in _orders(terms, over))
    return Amount(rounded_up(worth), terms.delta, total, measure)


def _orders(terms: Terms, over: float) -> list[float]:
    """For each rho of the whole book, a fourth of it, a sixteenth, ... the order that is best there."""
    rho = float(max(capacity(terms).exact[0], Fraction(1, 10**12)))
    return [1 + sqrt(over / rho) * 2**place for place in range(ORDERS)]
