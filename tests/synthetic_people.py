"""A small table of people with patterns, and its declared columns."""

import numpy as np
import polars as pl

from bruit.tables import Domain, among, within

COLUMNS: dict[str, Domain] = {
    "age": within(0, 99, grid=1, missing=0),
    "licence": among(["yes", "no"], drop_others=True),
    "region": among(["north", "south"]),
    "income": within(0, 1000, grid=10),
}


def people(rows: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    licence = np.where((age >= 18) & (rng.random(rows) < 0.8), "yes", "no")
    income = np.where(rng.random(rows) < 0.1, np.nan, age * 5 + rng.integers(0, 400, rows))
    return pl.DataFrame(
        {"id": np.arange(rows), "age": age, "licence": licence, "region": rng.choice(["north", "south", "?"], rows)}
    ).with_columns(pl.Series("income", income))
