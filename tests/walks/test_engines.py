"""The twelfth walk of the steward on services: one question of a DuckDB file, PostgreSQL and a Spark cluster."""

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import sqlalchemy as sa
from hospital import schema_text, stays
from postgres import Server

from bruit import ADD_OR_REMOVE_ONE, Ledger, sql
from bruit.apps.steward.sources import open_plan
from bruit.central.questions import Limit
from bruit.tables import open_table
from bruit.tables.schema import Schema

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("spark")]

QUERY = "select ward, count(*) as n, avg(days) as d, count(distinct patient) as p from stays group by ward"


def in_duckdb_file(folder: Path) -> str:
    with duckdb.connect(str(folder / "stays.duckdb")) as connection:
        connection.register("frame", stays().to_arrow())
        connection.execute("create table stays as select * from frame")
    return str(folder / "stays.duckdb")


def in_postgres(server: Server) -> str:
    address = server.database()
    engine = sa.create_engine(address, poolclass=sa.NullPool)
    columns: list[sa.Column[Any]] = [
        sa.Column(name, kind)
        for name, kind in zip(
            stays().columns, (sa.Text,) * 3 + (sa.Integer, sa.Text, sa.Date, sa.Integer, sa.Double), strict=True
        )
    ]
    table = sa.Table("stays", sa.MetaData(), *columns)
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(sa.insert(table), stays().to_dicts())
    return address


def released(release: Any) -> Any:
    """What a release says, without when it was paid."""
    said = json.loads(release.to_json())
    return {name: value for name, value in said.items() if name != "receipt"}


def test_walk_12_one_question_of_a_duckdb_file_postgresql_and_a_spark_cluster(
    tmp_path: Path,
    postgres: Server,
    spark: Any,
) -> None:
    """At most three stays a patient: the same ones are chosen everywhere, and one statement says what was released."""
    schema = Schema.from_toml(schema_text("parquet", ""))
    stays().write_parquet(tmp_path / "stays.parquet")
    plans = {
        "polars": open_plan(str(tmp_path / "stays.parquet"), schema),
        "duckdb": open_plan(in_duckdb_file(tmp_path), schema),
        "postgresql": open_plan(in_postgres(postgres), schema),
        "spark": open_table(spark.read.parquet(str(tmp_path / "stays.parquet")), schema),
    }
    told = {}
    for engine, plan in plans.items():
        book = Ledger("hospital", epsilon=3, neighbours=ADD_OR_REMOVE_ONE, person="patient")
        answer = sql.ask(
            QUERY,
            tables={"stays": plan},
            budget=book.budget(epsilon=1),
            limit=Limit(rows=3),
            rng=np.random.default_rng(12),
        )
        told[engine] = (answer.frame.to_dicts(), released(answer.release))
    assert all(said == told["polars"] for said in told.values())
