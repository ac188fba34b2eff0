"""A real PostgreSQL as a source: the integers, and so the release, that the same rows give in polars and DuckDB."""

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
import sqlalchemy
from postgres import Server

import bruit
from bruit.central.questions import Limit, Question, count, mean, people, quantiles, total
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category, date, found, number, text, time, whole, yesno

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("postgres")]

COLUMNS = {
    "id": whole(),
    "name": text(),
    "ward": category(["A", "é"]),
    "days": number(0, 60, grid="0.5"),
    "emergency": yesno(yes=["true"], no=["false"]),
    "admitted": date(first="2025-01-01", last="2025-12-31"),
    "seen": time(first="2025-01-01", last="2025-12-31", zone="Europe/Paris"),
    "city": found(longest=6),
}
KINDS = """id bigint, name varchar(20), ward char(6), days numeric(6, 1), emergency boolean, admitted date,
seen timestamp, city text"""


def stays(n: int = 1500) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    days = pl.Series("admitted", rng.integers(20_080, 20_520, n)).cast(pl.Int32).cast(pl.Date)
    return pl.DataFrame(
        {
            "id": pl.Series(rng.integers(-200, 300, n)).set(pl.int_range(n, eager=True) % 50 == 3, None),
            "name": [f"é{i}" for i in rng.integers(0, 400, n)],
            "ward": rng.choice(["A", "é", "x", None], n).tolist(),
            "days": (rng.integers(-10, 150, n) / 2).tolist(),
            "emergency": rng.choice([True, False, None], n).tolist(),
            "admitted": days,
            "seen": days.cast(pl.Datetime("us")).dt.offset_by("7h"),
            "city": rng.choice(["Lyon", "Åre", "Nice-Nord", None], n).tolist(),
        }
    )


@pytest.mark.parametrize("person", ["id", "name"])
def test_postgresql_gives_the_release_that_the_same_rows_give_elsewhere(postgres: Server, person: str) -> None:
    frame, engine = stays(), sqlalchemy.create_engine(postgres.database())
    with engine.begin() as connection:
        connection.exec_driver_sql(f"create table stays ({KINDS})")
        rows = [dict(zip(frame.columns, row, strict=True)) for row in frame.rows()]
        places = ", ".join(f":{name}" for name in frame.columns)
        connection.execute(sqlalchemy.text(f"insert into stays values ({places})"), rows)
    schema, texts = Schema(person, COLUMNS, name="stays"), []
    sources: list[tuple[Any, Any]] = [
        (frame, None),
        (duckdb.connect().from_arrow(frame.to_arrow()), None),
        ("select * from stays where city like '%' or city is null", engine),
    ]
    for source, connection_ in sources:
        table = open_table(source, schema, connection=connection_)
        days = table["days"]
        asked = Question(
            table.where(~table["emergency"].equals("yes") | table["emergency"].is_missing),
            {"n": count(), "who": people(), "sum": total(days), "mean": mean(days), "q": quantiles(days, [0.5])},
            {"ward": table["ward"], "month": table["admitted"].part("month"), "city": table["city"]},
            Limit(groups=2, each=2),
        )
        exact = asked.reader.read(np.random.default_rng(2))
        texts.append(([part.tolist() for part in exact.parts], exact.found))
        book = bruit.Ledger("h", epsilon=99, delta=0.1, neighbours=bruit.ADD_OR_REMOVE_ONE, person=person)
        release = asked.release(budget=book.budget(epsilon=90, delta=0.05), rng=np.random.default_rng(3))
        texts.append(release.to_json())
    engine.dispose()
    assert texts[:2] == texts[2:4] == texts[4:]
