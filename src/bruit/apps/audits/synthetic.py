"""Audits of synthetic tables: a membership attack on every count that the curator answered.

The attacker knows all rows but one and sees every noisy count, from which the rows are drawn. What they compute is the
sum of the counts of the cells that the person would be in, each over the variance of its noise: the likeliest sign of
the person's presence. The claim is the Gaussian shift that all counts and choices of the plan add up to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.apps.audits.case import GaussianCase, fresh_budget
from bruit.core.losses import BoundedRange, DiscreteGaussian, Loss
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, Neighbours
from bruit.privacy.accounting.gaussian import bounded_range_shift
from bruit.synthetic import synthesise
from bruit.synthetic.coding import code_columns
from bruit.synthetic.curator import Curator
from bruit.synthetic.gibbs import Measured
from bruit.synthetic.linked import draw_linked, plan_linked
from bruit.synthetic.plan import Mode, NoisePlan, PublicNumbers
from bruit.synthetic.reading import CodedRows
from bruit.synthetic.synthesis import plan_within
from bruit.synthetic.tree import fit_tree
from bruit.tables import among, read, within

EPSILON, DELTA = 6.0, 1e-3
LINKED = 2
"""How many times the usual ε linked tables are audited at: draws are slow, and a larger ε needs fewer of them."""

COLUMNS = {name: among(["yes"]) for name in ("a", "b", "c")}
VISITS = 2
"""The most visits of one person of the linked tables."""

OWNERS = code_columns({"member": among(["yes"]), "visits": within(0, VISITS, grid=1, missing=0)})
BOTH = (*OWNERS, *code_columns({"urgent": among(["yes"])}))
PERSON = (0, VISITS, 0)
"""The cells of the member who has as many urgent visits as count."""

LinkedRows = tuple[CodedRows, CodedRows]


def cases(neighbours: Neighbours, epsilon: float = EPSILON) -> Iterator[GaussianCase]:
    """A synthesis of three columns and three rows in tree mode, and linked tables of three people."""
    plan = _plan(neighbours, epsilon)
    yield GaussianCase(
        "synthetic.synthesise",
        neighbours,
        _pair(neighbours),
        partial(_many, plan),
        once=partial(_once, neighbours, epsilon),
        claimed=total_shift(plan.loss),
        small=1_000,
        full=20_000,
    )
    plans = _linked_plans(neighbours, LINKED * epsilon)
    yield GaussianCase(
        "synthetic.synthesise_linked",
        neighbours,
        _linked_pair(neighbours),
        partial(_many_linked, plans),
        claimed=total_shift(plans[0].loss + plans[1].loss),
        small=1_000,
        full=5_000,
    )


def total_shift(loss: Loss) -> float:
    """The mu of Gaussian DP of all counts and choices together: their squares add up."""
    squares = 0.0
    for part, times in loss.parts():
        if isinstance(part, DiscreteGaussian):
            squares += times * part.squared_sensitivity / float(part.variance)
        elif isinstance(part, BoundedRange):
            squares += times * float(bounded_range_shift(part.epsilon)) ** 2
    return float(np.sqrt(squares))


@cache
def _plan(neighbours: Neighbours, epsilon: float) -> NoisePlan:
    budget = fresh_budget(neighbours, epsilon, DELTA)
    return plan_within(PublicNumbers((2, 2, 2), 1, neighbours, Mode.TREE), budget, "an audit")[0]


@cache
def _linked_plans(neighbours: Neighbours, epsilon: float) -> tuple[NoisePlan, NoisePlan]:
    people = PublicNumbers(tuple(column.size for column in OWNERS), 1, neighbours)
    visits = PublicNumbers(tuple(column.size for column in BOTH), VISITS, neighbours, frozen=len(OWNERS))
    return plan_linked((people, visits), fresh_budget(neighbours, epsilon, DELTA), "an audit")


def _pair(neighbours: Neighbours) -> tuple[polars.DataFrame, polars.DataFrame]:
    """Rows of noes, with a row of yeses present, and absent or exchanged for one of noes."""
    rows, names = [["no"] * 3] * 2, list(COLUMNS)
    other = [] if neighbours is ADD_OR_REMOVE_ONE else [["no"] * 3]
    present, absent = (polars.DataFrame(each, names, orient="row") for each in ([*rows, ["yes"] * 3], rows + other))
    return present, absent


def _many(plan: NoisePlan, data: polars.DataFrame, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    cells, out = np.ascontiguousarray((data.to_numpy() != "yes").T.astype(np.uint8)), np.empty(samples)
    for i in range(samples):
        curator = Curator(cells, plan, rng)
        fit = fit_tree(curator, size=None, impossible=(), state=int(rng.integers(1, 2**62)))
        out[i] = sign_of(fit.measured, (2, 2, 2), (0, 0, 0))
    return out


def _once(neighbours: Neighbours, epsilon: float, data: polars.DataFrame, rng: np.random.Generator) -> float:
    budget = fresh_budget(neighbours, epsilon, DELTA)
    found = synthesise(read(data, person=EACH_ROW), COLUMNS, budget=budget, mode="tree", rng=rng).value
    return sign_of(found.fit.measured, (2, 2, 2), (0, 0, 0))


def sign_of(measured: Sequence[Measured], sizes: Sequence[int], cells: Sequence[int]) -> float:
    """The score of a person's presence: the noisy counts of their own cells, weighed by precision."""
    total = 0.0
    for one in measured:
        place = np.ravel_multi_index([cells[i] for i in one.clique], [sizes[i] for i in one.clique])
        total += float(one.noisy[place]) / one.variance
    return total


def _linked_pair(neighbours: Neighbours) -> tuple[LinkedRows, LinkedRows]:
    """People without visits, and the member with urgent ones present, absent or exchanged."""
    people, visits = [[1, 0], [1, 0]], [list(PERSON)] * VISITS
    other = [] if neighbours is ADD_OR_REMOVE_ONE else [[1, 0]]
    return _cells([*people, list(PERSON[:2])], visits), _cells(people + other, [])


def _cells(people: list[list[int]], visits: list[list[int]]) -> LinkedRows:
    tables = np.array(people, np.uint8), np.array(visits, np.uint8).reshape(len(visits), len(BOTH))
    first, second = (CodedRows(np.ascontiguousarray(table.T), None) for table in tables)
    return first, second


def _many_linked(
    plans: tuple[NoisePlan, NoisePlan], data: LinkedRows, samples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    out = np.empty(samples)
    for i in range(samples):
        curators = [Curator(cells.columns, plan, rng) for cells, plan in zip(data, plans, strict=True)]
        fits, _ = draw_linked(curators, [int(rng.integers(1, 2**62)) for _ in plans], OWNERS[-1])
        parts = zip(fits, plans, strict=True)
        out[i] = sum(sign_of(fit.measured, plan.question.sizes, PERSON) for fit, plan in parts)
    return out
