"""The privacy rules that every statistic keeps, held for all of them at once."""

import logging
import warnings
from pathlib import Path
from typing import Any, Never

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import bruit
from bruit import central
from bruit.core import Neighbours
from bruit.errors import BruitError, BudgetExceeded, BudgetMissing

STATISTICS: dict[str, Any] = {
    "count": lambda x, city, pay: central.count(x, **pay),
    "sum": lambda x, city, pay: central.sum(x, **pay),
    "mean": lambda x, city, pay: central.mean(x, **pay),
    "variance": lambda x, city, pay: central.variance(x, **pay),
    "histogram": lambda x, city, pay: central.histogram(x, **pay),
    "marginal": lambda x, city, pay: central.histogram(city, x, **pay),
    "counts by group": lambda x, city, pay: central.group_by(city, **pay),
    "sums by group": lambda x, city, pay: central.group_by(city, values=x, **pay),
    "one quantile": lambda x, city, pay: central.quantiles(x, 0.5, **pay),
    "quantiles": lambda x, city, pay: central.quantiles(x, [0.25, 0.5, 0.75], **pay),
    "rank sums": lambda x, city, pay: central.rank_sums(x, city, **pay),
    "most common": lambda x, city, pay: central.most_common(city, **pay),
    "bounds": lambda x, city, pay: central.bounds(city.table["x"], largest=10, grid=1, **pay),
    "found groups": lambda x, city, pay: central.group_by(city.table["city"], **pay),
}
EXACT_PARTS = ("count", "sum", "marginal", "sums by group", "quantiles", "found groups")
"""Statistics that use every exact part of a table between them: what depends on the engine."""

OPENED: dict[str, Any] = {
    "polars": lambda rows, folder: rows,
    "pandas": lambda rows, folder: pd.DataFrame(
        {"id": rows["id"].to_list(), "x": rows["x"].to_numpy(), "city": rows["city"].to_list()}
    ),
    "duckdb": lambda rows, folder: duckdb.from_arrow(rows.to_arrow()),
    "csv": lambda rows, folder: rows.write_csv(folder / "people.csv") or folder / "people.csv",
}
PEOPLE: list[Any] = [
    (1, 3.0, "Lyon"),
    (2, 8.0, "Paris"),
    (3, 5.0, "Lyon"),
    (4, 5.0, "Rome"),
    (5, 0.0, "Paris"),
    (6, 9.0, "Lyon"),
]
BY_DOMAIN = {
    "infinite": ([(7, np.inf, "Lyon")], [(7, 10.0, "Lyon")]),
    "infinite below": ([(7, -np.inf, "Lyon")], [(7, -10.0, "Lyon")]),
    "above": ([(7, 1e300, "Lyon")], [(7, 10.0, "Lyon")]),
    "below": ([(7, -1e300, "Lyon")], [(7, -10.0, "Lyon")]),
    "between steps": ([(7, 4.0000001, "Lyon")], [(7, 4.0, "Lyon")]),
    "beyond the bound on rows": ([(7, 10.0, "Lyon")] * 9, [(7, 10.0, "Lyon")]),
    "nobody's row": ([(None, 4.0, "Lyon")], []),
}
"""Records, and those that the domain and the bounds make of them."""

MISSING = {"NaN": ([(7, np.nan, "Lyon")], [(7, 2.0, "Lyon")]), "null": ([(7, None, "Lyon")], [(7, 2.0, "Lyon")])}
UNKNOWN = {
    "unknown key": ([(7, 4.0, "Atlantis")], [(7, 4.0, "elsewhere")]),
    "no key": ([(7, 4.0, None)], [(7, 4.0, "elsewhere")]),
    "a long key": ([(7, 4.0, "ü" * 9999)], [(7, 4.0, "elsewhere")]),
}


def frame(rows: Any) -> Any:
    return pl.DataFrame(rows, schema={"id": pl.Int64, "x": pl.Float64, "city": pl.String}, orient="row")


def book(neighbours: Neighbours) -> bruit.Ledger:
    return bruit.Ledger("people", epsilon=50, delta=1e-2, neighbours=neighbours, person="id")


def asked(statistic: Any, source: Any, ledger: bruit.Ledger, *, epsilon: int = 2) -> Any:
    table = bruit.tables.read(source, person="id").limit(rows=1)
    x, city = table["x"].within(-10, 10, grid=1, missing=2), table["city"].among(["Lyon", "Paris"])
    price = {"epsilon": epsilon, "delta": 1e-3} if statistic == "found groups" else {"epsilon": epsilon}
    pay: dict[str, Any] = {"budget": ledger.budget(**price), "rng": np.random.default_rng(5)}
    return STATISTICS[statistic](x, city, pay)


def everything_told(
    statistic: str, source: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Any:
    """The release, the charge, and every line that anybody could see."""
    ledger = book(bruit.ADD_OR_REMOVE_ONE)
    caplog.clear()
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # of what earlier tests left open, whenever memory is swept
        release = asked(statistic, source, ledger).to_json()
    entries = [(entry.what, entry.loss, entry.guarantee) for entry in ledger.entries]
    lines = [record.getMessage() for record in caplog.records], [str(each.message) for each in warned]
    return release, entries, ledger.spent, lines, capfd.readouterr()


@pytest.mark.parametrize("engine", OPENED)
@pytest.mark.parametrize("record", {**BY_DOMAIN, **MISSING, **UNKNOWN})  # type: ignore[dict-item]
def test_rule_2_a_strange_record_is_what_the_domain_makes_of_it(
    record: str, engine: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """No exception, message, log line or charge differs, and the release is the same to the last digit."""
    statistics = set(STATISTICS) if engine == "polars" else set(EXACT_PARTS)
    if record in MISSING:
        statistics -= {"bounds"}  # which has no `missing`
    if record in UNKNOWN:
        statistics -= {"found groups"}  # where every key is its own
    strange, plain = ({**BY_DOMAIN, **MISSING, **UNKNOWN})[record]
    if engine == "csv" and record.startswith("infinite"):
        plain = [(7, 2.0, "Lyon")]  # the word is no number: missing
    for statistic in sorted(statistics):
        told = [
            everything_told(statistic, OPENED[engine](frame(PEOPLE + rows), tmp_path), caplog, capfd)
            for rows in (strange, plain)
        ]
        assert told[0] == told[1], statistic


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("values", [[], [np.nan] * 3, [np.inf, -np.inf], [None]], ids=str)
def test_rule_2_a_table_of_nothing_usable_still_answers(
    statistic: Any, values: list[Any], neighbours: Neighbours
) -> None:
    rows = [(place, value, None) for place, value in enumerate(values)]
    ledger = book(neighbours)
    asked(statistic, frame(rows), ledger)
    assert len(ledger.entries) == 1


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_release_says_which_columns_it_is_about(statistic: str, neighbours: Neighbours) -> None:
    told = asked(statistic, frame(PEOPLE), book(neighbours)).details["asked"]
    assert {column["name"] for column in told["columns"] + told["by"]} <= {"x", "city"}
    assert told["columns"] + told["by"]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_rule_2_an_engine_that_fails_over_rows_that_are_people_says_nothing(
    statistic: str, neighbours: Neighbours
) -> None:
    def fails(rows: Any) -> Never:
        raise RuntimeError("a record of somebody")

    schema = {"x": pl.Float64, "city": pl.String}
    source = frame(PEOPLE).drop("id").lazy().map_batches(fails, schema=schema)
    table = bruit.tables.read(source, person=bruit.EACH_ROW)
    ledger = bruit.Ledger("rows", epsilon=50, delta=1e-2, neighbours=neighbours, person=bruit.EACH_ROW)
    x, city = table["x"].within(-10, 10, grid=1, missing=2), table["city"].among(["Lyon", "Paris"])
    with pytest.raises(BruitError) as raised:
        STATISTICS[statistic](x, city, {"budget": ledger.budget(epsilon=2, delta=1e-3)})
    assert "somebody" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("statistic", STATISTICS)
class TestChargedBeforeTheTableIsRead:
    @pytest.fixture
    def watched(self) -> tuple[Any, list[Any]]:
        """A table that says when it is read."""
        reads = []

        def note(rows: Any) -> Any:
            reads.append(len(rows))
            return rows

        schema = {"id": pl.Int64, "x": pl.Float64, "city": pl.String}
        return frame(PEOPLE).lazy().map_batches(note, schema=schema, streamable=False), reads

    def test_rule_1_without_a_budget_nothing_is_read(self, statistic: str, watched: tuple[Any, list[Any]]) -> None:
        table = bruit.tables.read(watched[0], person="id").limit(rows=1)
        x, city = table["x"].within(-10, 10, grid=1), table["city"].among(["Lyon", "Paris"])
        with pytest.raises(BudgetMissing):
            STATISTICS[statistic](x, city, {"budget": None})
        assert watched[1] == []

    def test_nothing_is_read_for_a_book_that_has_too_little_left(
        self, statistic: str, neighbours: Neighbours, watched: tuple[Any, list[Any]]
    ) -> None:
        ledger = book(neighbours)
        with pytest.raises(BudgetExceeded):
            asked(statistic, watched[0], ledger, epsilon=51)
        assert watched[1] == []
        assert ledger.entries == ()

    def test_what_was_read_was_charged(
        self, statistic: str, neighbours: Neighbours, watched: tuple[Any, list[Any]]
    ) -> None:
        ledger = book(neighbours)
        asked(statistic, watched[0], ledger)
        assert watched[1] != []
        assert ledger.spent.epsilon > 0

    def test_an_engine_that_fails_half_way_leaves_the_charge(self, statistic: str, neighbours: Neighbours) -> None:
        def fails(rows: Any) -> Never:
            raise RuntimeError("a record of somebody")

        schema = {"id": pl.Int64, "x": pl.Float64, "city": pl.String}
        source, ledger = frame(PEOPLE).lazy().map_batches(fails, schema=schema), book(neighbours)
        with pytest.raises(BruitError) as raised:
            asked(statistic, source, ledger)
        assert "somebody" not in str(raised.value)
        assert raised.value.__cause__ is None
        assert ledger.spent.epsilon > 0
