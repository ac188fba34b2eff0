"""Rule 12 where the table is in a service: hostile records in every type of column of Spark and of PostgreSQL.

A question to Spark takes seconds: these run under `make stress`; the gate compares its cells with those of polars.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from holders import HOSTILE, Holder
from postgres import Server
from service_holders import SPARK, postgres_holders, spark_holders
from tables.test_hostile_records import check, say  # noqa: F401

EVERY_CELL = 1000
A_FEW = 6
"""Hostile cells that are tried in a type of column; a question to Spark takes a second."""


def check_all(holders: Iterable[Holder], most: int, folder: Path, write: Callable[[str], None]) -> None:
    """Tries cells of each holder's own kind, evenly from its list."""
    for holder in holders:
        listed = HOSTILE[holder.kind]
        cells = listed[:: -(-len(listed) // most)]
        held, refused, wrong = check(holder, cells, folder)
        write(f"{holder}: {held} tables with one record, {refused} not holdable")
        assert wrong == []
        assert held > 0


@pytest.mark.stress
@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_rule_12_the_whole_hostile_list_in_postgres(
    postgres: Server,
    tmp_path: Path,
    say: Callable[[str], None],  # noqa: F811
) -> None:
    check_all(postgres_holders(postgres.database()), EVERY_CELL, tmp_path, say)


@pytest.mark.stress
@pytest.mark.service
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("column_type", sorted(SPARK))
def test_rule_12_hostile_records_in_spark(
    column_type: str,
    spark: Any,
    tmp_path: Path,
    say: Callable[[str], None],  # noqa: F811
) -> None:
    check_all([each for each in spark_holders(spark) if each.column_type == column_type], A_FEW, tmp_path, say)
