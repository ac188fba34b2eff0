"""Choosing one of several declared candidates by a private score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.central.asking import asked
from bruit.central.paying import equal_part, pay, require_price
from bruit.errors import InvalidArgument
from bruit.ledger import Budget
from bruit.privacy import ADD_OR_REMOVE_ONE, Pure, Release
from bruit.randomness import bernoulli_exp, permutation, uniform_below
from bruit.tables import Column, Table, draw_key
from bruit.tables.exact import histogram as exact_histogram

C = TypeVar("C")
Scores = Callable[[Table], ArrayLike]
"""One whole number for each candidate, the larger the better; called once, after the charge."""


def exponential(
    table: Table,
    candidates: Sequence[C],
    scores: Scores,
    *,
    sensitivity: int,
    monotone: bool = False,
    budget: Budget | None,
    rng: np.random.Generator | None = None,
) -> Release[C]:
    """One candidate, with probability proportional to exp(epsilon * score / (2 sensitivity)).

    `monotone` says that one person moves every score in the same direction: the factor 2 is then not needed.
    The draw is exact: a uniform candidate is kept with probability exp(-epsilon * (best - score) / (2 sensitivity)).
                                                                             [McSherry & Talwar 2007, Thm 6]
    """
    paid = _Choice(
        table, len(candidates), sensitivity=sensitivity, monotone=monotone, budget=budget, what="central.exponential"
    )
    return paid.release(candidates, lambda _: scores(table), "exponential mechanism", by_rejection, rng)


def noisy_max(
    table: Table,
    candidates: Sequence[C],
    scores: Scores,
    *,
    sensitivity: int,
    monotone: bool = False,
    budget: Budget | None,
    rng: np.random.Generator | None = None,
) -> Release[C]:
    """The candidate of the largest noisy score, by permute-and-flip: never worse than the exponential mechanism.

    Candidates are met in random order; each is taken with probability exp(-epsilon * (best - score) / (2 sensitivity)).
                                                                             [McKenna & Sheldon 2020, Alg. 1]
    """
    paid = _Choice(
        table, len(candidates), sensitivity=sensitivity, monotone=monotone, budget=budget, what="central.noisy_max"
    )
    return paid.release(candidates, lambda _: scores(table), "permute-and-flip", by_permutation, rng)


def most_common(column: Column, *, budget: Budget | None, rng: np.random.Generator | None = None) -> Release[str]:
    """The most frequent declared category, by permute-and-flip on the counts by category."""
    labels, rows = column.categories.labels, column.table.bounds[1]
    price = require_price(budget, column.table, "central.most_common")
    monotone = price.neighbours == ADD_OR_REMOVE_ONE
    paid = _Choice(
        column.table, len(labels), sensitivity=rows, monotone=monotone, budget=price, what="central.most_common"
    )
    return paid.release(
        labels,
        lambda source: exact_histogram([column], key=draw_key(source)),
        "permute-and-flip",
        by_permutation,
        rng,
        asked(column.table, by=(column,)),
    )


class _Choice:
    """What is checked and paid before scores are computed."""

    def __init__(
        self,
        table: Table,
        candidates: int,
        *,
        sensitivity: int,
        monotone: bool,
        budget: Budget | None,
        what: str,
    ) -> None:
        if isinstance(sensitivity, bool) or not isinstance(sensitivity, int) or sensitivity < 1:
            raise InvalidArgument(
                f"sensitivity={sensitivity!r} must be a whole number, at least 1: how far one person can move a score"
            )
        if candidates < 1:
            raise InvalidArgument(f"{what} needs at least one candidate, declared before seeing the data")
        self.candidates, self.what = candidates, what
        self.price = require_price(budget, table, what)
        self.epsilon = equal_part(self.price, 1, what)
        self.exponent = self.epsilon / (sensitivity * (1 if monotone else 2))

    def release(
        self,
        candidates: Sequence[C],
        scores: Callable[[np.random.Generator], ArrayLike],
        method: str,
        chosen: Callable[[NDArray[np.integer], Fraction, np.random.Generator], int],
        rng: np.random.Generator | None,
        details: dict[str, Any] | None = None,
    ) -> Release[C]:
        """Charges, computes the scores, draws."""
        charge, source = pay(self.price, Pure(self.epsilon, neighbours=self.price.neighbours), what=self.what, rng=rng)
        found = np.asarray(scores(source))
        if found.shape != (self.candidates,) or found.dtype.kind not in "iu":
            raise InvalidArgument(f"{self.what}: scores must be one whole number for each of the candidates")
        winner = candidates[chosen(found, self.exponent, source)]
        return charge.finish(Release(value=winner, guarantee=charge.guarantee, method=method, details=details or {}))


def by_rejection(scores: NDArray[np.integer], exponent: Fraction, rng: np.random.Generator) -> int:
    """An index with probability proportional to exp(exponent * score), exactly."""
    behind = _behind(scores)
    while True:
        index = int(uniform_below(len(behind), 1, rng=rng)[0])
        if bernoulli_exp(exponent * behind[index], 1, rng=rng)[0]:
            return index


def by_permutation(scores: NDArray[np.integer], exponent: Fraction, rng: np.random.Generator) -> int:
    """The first index in random order whose coin, of chance exp(-exponent * (best - score)), shows one."""
    behind = _behind(scores)
    order = iter(permutation(len(behind), rng=rng))
    return next(int(i) for i in order if bernoulli_exp(exponent * behind[i], 1, rng=rng)[0])


def _behind(scores: NDArray[np.integer]) -> list[int]:
    """How far each score is behind the best, in whole numbers that cannot overflow."""
    whole: list[int] = scores.tolist()
    best = max(whole)
    return [best - score for score in whole]
