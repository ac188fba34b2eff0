"""Plans private nearest-neighbour votes before any record is read: method, noise and price of each answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bruit.channels import IntegerNoise, PermuteAndFlip
from bruit.core.arguments import whole
from bruit.core.losses import Approximate, DiscreteGaussian, DiscreteLaplace, Loss, Pure
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Budget
from bruit.privacy import calibrate, concentrated_price

Method = Literal["auto", "permute-and-flip", "laplace", "gaussian", "document"]
METHODS = get_args(Method)


@dataclass(frozen=True)
class VotePlan:
    """The number of queries, the mechanism that answers each, and their total privacy loss.

    One person with r rows exchanges at most r of the k voters, whether people are added, removed or exchanged
    (docs/neighbours.md): no class moves by more than r, all of them together by 2r, their squares by 2r^2.
    """

    method: str
    queries: int
    loss: Loss
    channel: IntegerNoise | PermuteAndFlip
    """What the votes for the classes of one question are sent through."""

    def answers(self, votes: NDArray[np.int64], *, rng: np.random.Generator) -> NDArray[np.int64]:
        """The chosen class index for each row of votes; classes without votes take part too."""
        if isinstance(self.channel, PermuteAndFlip):
            return np.array([self.channel.send(row, rng) for row in votes], np.int64)
        return np.asarray(self.channel.send(votes, rng).argmax(axis=1), np.int64)


def plan_answers(price: Budget, method: str, *, queries: int | None, per_query: Exact | None, rows: int) -> VotePlan:
    """The plan that a budget allows, for a given number of queries or a given epsilon of each.

    permute-and-flip   Pure(e), exponent e / (2 r)                        [McKenna & Sheldon 2020, Alg. 1]
    laplace            discrete Laplace of scale 2 r / e on every class   [Ghosh et al. 2009]
    gaussian           discrete Gaussian on every class                   [Canonne, Kamath and Steinke 2020]
    document           discrete Laplace of scale 1 / e on every class, which costs 2 r e       [docs/spec.md S4, errata]
    """
    chosen = _choose_method(price, method, queries, per_query)
    if chosen == "gaussian":
        return _gaussian(price, whole(queries, "queries"), rows)
    moved = 2 * rows
    if chosen == "document":
        each = exactly(0 if per_query is None else per_query, "per_query")
        number = _affordable(price, each * moved)
        loss = DiscreteLaplace(1 / each, sensitivity=moved, neighbours=price.neighbours)
        return VotePlan(chosen, number, loss * number, IntegerNoise(loss))
    each, number = _share_price(price, queries, per_query)
    if chosen == "laplace":
        noise = IntegerNoise.laplace(each, sensitivity=moved, neighbours=price.neighbours)
        return VotePlan(chosen, number, noise.loss * number, noise)
    choice = PermuteAndFlip(each / moved, sensitivity=rows)
    return VotePlan(chosen, number, Pure(each, neighbours=price.neighbours) * number, choice)


def _choose_method(price: Budget, method: str, queries: int | None, per_query: Exact | None) -> str:
    if (queries is None) == (per_query is None):
        raise InvalidArgument(
            "give either queries=, how many questions the budget pays for, or per_query=, what each may cost"
        )
    if method not in METHODS:
        raise InvalidArgument(f"method={method!r}: give one of {', '.join(METHODS)}")
    if not isinstance(price.loss, Pure | Approximate):
        raise NotPrivate("votes are noised question by question: give their budget as an epsilon, not as a single loss")
    if method == "auto":
        return "gaussian" if price.delta and queries is not None else "permute-and-flip"
    if method == "gaussian" and (per_query is not None or not price.delta):
        raise InvalidArgument("method='gaussian' needs queries= and a budget with a delta")
    if method == "document" and per_query is None:
        raise InvalidArgument("method='document' needs per_query=: the epsilon of one question as the slides count it")
    return method


def _share_price(price: Budget, queries: int | None, per_query: Exact | None) -> tuple[Fraction, int]:
    """The epsilon of one question, and how many there are."""
    if per_query is None:
        number = whole(queries, "queries")
        return price.epsilon / number, number
    each = exactly(per_query, "per_query")
    return each, _affordable(price, each)


def _affordable(price: Budget, each: Fraction) -> int:
    if not 0 < each <= price.epsilon:
        raise InvalidArgument(
            f"one question costs epsilon={float(each):g}; a budget of epsilon={float(price.epsilon):g} pays for none: "
            "give a per_query= above zero that the budget holds at least once"
        )
    return floor(price.epsilon / each)


def _gaussian(price: Budget, queries: int, rows: int) -> VotePlan:
    """The least noise whose questions cost at most the price.

    A single exchanged voter moves two classes by one each, as two numbers of sensitivity one: their exact law is
    composed. For people with several rows the concentrated price of the squared sensitivity 2 r^2 is taken.
    """
    relation, terms = price.neighbours, price.ledger.terms
    by = price.by or {"basic": "pld"}.get(terms.by, terms.by)
    if rows == 1 and by != "zcdp":
        noise = calibrate(
            lambda level: DiscreteGaussian(level**2, squared_sensitivity=1, neighbours=relation) * (2 * queries),
            epsilon=price.epsilon,
            delta=price.delta,
            by=by,
        )
        single = DiscreteGaussian(noise**2, squared_sensitivity=1, neighbours=relation)
        return VotePlan("gaussian", queries, single * (2 * queries), IntegerNoise(single))
    rho = concentrated_price(float(price.epsilon), float(price.delta))
    variance = queries * rows**2 / rho
    both = DiscreteGaussian(variance, squared_sensitivity=2 * rows**2, entries=2 * rows, neighbours=relation)
    return VotePlan("gaussian", queries, both * queries, IntegerNoise(both))
