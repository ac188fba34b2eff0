"""The twelfth walk of the steward on services: one question of a DuckDB file, PostgreSQL and a Spark cluster."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import sqlalchemy as sa
from hospital import schema_text, stays
from postgres import Server

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.steward.answers import answer_table
from bruit.apps.steward.exports import answer_bytes
from bruit.apps.steward.queries import Query
from bruit.apps.steward.sources import open_plan
from bruit.apps.steward.statements import make_statement, statement_page, statement_text
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


def sheets(workbook: bytes) -> dict[str, bytes]:
    """The texts and cells of a workbook, without the minute in which it was written."""
    with zipfile.ZipFile(io.BytesIO(workbook)) as parts:
        return {name: parts.read(name) for name in parts.namelist() if name != "docProps/core.xml"}


def published(plan: Any) -> dict[str, Any]:
    """Everything a steward may publish of the question: the answer, its statement, and every kind of file."""
    book = Ledger("hospital", epsilon=3, delta=1e-6, neighbours=ADD_OR_REMOVE_ONE, person="patient")
    query = Query(QUERY, {"stays": plan}, Limit(rows=3))
    release = query.question.release(budget=book.budget(epsilon=1), rng=np.random.default_rng(12))
    answer = answer_table(query, release)
    statement = make_statement("Stays by ward", [answer], book=book, guarantee=release.guarantee, number=1)
    files = {end: answer_bytes(answer, end, about=statement.facts) for end in (".csv", ".json", ".parquet", ".svg")}
    said = json.loads(release.to_json())
    return files | {
        "release": {name: value for name, value in said.items() if name != "receipt"},  # which holds the time
        "rows": answer.frame.to_dicts(),
        "text": statement_text(statement),
        "page": statement_page(statement),
        ".xlsx": sheets(answer_bytes(answer, ".xlsx", about=statement.facts)),
    }


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
    told = {engine: published(plan) for engine, plan in plans.items()}
    for engine, said in told.items():
        for what, content in said.items():
            assert content == told["polars"][what], (engine, what)
    text = told["polars"]["text"]
    assert all(part in text for part in ("at most 3 rows of each person", "'patient'", "ε = 1", "'hospital', entry 1"))
