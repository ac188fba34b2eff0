"""The sparse vector technique: many questions, paid for once, until one answer is above a threshold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from fractions import Fraction
from threading import RLock
from typing import NoReturn

import numpy as np

from bruit.central.noise import require_scale
from bruit.central.paying import equal_part, pay, require_price
from bruit.errors import InvalidArgument, PrivacyError
from bruit.ledger import Budget
from bruit.privacy import Guarantee, Pure
from bruit.randomness import discrete_laplace
from bruit.tables import Table

Question = Callable[[Table], int]
"""A whole number of a table that one person moves by at most the declared sensitivity."""


class AboveThreshold:
    """Says of each question whether its answer is above a noisy threshold, and stops at the first that is.

    Threshold + Lap(2 sensitivity / epsilon), each answer + Lap(4 sensitivity / epsilon), integer noise; the whole
    sequence costs epsilon, however many answers were below.                  [Dwork & Roth 2014, Thm 3.23; SPEC S3.1]
    The proof needs only |f(x) - f(x')| <= sensitivity and covers the sequence in which none is above.
    """

    def __init__(
        self,
        table: Table,
        threshold: int,
        *,
        sensitivity: int,
        budget: Budget | None,
        rng: np.random.Generator | None = None,
    ) -> None:
        for name, value, least in (("threshold", threshold, None), ("sensitivity", sensitivity, 1)):
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not whole or (least is not None and value < least):
                raise InvalidArgument(f"{name}={value!r} must be a whole number" + (", at least 1" if least else ""))
        price = require_price(budget, table, "central.AboveThreshold")
        epsilon = equal_part(price, 1, "central.AboveThreshold")
        require_scale(Fraction(4 * int(sensitivity)) / epsilon)
        charge, self._rng = pay(
            price, Pure(epsilon, neighbours=price.neighbours), what="central.AboveThreshold", rng=rng
        )
        self.guarantee: Guarantee = charge.guarantee
        self._table, self._scale, self._finished = table, Fraction(sensitivity) / epsilon, False
        self._threshold = int(threshold) + self._noise(2)
        self._asking, self._process = RLock(), os.getpid()

    def ask(self, question: Question) -> bool:
        """Whether the answer is above the threshold; after the first yes nothing more is answered."""
        with self._asking:
            if os.getpid() != self._process:
                raise PrivacyError("AboveThreshold cannot be copied into another process: two would share its noise")
            if self._finished:
                raise PrivacyError("AboveThreshold has found its answer above: pay for another one to ask on")
            answer = question(self._table)
            if not isinstance(answer, int | np.integer):
                raise InvalidArgument("a question must answer with a whole number")
            self._finished = int(answer) + self._noise(4) >= self._threshold
            return self._finished

    def first(self, questions: Iterable[Question]) -> int | None:
        """The index of the first question whose answer is above, or None."""
        return next((index for index, question in enumerate(questions) if self.ask(question)), None)

    def __reduce__(self) -> NoReturn:
        raise PrivacyError("AboveThreshold cannot be copied: two copies would answer with the same noise")

    def _noise(self, times: int) -> int:
        return int(discrete_laplace(times * self._scale, 1, rng=self._rng)[0])
