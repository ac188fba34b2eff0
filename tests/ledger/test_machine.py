"""Any sequence of operations: the book is never overspent and never forgets (Hypothesis, against a plain model)."""

import copy
import itertools
import pickle
import shutil
import tempfile
from fractions import Fraction
from heapq import nlargest
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bruit.core import Outcome
from bruit.errors import BudgetExceeded, NeighboursDiffer
from bruit.ledger import Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, LOCAL, REPLACE_ONE, Approximate, Pure

AMOUNTS = st.builds(Fraction, st.integers(0, 9), st.sampled_from([1, 3, 7, 10, 12, 1000]))
DELTAS = st.builds(Fraction, st.integers(0, 9), st.sampled_from([10**6, 10**7, 3 * 10**6]))
CELLS = st.sampled_from(["north", "south", "west"])
LIMIT, FAILURE = Fraction(3), Fraction(1, 10**5)


class Bookkeeping(RuleBasedStateMachine):
    """A book beside a model that adds fractions."""

    store: str | None = None

    @initialize(neighbours=st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE, LOCAL]), cells=st.integers(1, 2))
    def create(self, neighbours: Any, cells: Any) -> None:
        self.neighbours = neighbours
        self.largest = cells if neighbours is ADD_OR_REMOVE_ONE else 2 * cells
        self.ledger = Ledger("book", epsilon=LIMIT, delta=FAILURE, neighbours=neighbours, person="id", store=self.store)
        self.parts = self.ledger.partition("region", cells=cells)
        self.whole, self.cells = (Fraction(0), Fraction(0)), {}  # type: ignore[var-annotated]
        self.open, self.finished, self.entries = [], 0, 0  # type: ignore[var-annotated]

    def loss(self, epsilon: Any, delta: Any) -> Any:
        if delta:
            return Approximate(epsilon, delta, neighbours=self.neighbours)
        return Pure(epsilon, neighbours=self.neighbours)

    def price(self, epsilon: Any, delta: Any) -> Any:
        """An amount, or the loss itself where there is no epsilon."""
        return {"epsilon": epsilon, "delta": delta} if epsilon else {"loss": self.loss(epsilon, delta)}

    def total(self, whole: Any, cells: Any) -> Any:
        return tuple(
            whole[axis] + sum(nlargest(self.largest, (cell[axis] for cell in cells.values()))) for axis in (0, 1)
        )

    def attempt(self, budget: Any, loss: Any, whole: Any, cells: Any) -> None:
        """Charges both the book and the model; they must agree on whether it fits."""
        fits = all(value <= most for value, most in zip(self.total(whole, cells), (LIMIT, FAILURE), strict=True))
        try:
            self.open.append(budget.charge(loss, what="step"))
        except BudgetExceeded:
            assert not fits
        else:
            assert fits
            self.whole, self.cells, self.entries = whole, cells, self.entries + 1

    @rule(epsilon=AMOUNTS, delta=DELTAS)
    def charge(self, epsilon: Any, delta: Any) -> None:
        budget = self.ledger.budget(**self.price(epsilon, delta))
        whole = (self.whole[0] + epsilon, self.whole[1] + delta)
        self.attempt(budget, self.loss(epsilon, delta), whole, self.cells)

    @rule(epsilon=AMOUNTS, delta=DELTAS, cell=CELLS)
    def charge_a_cell(self, epsilon: Any, delta: Any, cell: Any) -> None:
        before = self.cells.get(cell, (Fraction(0), Fraction(0)))
        cells = self.cells | {cell: (before[0] + epsilon, before[1] + delta)}
        budget = self.parts.budget(cell, **self.price(epsilon, delta))
        self.attempt(budget, self.loss(epsilon, delta), self.whole, cells)

    @rule(epsilon=AMOUNTS)
    def charge_more_than_the_price(self, epsilon: Any) -> None:
        with pytest.raises(BudgetExceeded):
            budget = self.ledger.budget(**self.price(epsilon, 0))
            budget.charge(self.loss(epsilon + Fraction(1, 1000), 0), what="dear")

    @rule()
    def charge_for_other_neighbours(self) -> None:
        other = REPLACE_ONE if self.neighbours is ADD_OR_REMOVE_ONE else ADD_OR_REMOVE_ONE
        with pytest.raises(NeighboursDiffer):
            self.ledger.budget(epsilon=1).charge(Pure(0, neighbours=other), what="other")

    @rule()
    def finish(self) -> None:
        if self.open:
            charge = self.open.pop()
            charge.finish(Outcome(self.finished, "step"))
            self.finished += 1

    @rule()
    def forget(self) -> None:
        self.open.clear()

    @rule()
    def copy(self) -> None:
        self.ledger = copy.deepcopy(self.ledger)
        if self.store:
            self.ledger = pickle.loads(pickle.dumps(self.ledger))

    @invariant()
    def spent_is_what_the_model_says(self) -> None:
        spent = self.ledger.spent
        assert (spent.epsilon, spent.delta) == self.total(self.whole, self.cells)
        assert spent.epsilon <= LIMIT
        assert spent.delta <= FAILURE

    def teardown(self) -> None:
        entries = self.ledger.entries
        assert [line.number for line in entries] == list(range(1, self.entries + 1))
        assert all(a.total.main <= b.total.main for a, b in itertools.pairwise(entries))
        assert sorted(kept.value for kept in self.ledger.releases) == list(range(self.finished))


class StoredBookkeeping(Bookkeeping):
    """The same in SQLite."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="bruit-")
        self.store = f"sqlite:///{self.folder}/book.db"

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


TestInMemory = Bookkeeping.TestCase
TestInMemory.settings = settings(max_examples=150, stateful_step_count=30)
TestInSqlite = StoredBookkeeping.TestCase
TestInSqlite.settings = settings(max_examples=15, stateful_step_count=25)
