"""The joint quantiles, enumerated: no two neighbouring tables have laws further apart than ε, and some come close.

Every outcome of the program's own draws is gone through, with the weights that it computes in floating point: what is
measured is the law that is drawn, pruning, floor and rounding included.                  [docs/joint_quantiles.md]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import polars

from bruit import sweeps
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.apps.studies.joint_quantiles.enumeration import largest_loss, law_of
from bruit.central.ranks.mechanisms.joint import JointPlan, Sums, joint_plan
from bruit.central.ranks.records import Person

Counts = tuple[int, ...]
"""A table: how many records lie in each cell of the grid."""

PEOPLE = {
    "add or remove one": Person(1, exchanged=False, fixed_size=False),
    "replace one": Person(1, exchanged=True, fixed_size=True),
    "replace or drop one": Person(1, exchanged=True, fixed_size=False),
}
"""What one person, with one record, may change; only under "replace one" is the number of records public."""

QUANTILES = {
    "median": (Fraction(1, 2),),
    "thirds": (Fraction(1, 3), Fraction(2, 3)),
    "quartiles": (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
}
CELLS = 3
ASKED = {"small": ["median"], "full": list(QUANTILES)}
EPSILONS = {"small": ["3"], "full": ["0.1", "0.3", "1", "3", "10", "25"]}
SMALL_ROWS = {"small": 2, "full": 4}
RANDOM_TABLES = {"small": 10, "full": 60}
REACH = 40
"""Random tables have up to REACH · D/ε records: larger losses would have no weight beside the mechanism's floor."""

PILES = ((0, 0, 200), (200, 0, 0), (60, 60, 60), (0, 100, 0), (67, 66, 67), (1, 150, 1), (0, 26, 26), (133, 0, 267))
"""Tables with many equal records: at one end, in the middle, with empty cells, near the target ranks."""


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Enumerates the laws of many tables and of all their neighbours; writes the largest losses and a figure."""
    folder.mkdir(parents=True, exist_ok=True)
    points = [
        {"relation": relation, "quantiles": quantiles, "epsilon": epsilon, "tables": tables, "size": size}
        for relation in PEOPLE
        for quantiles in ASKED[size]
        for epsilon in EPSILONS[size]
        for tables in ("all small", "piles", "random")
        if tables != "all small" or Fraction(epsilon) >= 1  # below, the laws of few records hardly differ
    ]
    file = folder / f"sweep_{size}.jsonl"
    rows = sweeps.run(enumerate_pairs, points, repeats=1, rng=rng, file=file, on_progress=on_progress)
    table = rows.drop("repeat", "size")
    table.write_csv(folder / "losses.csv")
    figures = headline(table)
    return Findings(summarise(figures), (folder / "losses.csv", plot_losses(folder / "losses.png", table)), figures)


def enumerate_pairs(
    *, rng: np.random.Generator, relation: str, quantiles: str, epsilon: str, tables: str, size: Size
) -> Mapping[str, float]:
    """The largest loss between the laws of each table of a family and those of all its neighbours, over ε."""
    price, person = Fraction(epsilon), PEOPLE[relation]
    step = 1 if tables == "all small" else None  # a wide step gives all small tables the same law
    plan = joint_plan(QUANTILES[quantiles], CELLS, price, person, step=step)
    assert plan is not None
    law = lru_cache(maxsize=None)(lambda counts: enumerate_law(counts, plan))
    losses = [
        largest_loss(law(counts), law(other))
        for counts in family(tables, REACH * person.moves / price, size, rng)
        for other in neighbours_of(counts, person)
    ]
    return {"pairs": float(len(losses)), "loss_over_epsilon": max(losses) / float(price)}


def enumerate_law(counts: Counts, plan: JointPlan) -> dict[Counts, float]:
    """The exact law of the cuts that the program draws for a table."""
    sums = Sums(np.repeat(np.arange(len(counts)), counts), plan)
    return law_of(lambda draws: tuple(sums.draw(draws).tolist()))


def family(tables: str, most: Fraction, size: Size, rng: np.random.Generator) -> list[Counts]:
    """The tables of one kind: all small ones, piles of ties, or random multiplicities of up to `most` records."""
    if tables == "all small":
        few = range(SMALL_ROWS[size] + 1)
        return [counts for counts in product(few, repeat=CELLS) if sum(counts) in few]
    if tables == "piles":
        return list(PILES if size == "full" else PILES[:3])
    rows = rng.integers(1, int(most) + 4, RANDOM_TABLES[size])
    return [tuple(rng.multinomial(n, rng.dirichlet(np.full(CELLS, 0.5))).tolist()) for n in rows]


def neighbours_of(counts: Counts, person: Person) -> Iterator[Counts]:
    """Every table that one person with one record makes of this one."""
    cells = range(len(counts))
    if not person.fixed_size:
        yield from (_moved(counts, cell, 1) for cell in cells)
        yield from (_moved(counts, cell, -1) for cell in cells if counts[cell])
    if person.exchanged:
        yield from (
            _moved(_moved(counts, old, -1), new, 1) for old in cells if counts[old] for new in cells if new != old
        )


def _moved(counts: Counts, cell: int, by: int) -> Counts:
    return tuple(count + by * (place == cell) for place, count in enumerate(counts))


def headline(table: polars.DataFrame) -> dict[str, float]:
    """How many pairs of neighbouring tables were compared, and the largest loss over ε for each relation."""
    worst = table.group_by("relation", maintain_order=True).agg(polars.col("loss_over_epsilon").max())
    found = {f"largest loss over ε, {relation}": float(loss) for relation, loss in worst.iter_rows()}
    return {"pairs": float(table["pairs"].sum())} | found


def summarise(figures: Mapping[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    worst = ", ".join(f"{figures[f'largest loss over ε, {name}']:.4f} ε ({name})" for name in PEOPLE)
    return (
        f"The laws of {figures['pairs']:.0f} pairs of neighbouring tables were enumerated from the program's own "
        f"weights. The largest losses are {worst}: never more than ε, and a price below these shares of it would be "
        "false."
    )


def plot_losses(path: Path, table: polars.DataFrame) -> Path:
    """Plots the largest loss of each relation against ε, as a share of ε."""
    numbers = table.with_columns(polars.col("epsilon").cast(polars.Float64))
    series = []
    for relation in PEOPLE:
        part = numbers.filter(polars.col("relation") == relation)
        worst = part.group_by("epsilon").agg(polars.col("loss_over_epsilon").max()).sort("epsilon")
        series.append(plots.Series(relation, worst["epsilon"], worst["loss_over_epsilon"]))
    return plots.curves(
        path,
        [*series, plots.Series("what is charged", [0.1, 25], [1, 1], dashed=True)],
        title="The loss of joint quantiles, enumerated",
        x="ε",
        y="largest loss, share of ε",
        x_scale="log",
    )
