import polars as pl
import pytest

import bruit
from bruit.core import Neighbours
from bruit.tables import Table


@pytest.fixture(params=[bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE])
def neighbours(request: pytest.FixtureRequest) -> Neighbours:
    return request.param


@pytest.fixture
def ledger(neighbours: Neighbours) -> bruit.Ledger:
    return bruit.Ledger("rows", epsilon=10_000, neighbours=neighbours, person=bruit.EACH_ROW)


@pytest.fixture
def table() -> Table:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.5, 9.0], "city": ["Paris", "Lyon", "Lyon", "Rome"]})
    return bruit.tables.read(frame, person=bruit.EACH_ROW)
