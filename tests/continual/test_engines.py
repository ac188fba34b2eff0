"""The same rows from every engine are the same period."""

from collections.abc import Callable
from typing import Any

import duckdb
import pandas
import polars
import pytest
from continual.conftest import people

from bruit.continual import Histogram, Stream, once
from bruit.ledger import Ledger
from bruit.tables import among, read

ROWS = {"id": list(range(400)), "ward": ["A", "B", "A", None] * 100}
SURE = 1 - 1e-9


def of_duckdb() -> object:
    frame = polars.DataFrame(ROWS)  # noqa: F841  DuckDB reads it by its name
    return duckdb.sql("SELECT * FROM frame")


@pytest.mark.parametrize("make", [lambda: polars.DataFrame(ROWS), lambda: pandas.DataFrame(ROWS), of_duckdb])
def test_a_period_may_come_from_any_engine(book: Callable[..., Ledger], make: Callable[..., Any]) -> None:
    ledger = book()
    stream = Stream(
        "wards",
        Histogram("ward", among(["A", "B"]), rows=1),
        participation=once(),
        periods=4,
        budget=ledger.budget(epsilon=50, delta="1e-6"),
    )
    release = stream.update(read(make(), person="id"), confidence=SURE)
    assert max(abs(release.value - [200, 100, 100])) <= release.noise
    again = stream.update(people(*range(400), ward=["B"] * 400), confidence=SURE)  # they came before
    assert max(abs(again.value - [200, 100, 100])) <= again.noise
