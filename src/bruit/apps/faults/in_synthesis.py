"""Faults in synthetic tables: those that a review found in a first draft, and others it looked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.apps.faults.fault import Done, Fault, Many
from bruit.audit import audit_gaussian
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, LOCAL
from bruit.errors import NeighboursDiffer
from bruit.ledger import Ledger
from bruit.privacy.accounting.gaussian import bounded_range_shift
from bruit.randomness import discrete_gaussian
from bruit.synthetic import synthesise
from bruit.synthetic.curator import Curator
from bruit.synthetic.plan import Mode, NoisePlan, PublicNumbers, make_plan
from bruit.synthetic.reading import choose_rows
from bruit.tables import among, read

CHOICE = Fraction(1)
PLAN = replace(
    make_plan(PublicNumbers((2, 2, 2), 1, ADD_OR_REMOVE_ONE, Mode.TREE), Fraction(4)), choice=CHOICE, picks=1
)
SHIFT = float(PLAN.singles) ** -0.5
"""The shift that one row gives the counts of one column."""

NOBODY = -1
UNLUCKY = 1
"""The seed of a key by which the second of two rows without a person is kept, not the first."""

Pair = tuple[Any, Any]


def faults() -> Iterator[Fault]:
    """The planted faults, each beside the same step done right."""
    two = np.zeros((3, 2), np.uint8)
    pair = (np.hstack([two, [[1], [1], [0]]]).astype(np.uint8), two)
    story = "A limit of half a row a person quarters the variance at the full price."
    half = replace(PLAN, singles=PLAN.singles / 4)
    yield _by_trade_off("half a row a person", story, _first_count(half), _first_count(PLAN), pair)
    story = "The curator answers the same question four times for one price."
    yield _by_trade_off("unpaid repeats", story, _first_count(PLAN, repeats=4), _first_count(PLAN), pair)
    story = "The number of rows is shown as it is, although people may be absent."
    yield _by_trade_off("exact number of rows", story, _exact_size, _noisy_size, pair)
    story = "Rows that name nobody are pooled as one person, so that a newcomer displaces another's row."
    people = (np.array([NOBODY, NOBODY]), np.array([NOBODY]))
    yield _by_trade_off("rows of nobody pooled", story, _pooled, _left_out, people, small=100_000)
    story = "A choice is drawn with three times the exponent that was paid for."
    eager = replace(PLAN, choice=3 * CHOICE)
    claimed = float(bounded_range_shift(CHOICE))
    yield _by_trade_off("eager choice", story, _chosen(eager), _chosen(PLAN), pair, claimed=claimed)
    story = "Nine choices are made where one was paid for, as if they were pairs stated beforehand."
    often = _chosen(PLAN, repeats=9)
    yield _by_trade_off("unpaid choices", story, often, _chosen(PLAN), pair, claimed=claimed)
    yield Fault("local book", "A book that respondents keep pays for a table.", "ledger", _answers_local, 1, 1)


def _by_trade_off(
    name: str, story: str, wrong: Many, right: Many, pair: Pair, *, claimed: float = SHIFT, small: int = 4_000
) -> Fault:
    """A fault that shows in the trade-off of one pair of neighbours."""

    def looks_wrong(done: Done, samples: int, alarm: float, rng: np.random.Generator) -> bool:
        mechanism = wrong if done == "wrong" else right
        return not audit_gaussian(mechanism, pair, claimed=claimed, samples=samples, alarm=alarm, rng=rng).passes

    return Fault(name, story, "audit", looks_wrong, small, 10 * small)


def _first_count(plan: NoisePlan, *, repeats: int = 1) -> Many:
    """The count of the person's cell, asked of as many curators as there are repeats."""

    def many(cells: NDArray[np.uint8], samples: int, rng: np.random.Generator) -> NDArray[Any]:
        answers = [Curator(cells, plan, rng).single(0).noisy[1] for _ in range(samples * repeats)]
        return np.asarray(np.array(answers).reshape(samples, repeats).sum(1))

    return many


def _exact_size(cells: NDArray[np.uint8], samples: int, _rng: np.random.Generator) -> NDArray[Any]:
    return np.full(samples, cells.shape[1])


def _noisy_size(cells: NDArray[np.uint8], samples: int, rng: np.random.Generator) -> NDArray[Any]:
    return np.array([Curator(cells, PLAN, rng).single(0).noisy.sum() for _ in range(samples)])


def _pooled(people: NDArray[np.int64], samples: int, rng: np.random.Generator) -> NDArray[Any]:
    """Keeps one row of all those without a person; returns the noisy difference of the two cells' counts."""
    cells = np.arange(len(people), dtype=np.uint8)[None]
    kept = choose_rows(people, np.abs(people), cells, rows=1, rng=np.random.default_rng(UNLUCKY))
    return _difference(np.bincount(cells[0, kept], minlength=2), samples, rng)


def _left_out(people: NDArray[np.int64], samples: int, rng: np.random.Generator) -> NDArray[Any]:
    return _difference(np.bincount(np.flatnonzero(people != NOBODY), minlength=2), samples, rng)


def _difference(counts: NDArray[np.int64], samples: int, rng: np.random.Generator) -> NDArray[Any]:
    noise = discrete_gaussian(PLAN.singles, 2 * samples, rng=rng).reshape(samples, 2)
    return np.asarray((counts + noise) @ [1, -1])


def _chosen(plan: NoisePlan, *, repeats: int = 1) -> Many:
    """Draws which of two marginals is chosen; one person's row raises one error by a row and lowers the other."""

    def many(cells: NDArray[np.uint8], samples: int, rng: np.random.Generator) -> NDArray[Any]:
        guesses = [np.array([2, 0, 0, 0]), np.array([2, 0, 1, 0])]
        asked = [(0, 1), (0, 2)]
        curators = (Curator(cells, plan, rng) for _ in range(samples * repeats))
        first = [each.choose(asked, guesses, [0, 0])[0].clique == asked[0] for each in curators]
        return np.asarray(np.array(first, np.int64).reshape(samples, repeats).sum(1))

    return many


def _answers_local(done: Done, _samples: int, _alarm: float, rng: np.random.Generator) -> bool:
    """Whether a table is synthesised under local neighbours, for which no curator's noise is enough."""
    book = Ledger("answers", epsilon=1, neighbours=LOCAL, person=EACH_ROW)
    if done == "wrong":
        plan = make_plan(PublicNumbers((2,), 1, LOCAL), Fraction(1))
        return Curator(np.zeros((1, 3), np.uint8), plan, rng).single(0).noisy.size > 0
    table = read(polars.DataFrame({"a": ["x", "y"]}), person=EACH_ROW)
    try:
        synthesise(table, {"a": among(["x"])}, budget=book.budget(epsilon=1), rng=rng)
    except NeighboursDiffer:
        return bool(book.entries)
    return True
