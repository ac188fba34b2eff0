"""The sparse vector technique: many queries for one charge, until one answer is above a threshold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from fractions import Fraction
from threading import RLock
from typing import NoReturn

import numpy as np

from bruit.central.caller_functions import read_numbers, try_on_no_rows
from bruit.channels import require_scale
from bruit.core.arguments import whole
from bruit.core.guarantee import Guarantee
from bruit.core.losses import Pure
from bruit.core.release import Outcome, Release
from bruit.errors import PrivacyError
from bruit.ledger import Budget, ask
from bruit.mechanisms import part_of
from bruit.randomness import discrete_laplace
from bruit.tables import Table

Query = Callable[[Table], int]
"""A whole number of a table that one person moves by at most the declared sensitivity."""


class AboveThreshold:
    """Tells of each query whether its answer is above a noisy threshold, and stops at the first one above.

    Threshold + Lap(2 sensitivity / epsilon), each answer + Lap(4 sensitivity / epsilon), integer noise; the whole
    sequence costs epsilon, however many answers were below.            [Dwork & Roth 2014, Thm 3.23; docs/spec.md S3.1]
    The proof needs only |f(x) - f(x')| <= sensitivity and covers the sequence in which none is above. Its entry in the
    book is finished by the first answer above, or by `close()`.
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
        whole(threshold, "threshold", least=None)
        whole(sensitivity, "sensitivity")
        purchase = ask(budget, what="central.AboveThreshold", person=table.person, rng=rng)
        epsilon = part_of(purchase.price, 1, purchase.what)
        require_scale(Fraction(4 * int(sensitivity)) / epsilon)
        self._charge = purchase.pay(Pure(epsilon, neighbours=purchase.price.neighbours))
        self.guarantee: Guarantee = self._charge.guarantee
        self._rng, self._table, self._scale = self._charge.generator(), table, Fraction(int(sensitivity)) / epsilon
        self._threshold = int(threshold) + self._noise(2)
        self._asked, self._in_question = 0, False
        self._release: Release[int | None] | None = None
        self._asking, self._process = RLock(), os.getpid()

    def ask(self, question: Query) -> bool:
        """Whether the query's noisy answer is above the noisy threshold; after the first yes no query is answered.

        A question is tried on no rows first; its answer on the table is floored, and zero where it is no number.
        """
        with self._asking:
            answer = self._answer(question)
            self._require_open()
            above = answer + self._noise(4) >= self._threshold
            self._asked += 1
            if above:
                self._finish(self._asked - 1)
            return above

    def _answer(self, question: Query) -> int:
        """Evaluates a question, and refuses one that asks AboveThreshold in turn."""
        self._require_open()
        if self._in_question:
            raise PrivacyError("a question cannot ask AboveThreshold itself: its answer would be given beside another")
        self._in_question = True
        try:
            try_on_no_rows(question, self._table, numbers=None, what="central.AboveThreshold")
            (answer,) = read_numbers(question, self._table, 1)
            return int(answer)
        finally:
            self._in_question = False

    def first(self, questions: Iterable[Query]) -> int | None:
        """The index of the first query whose answer is above the threshold, or None."""
        return next((index for index, question in enumerate(questions) if self.ask(question)), None)

    def close(self) -> Release[int | None]:
        """Ends the queries and releases the index of the one above the threshold, or None."""
        with self._asking:
            if self._in_question:
                raise PrivacyError("a question cannot close AboveThreshold: its own answer is still to be given")
            return self._release if self._release is not None else self._finish(None)

    def _finish(self, above: int | None) -> Release[int | None]:
        details = {"questions": self._asked}
        self._release = self._charge.finish(Outcome(above, "sparse vector technique", details=details))
        return self._release

    def _require_open(self) -> None:
        if os.getpid() != self._process:
            raise PrivacyError("AboveThreshold cannot be copied into another process: two would share its noise")
        if self._release is not None:
            raise PrivacyError("AboveThreshold has found its answer above or was closed: pay for another one to ask on")

    def __reduce__(self) -> NoReturn:
        raise PrivacyError("AboveThreshold cannot be copied: two copies would answer with the same noise")

    def _noise(self, times: int) -> int:
        return int(discrete_laplace(times * self._scale, 1, rng=self._rng)[0])
