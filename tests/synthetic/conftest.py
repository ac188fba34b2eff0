"""A declared table and a fresh book."""

from collections.abc import Callable

import pytest
from synthetic_people import people

import bruit
from bruit.ledger import Budget
from bruit.privacy import Neighbours
from bruit.tables import Table, read


@pytest.fixture(scope="session")
def table() -> Table:
    return read(people(4000), person=bruit.EACH_ROW)


@pytest.fixture
def budget() -> Callable[..., Budget]:
    def make(
        epsilon: float = 3,
        *,
        neighbours: Neighbours = bruit.ADD_OR_REMOVE_ONE,
        person: str = bruit.EACH_ROW,
        by: str = "basic",
    ) -> Budget:
        book = bruit.Ledger("b", epsilon=epsilon, delta="1e-5", neighbours=neighbours, person=person, by=by)
        return book.budget(epsilon=epsilon, delta="1e-5")

    return make
