"""Synthetic tables of data that set nothing: two surveys, a network of 40 columns, linked tables, a wide one.

The settings are those found on Adult. Cells are stated, from the code books and not from the data. mbi's AIM runs on
the surveys in its full settings, once: it takes minutes.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from benchmarks.case import Case, Peer, Prepare, Work
from benchmarks.synthetic.peers import FULL, aim

DELTA = "1e-5"
PRICES = (0.5, 1.0, 3.0)
EDGES: dict[str, dict[str, tuple[float, ...]]] = {
    "fair": {
        "rate_marriage": (2, 3, 4, 5),
        "age": (20, 25, 30, 35, 40),
        "yrs_married": (1, 4, 8, 11, 15, 20),
        "children": (1, 2, 3, 4, 5),
        "religious": (2, 3, 4),
        "educ": (10, 13, 15, 17, 18),
        "occupation": (2, 3, 4, 5, 6),
        "occupation_husb": (2, 3, 4, 5, 6),
        "affairs": (0.01, 1, 3, 5, 10),
    },
    "randhie": {
        "mdvis": (1, 2, 3, 5, 8, 12, 20),
        "lncoins": (1, 3.5, 4, 4.5),
        "idp": (1,),
        "lpi": (1, 5, 6, 6.5, 7),
        "fmde": (1, 5, 6, 6.5, 7, 7.5, 8),
        "physlm": (0.1, 0.5, 1),
        "disea": (5, 10, 15, 20, 30),
        "hlthg": (1,),
        "hlthf": (1,),
        "hlthp": (1,),
    },
}
"""The least value of each further cell."""


def survey(name: str) -> tuple[Any, list[int]]:
    """A data set of statsmodels as cells, and how many each column has."""
    import numpy as np
    import statsmodels.api as models

    held, edges = getattr(models.datasets, name).load_pandas().data, EDGES[name]
    cells = [np.searchsorted(list(cuts), held[column].to_numpy(), side="right") for column, cuts in edges.items()]
    return np.stack(cells, 1), [len(cuts) + 1 for cuts in edges.values()]


def network(rows: int = 50_000, columns: int = 40) -> tuple[Any, list[int]]:
    """A made-up network: each column has two to five values and leans on one or two earlier columns."""
    import numpy as np

    rng = np.random.default_rng(40)
    sizes = [int(size) for size in rng.integers(2, 6, columns)]
    table = np.empty((rows, columns), np.int64)
    for place, size in enumerate(sizes):
        parents: Any = rng.choice(place, min(place, int(rng.integers(1, 3))), replace=False) if place else []
        cell = np.zeros(rows, np.int64)
        for parent in parents:
            cell = cell * sizes[parent] + table[:, parent]
        shares = rng.dirichlet(np.ones(size), int(cell.max()) + 1).cumsum(1)
        table[:, place] = np.minimum((rng.random((rows, 1)) > shares[cell]).sum(1), size - 1)
    return table, sizes


def wide(rows: int = 1_000_000, columns: int = 100) -> tuple[Any, list[int]]:
    """A made-up wide table: six hidden classes move every column, and neighbouring columns are often equal."""
    import numpy as np

    rng = np.random.default_rng(100)
    sizes = [int(size) for size in rng.integers(2, 7, columns)]
    hidden = rng.integers(0, 6, rows)
    table = np.empty((rows, columns), np.uint8)
    for place, size in enumerate(sizes):
        shares = rng.dirichlet(2 * np.ones(size), 6).cumsum(1)
        table[:, place] = np.minimum((rng.random((rows, 1)) > shares[hidden]).sum(1), size - 1)
        if place % 2:
            table[:, place] = np.where(rng.random(rows) < 0.5, table[:, place - 1] % size, table[:, place])
    return table, sizes


def distance(truth: Any, made: Any, sizes: list[int], order: int, *, most: int = 2000) -> float:
    """The mean total variation over all marginals of an order, or over the first `most` of them in random order."""
    import numpy as np

    def shares(table: Any, clique: Any) -> Any:
        shape = [sizes[i] for i in clique]
        cells = np.ravel_multi_index([table[:, i] for i in clique], shape)
        return np.bincount(cells, minlength=int(np.prod(shape))) / len(table)

    cliques = list(combinations(range(len(sizes)), order))
    picked = np.random.default_rng(0).permutation(len(cliques))[:most]
    return float(np.mean([np.abs(shares(truth, c) - shares(made, c)).sum() / 2 for c in (cliques[i] for i in picked)]))


def made_of(truth: Any, sizes: list[int], epsilon: float, **settings: Any) -> Any:
    """The cells of a synthetic table at a price."""
    import polars

    import bruit
    from bruit.tables import within

    names = [f"c{i}" for i in range(len(sizes))]
    table = bruit.tables.read(polars.DataFrame(dict(zip(names, truth.T, strict=True))), person=bruit.EACH_ROW)
    columns = {name: within(0, size - 1, grid=1, missing=0) for name, size in zip(names, sizes, strict=True)}
    terms: dict[str, Any] = {"neighbours": bruit.ADD_OR_REMOVE_ONE, "person": bruit.EACH_ROW}
    price = bruit.Ledger("b", epsilon=epsilon, delta=DELTA, **terms).budget(epsilon=epsilon, delta=DELTA)
    return bruit.synthetic.synthesise(table, columns, budget=price, **settings).value.rows


def held_back(name: str, epsilon: float) -> Prepare:
    """The three-way error of a table that set nothing."""

    def prepare() -> Work:
        truth, sizes = network() if name == "network" else survey(name)
        return lambda: distance(truth, made_of(truth, sizes, epsilon), sizes, 3)

    return prepare


def full_aim(name: str, epsilon: float) -> Prepare:
    """The three-way error of AIM on a survey."""

    def prepare() -> Work:
        truth, sizes = survey(name)
        made = aim(truth, sizes, epsilon, float(DELTA), FULL)
        return lambda: distance(truth, made(), sizes, 3)

    return prepare


def held_back_case(name: str, epsilon: float, *peers: Peer) -> Case:
    """The three-way error of a table at one price."""
    ours = held_back(name, epsilon)
    return Case(f"{name}, ε = {epsilon:g}", "TV", "lower", ours, peers, returned=True, calls=1, rounds=3)


def wide_left() -> Work:
    """The part of the two-way dependence error that is left in a wide table."""
    import numpy as np

    truth, sizes = wide()
    rng = np.random.default_rng(1)
    alone = np.stack([rng.permutation(column) for column in truth.T], 1)

    def work() -> float:
        made = made_of(truth, sizes, 1.0, expected_rows=len(truth))
        return distance(truth, made, sizes, 2, most=500) / distance(truth, alone, sizes, 2, most=500)

    return work


def linked_error() -> Work:
    """The largest total variation of visits per person and of the columns of visits, at ε = 1."""
    import numpy as np
    import polars

    import bruit
    from bruit.tables import among, read, within

    rng = np.random.default_rng(0)
    people, wards = 20_000, ("heart", "bones", "birth", "lungs")
    old, sex = rng.integers(0, 4, people), rng.choice(["f", "m"], people)
    many = np.minimum(rng.poisson(0.8 + 0.4 * old), 4)
    whose = np.repeat(np.arange(people), many)
    ward = np.array(wards)[(old[whose] + (rng.random(len(whose)) < 0.4) * rng.integers(0, 4, len(whose))) % 4]
    stays = polars.DataFrame({"id": whose, "ward": ward, "days": np.minimum(rng.geometric(0.3, len(whose)), 10)})
    persons = polars.DataFrame({"id": np.arange(people), "old": old, "sex": sex})

    def work() -> float:
        terms: dict[str, Any] = {"neighbours": bruit.ADD_OR_REMOVE_ONE, "person": "id"}
        made_people, made_stays = bruit.synthetic.synthesise_linked(
            read(persons, person="id"),
            read(stays, person="id").limit(rows=4),
            people_columns={"old": within(0, 3, grid=1, missing=0), "sex": among(["f", "m"])},
            visit_columns={"ward": among(wards), "days": within(1, 10, grid=1, missing=1)},
            budget=bruit.Ledger("b", epsilon=1, delta=DELTA, **terms).budget(epsilon=1, delta=DELTA),
        ).value.frames()
        pairs = [(polars.Series(many), made_people["visits"])]
        pairs += [(stays[name], made_stays[name]) for name in ("ward", "days")]
        return max(_apart(*(list(map(str, each)) for each in pair)) for pair in pairs)

    return work


def _apart(true: list[str], made: list[str]) -> float:
    from collections import Counter

    first, second = Counter(true), Counter(made)
    return sum(abs(first[each] / len(true) - second[each] / len(made)) for each in first | second) / 2


CASES = [
    *(
        held_back_case(name, epsilon, Peer("AIM", full_aim(name, epsilon), times=1 / 0.8, rounds=1))
        for name in EDGES
        for epsilon in PRICES
    ),
    *(held_back_case("network", epsilon) for epsilon in PRICES),
    Case("linked tables, ε = 1", "TV", "lower", linked_error, goal=0.05, returned=True, calls=1, rounds=3),
    Case("wide: dependence left", "share", "lower", wide_left, goal=0.2, returned=True, calls=1, rounds=1),
]
