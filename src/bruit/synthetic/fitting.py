"""Fits a table to the curator's noisy answers, in rounds of choosing, measuring and fitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, comb, pi, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bruit.local.estimation.adjustment import onto_simplex
from bruit.synthetic.curator import Curator
from bruit.synthetic.gibbs import GibbsSampler, Impossible, Measured
from bruit.synthetic.marginals import Clique, Counts, cells_of, count_cells, pairs_of, triples_of
from bruit.synthetic.plan import ROUNDS

SWEEPS: Final = 5
LAST_SWEEPS: Final = 7
MOST_WORK: Final = 3e10
"""Cells that the last sweeps may look at together, about a minute of one core; at least one sweep is made."""

MEAN_SWEEPS: Final = (4, 32)
MEAN_ROWS: Final = 2**17
"""Rows whose mean counts the last rows settle to: of four sweeps of a large table, of up to 32 of a small one."""

MOST_SETTLED: Final = 2e9
MOST_MEANS: Final = 2**22
LARGEST_MEAN: Final = 1000
"""Cells that a sweep looks at, cells with a mean, and cells of one marginal, at most, where rows settle.

Larger marginals hardly moved the error on UCI Adult, and took as long as all others.
"""

SETTLED_PULL: Final = 64.0
"""The least pull of all means that hold a column, together; all triples of 13 columns pull with 66.

With a pull of 1 in all, a row is worth hardly more than the chance that spreads rows over empty cells.
"""

MOST_TRIES: Final = 10_000
"""Values that are tried in search of a row without impossible combinations."""

BELIEFS: Final = 3.0 ** np.linspace(-1, 1, 9)
"""How much more than usual a marginal can be believed: from a third to three times. Set on UCI Adult."""

COMBINED_BELIEF: Final = 16.0
"""How much more than usual the combined counts of one column are believed: set on small parts of UCI Adult."""

FEWEST_ROWS: Final = 8192
"""Rows of the table while marginals are chosen; the last sweeps are on all rows. Set on UCI Adult."""


@dataclass(frozen=True)
class Fit:
    """A table of cells and the released counts it was fitted to."""

    rows: NDArray[np.uint8]
    people: float
    measured: tuple[Measured, ...]


def fit_adaptively(
    curator: Curator,
    *,
    size: int | None,
    impossible: Sequence[Impossible],
    state: int,
    given: NDArray[np.uint8] | None = None,
) -> Fit:
    """Measures one-way counts, then in each round the marginals where the table's error is largest, and refits.

    `given` holds the first columns of every row where these are settled: the people whose visits are drawn.
    """
    rng, sizes, frozen = np.random.default_rng(state), curator.sizes, curator.plan.question.frozen
    measured = [curator.single(i) for i in range(frozen, len(sizes))]
    people = float(size or noisy_size(measured))
    number = max(1, round(people)) if given is None else len(given)
    few = min(number, max(FEWEST_ROWS, ceil(4 * people / sqrt(curator.plan.pairs)))) if given is None else number
    table = np.empty((few, len(sizes)), np.uint8)
    if given is not None:
        table[:, :frozen] = given
    for one in measured:
        table[:, one.clique[0]] = spread_out(one.noisy, few, rng)
    measured += believe(curator.measure_stated(), table, people, sizes)
    for turn in range(ROUNDS) if curator.plan.choice is not None else (ROUNDS - 1,):
        measured += believe(_choose(curator, table, people, measured, turn, rng), table, people, sizes)
        joined = combine_singles(measured, people, sizes)
        sampler = GibbsSampler(sizes, joined, impossible=impossible, frozen=range(frozen), state=state + turn)
        sampler.run(table, people, SWEEPS)
    if few < number:
        table = np.ascontiguousarray(table[rng.permutation(np.arange(number) % few)])
    finish_rows(sampler, table, people, frozen=frozen)
    return Fit(without_impossible(table, impossible, sizes, rng), people, tuple(measured))


def draw_rows(
    fit: Fit, many: int, sizes: Counts, *, impossible: Sequence[Impossible], frozen: int, state: int
) -> NDArray[np.uint8]:
    """So many rows fitted to the counts of a fit, beginning with copies of its rows; each stands for a part of one."""
    rng = np.random.default_rng(state)
    if not len(fit.rows):
        return fit.rows
    table = np.ascontiguousarray(fit.rows[rng.permutation(np.arange(many) % len(fit.rows))])
    joined = combine_singles(fit.measured, fit.people, sizes)
    sampler = GibbsSampler(sizes, joined, impossible=impossible, frozen=range(frozen), state=state)
    finish_rows(sampler, table, fit.people, frozen=frozen)
    return without_impossible(table, impossible, sizes, rng)


def believe(measured: Sequence[Measured], table: NDArray[np.uint8], people: float, sizes: Counts) -> list[Measured]:
    """The marginals with the belief that makes their noisy counts most likely, given what a table expected of them.

    Under belief b a cell of c people expected has the variance v + b c sqrt(v), v being that of the noise: marginals
    that differ much from the table are believed more, those that differ by their noise alone less. [empirical Bayes]
    """
    columns, weight, found = np.ascontiguousarray(table.T), people / max(len(table), 1), []
    for one in measured:
        expected = weight * count_cells(columns, one.clique, sizes)
        spread = 1 + np.outer(BELIEFS, expected / sqrt(one.variance))
        unlikely = (np.log(spread) + (one.noisy - expected) ** 2 / one.variance / spread).sum(1)
        found.append(replace(one, belief=float(BELIEFS[unlikely.argmin()])))
    return found


def combine_singles(measured: Sequence[Measured], people: float, sizes: Counts) -> list[Measured]:
    """The marginals, with the counts of each single column replaced by what all marginals that hold it say together.

    Each marginal of a column sums to noisy counts of it: their mean, weighed by precision, has less noise than the
    column's own. Rows are fitted to the nearest counts that can be those of `people`.     [generalised least squares]
    """
    sums, weights = [np.zeros(size) for size in sizes], np.zeros(len(sizes))
    for one in measured:
        block, cells = one.noisy.reshape(sizes[list(one.clique)]), cells_of(one.clique, sizes)
        for axis, i in enumerate(one.clique):
            precision = sizes[i] / (cells * one.variance)
            sums[i] += precision * block.sum(tuple(other for other in range(block.ndim) if other != axis))
            weights[i] += precision
    found = []
    for one in measured:
        if len(one.clique) > 1:
            found.append(one)
            continue
        weight = float(weights[one.clique[0]])
        counts = people * nearest_shares(sums[one.clique[0]] / weight, people)
        found.append(Measured(one.clique, counts, 1 / weight, COMBINED_BELIEF))
    return found


def nearest_shares(noisy: NDArray[Any], people: float) -> NDArray[np.float64]:
    """The shares of `people` that are nearest to noisy counts: none is negative, and they add up to one.

    All counts are lowered alike until those above zero add up. To cut negative ones off and scale the rest would leave
    the upper half of the noise of empty cells: half of a small column of many cells, at a low price.
    """
    shares = onto_simplex(noisy / people) + 1e-12
    return np.asarray(shares / shares.sum())


def finish_rows(sampler: GibbsSampler, table: NDArray[np.uint8], people: float, *, frozen: int) -> None:
    """The last sweeps, over all rows in place; then rows settle to the mean counts of several sweeps.

    A sweep draws rows by lot, which moves all that was not measured as if the people were drawn anew. One more sweep
    towards the means of all triples of columns, or of all pairs, takes most of that away.
    """
    sizes, rows = sampler.sizes, len(table)
    sweeps, cliques = _last_sweeps(rows, sampler.measured, sizes), _settling(rows, sizes)
    turns = int(np.clip(MEAN_ROWS // max(rows, 1), *MEAN_SWEEPS))
    if not rows or sweeps < LAST_SWEEPS or not cliques:
        sampler.run(table, people, sweeps)
        return
    sampler.run(table, people, sweeps - MEAN_SWEEPS[0])
    means = sampler.mean_counts(table, people, cliques, turns)
    pull = max(1.0, SETTLED_PULL * len(sizes) / sum(map(len, cliques)))
    wanted = [Measured(clique, mean, 1.0, pull) for clique, mean in zip(cliques, means, strict=True)]
    state, known = int(sampler.state), sampler.impossible
    GibbsSampler(sizes, wanted, impossible=known, frozen=range(frozen), state=state).run(table, people, 1)


def _settling(rows: int, sizes: Counts) -> list[Clique]:
    """The marginals that rows settle to: all triples of columns, or all pairs where those are too many."""
    columns = len(sizes)
    for order in range(min(columns, 3), 1, -1):
        if rows * comb(columns - 1, order - 1) * int(sizes.sum()) <= MOST_SETTLED:
            every = combinations(range(columns), order)
            cliques = [clique for clique in every if cells_of(clique, sizes) <= LARGEST_MEAN]
            if sum(cells_of(clique, sizes) for clique in cliques) <= MOST_MEANS:
                return cliques
    return []


def _last_sweeps(rows: int, measured: Sequence[Measured], sizes: Counts) -> int:
    """Sweeps over all rows: fewer for a wide table, in which one looks at thousands of marginals for each row."""
    work = rows * sum(int(sizes[i]) for one in measured for i in one.clique)
    return max(1, min(LAST_SWEEPS, round(MOST_WORK / max(work, 1))))


def without_impossible(
    table: NDArray[np.uint8], impossible: Sequence[Impossible], sizes: Counts, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Replaces rows that hold an impossible combination by random copies of other rows, or else by a possible one."""
    wrong = np.zeros(len(table), bool)
    for each in impossible:
        cell = np.zeros(len(table), np.int64)
        for i in each.clique:
            cell = cell * sizes[i] + table[:, i]
        wrong |= each.cells[cell]
    right = np.flatnonzero(~wrong)
    if len(right):
        table[wrong] = table[rng.choice(right, int(wrong.sum()))]
    elif (row := possible_row(impossible, sizes)) is not None:
        table[:] = row
    return table


def possible_row(impossible: Sequence[Impossible], sizes: Counts) -> NDArray[np.uint8] | None:
    """The first row without an impossible combination; None where none was found, column by column."""
    row, tries = np.zeros(len(sizes), np.uint8), iter(range(MOST_TRIES))

    def fill(column: int) -> bool:
        if column == len(sizes):
            return True
        allowed = np.ones(sizes[column], bool)
        for each in impossible:
            if each.clique[-1] == column:
                allowed &= ~each.cells.reshape(sizes[list(each.clique)])[tuple(row[list(each.clique[:-1])])]
        for row[column] in np.flatnonzero(allowed):
            if next(tries, None) is None:
                return False
            if fill(column + 1):
                return True
        return False

    return row if fill(0) else None


def noisy_size(measured: Sequence[Measured]) -> float:
    """The number of rows: the precision-weighted mean of all marginals' totals, at least one."""
    weights = np.array([1 / (one.variance * len(one.noisy)) for one in measured])
    totals = np.array([one.noisy.sum() for one in measured])
    return max(1.0, float((weights * totals).sum() / weights.sum()))


def spread_out(noisy: NDArray[Any], many: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """`many` values in the proportions of noisy counts, shuffled."""
    share = np.cumsum(np.maximum(noisy, 0) + 1e-9)
    edges = np.floor(share / share[-1] * many + rng.random()).astype(np.int64)
    return rng.permutation(np.searchsorted(edges[:-1], np.arange(many), side="right")).astype(np.uint8)


def _choose(
    curator: Curator,
    table: NDArray[np.uint8],
    people: float,
    measured: Sequence[Measured],
    turn: int,
    rng: np.random.Generator,
) -> list[Measured]:
    """The marginals of one round: where the table is wrong by more than measuring would leave it wrong.

    Triples are candidates in the last round: all of them, or those with the column that models will predict.
    """
    sizes, plan, done = curator.sizes, curator.plan, {one.clique for one in measured}
    many = plan.picks * (turn + 1) // ROUNDS - (plan.picks - curator.left)
    target, triples = plan.question.target, triples_of(sizes, rng) if turn == ROUNDS - 1 else []
    candidates = pairs_of(sizes) + [clique for clique in triples if target is None or target in clique]
    candidates = [clique for clique in candidates if clique not in done and clique[-1] >= plan.question.frozen]
    if plan.choice is None:
        return curator.measure([clique for clique in candidates if len(clique) == 2][:many])
    guesses = guess_counts(table, candidates, sizes, people)
    penalties = [expected_error(guess, sqrt(plan.pairs)) for guess in guesses]
    return curator.choose(candidates, guesses, penalties, min(many, len(candidates)))


def guess_counts(table: NDArray[np.uint8], cliques: Sequence[Clique], sizes: Counts, people: float) -> list[Counts]:
    """The counts that a table predicts for marginals, in whole people."""
    columns, weight = np.ascontiguousarray(table.T), people / max(len(table), 1)
    return [np.rint(weight * count_cells(columns, clique, sizes)).astype(np.int64) for clique in cliques]


def expected_error(guess: Counts, deviation: float) -> int:
    """The expected l1 error after measuring a marginal: a cell keeps the share c / (c + deviation) of its noise."""
    return round(sqrt(2 / pi) * deviation * float((guess / (guess + deviation)).sum()))
