"""Tests of whether groups are alike: independence, two proportions, Mann–Whitney, one-way analysis of variance.

All look at the residuals y_ij - row_i * column_j / total of a noisy table, weighted by what chance and noise give them,
and compare them with tables drawn afresh under independence, with noise of the same law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from zlib import crc32

import numpy as np

from bruit.errors import InvalidArgument
from bruit.inference.means import tail_of_relation
from bruit.inference.noise_laws import Floats
from bruit.inference.noisy_counts import Cells
from bruit.inference.rank_sums import is_of_rank_sums, rank_sum_test
from bruit.inference.results import Evidence
from bruit.inference.sources import Source, cells, group_totals
from bruit.inference.totals import Totals

DRAWS: Final = 999
"""Tables that are drawn under independence; a p-value is a multiple of 1 / 1000."""

FIRST: Final = 199
ENOUGH: Final = 40
"""Draws end after the first where so many of these are as large as what was seen.          [Besag & Clifford 1991]"""

LEAST: Final = 0.5
"""People that a row or a column of a table under independence has at least: noise may leave less than none."""


@dataclass(frozen=True)
class Contrasts:
    """Which residuals count: `rows` (groups, combinations) and `columns` (cells, combinations)."""

    rows: Floats
    columns: Floats


def independence(source: Source, *, rng: np.random.Generator | None = None) -> Evidence:
    """Whether the two columns of a table of counts have to do with each other: the chi-square test that knows noise."""
    table = _table(source, "independence")
    return residual_test("independence", table, all_contrasts(table), rng)


def two_proportions(
    source: Source, other: Source | None = None, *, answer: str | None = None, rng: np.random.Generator | None = None
) -> Evidence:
    """Whether the share of an answer differs between two groups: two sources, or two rows of one.

    Without `answer` the sources are means of columns of zeros and ones, such as `central.mean(..., size=...)`.
    """
    if answer is None:
        return compare_shares(*group_totals(source, other, None))
    table = _table(source if other is None else [source, other], "two proportions")
    _require_groups(table, 2)
    return residual_test("two proportions", table, share_contrasts(table, answer), rng)


def mann_whitney(source: Source, other: Source | None = None, *, rng: np.random.Generator | None = None) -> Evidence:
    """Whether the values of one group tend to be larger than those of the other, by their ranks."""
    table = _table(source if other is None else [source, other], "Mann–Whitney")
    _require_groups(table, 2)
    return residual_test("Mann–Whitney", table, rank_contrasts(table), rng)


def anova(source: Source, *, ranks: bool = False, rng: np.random.Generator | None = None) -> Evidence:
    """Whether the values of several groups differ by their means, or with `ranks` as Kruskal and Wallis ask.

    If the groups are alike, it rejects as often as it says. Cells that drown in noise weigh less, so that it is no test
    of means alone: `difference` gives an interval for those. A release of `central.rank_sums` is tested as it is.
    """
    if is_of_rank_sums(source):
        return rank_sum_test(source, rng)  # type: ignore[arg-type]
    table = _table(source, "analysis of variance")
    contrasts = rank_contrasts(table) if ranks else mean_contrasts(table)
    return residual_test("Kruskal–Wallis" if ranks else "analysis of variance", table, contrasts, rng)


def all_contrasts(table: Cells) -> Contrasts:
    """Every residual; the last row and column follow from the others."""
    rows, columns = table.shape
    return Contrasts(np.eye(rows)[:, :-1], np.eye(columns)[:, :-1])


def share_contrasts(table: Cells, answer: str) -> Contrasts:
    """The residuals of one answer."""
    rows, columns = table.shape
    return Contrasts(np.eye(rows)[:, :-1], np.eye(columns)[:, [table.axes[1].place(answer)]])


def mean_contrasts(table: Cells) -> Contrasts:
    """The residuals of sums of values, as distances from their mean."""
    _rows, columns = _margins(table.values)
    values = table.axes[1].numbers
    return _shrunk(table, values - columns @ values / columns.sum())


def rank_contrasts(table: Cells) -> Contrasts:
    """The residuals of sums of mean ranks, as distances from the middle one."""
    _rows, columns = _margins(table.values)
    shares = columns / columns.sum()
    return _shrunk(table, np.cumsum(shares) - shares / 2 - 0.5)


def slope_contrasts(table: Cells) -> Contrasts:
    """The contrast of a slope: residuals weighted by the numbers of both axes."""
    return Contrasts(table.axes[0].numbers[:, None], table.axes[1].numbers[:, None])


def _shrunk(table: Cells, scores: Floats) -> Contrasts:
    """One score a cell, shrunk by how much of its residuals is noise: an empty cell tells nothing."""
    people = _margins(table.values)[1] / table.shape[0]
    noise = np.diag(table.covariance()).reshape(table.shape).mean(0)
    return Contrasts(np.eye(table.shape[0])[:, :-1], (scores * people / (people + noise))[:, None])


def residual_test(what: str, table: Cells, contrasts: Contrasts, rng: np.random.Generator | None) -> Evidence:
    """The evidence against independence in the contrasts of a table; without `rng` the same table gives the same."""
    source = np.random.default_rng(crc32(table.values.tobytes())) if rng is None else rng
    weights = precision(table, contrasts)
    statistic = float(residual_statistic(table.values[None], contrasts, weights)[0])
    drawn = larger = 0
    for size in (FIRST, DRAWS - FIRST):
        null = residual_statistic(draw_null(table, size, source), contrasts, weights)
        drawn, larger = drawn + size, larger + int((null >= statistic).sum())
        if larger >= ENOUGH:
            break
    return Evidence(what, statistic, _p_value(larger, drawn), table.guarantees)


def _p_value(larger: int, drawn: int) -> float:
    """The share of draws that are as large, one standard error of its simulation above it: chance never flatters."""
    return min(1.0, (1 + larger + float(np.sqrt(larger))) / (1 + drawn))


def draw_null(table: Cells, size: int, rng: np.random.Generator) -> Floats:
    """Noisy tables of people whose rows and columns are independent, with the margins of the given one."""
    rows, columns = _margins(table.values)
    return table.draw(np.outer(rows, columns) / rows.sum(), size, rng)


def residual_statistic(tables: Floats, contrasts: Contrasts, weights: Floats) -> Floats:
    """The weighted square of the contrasts of residuals, table by table."""
    rows, columns, whole = tables.sum(2), tables.sum(1), tables.sum((1, 2))
    residuals = tables - rows[:, :, None] * columns[:, None, :] / np.maximum(whole, 1.0)[:, None, None]
    seen = np.einsum("tij,ik,jl->tkl", residuals, contrasts.rows, contrasts.columns, optimize=True)
    flat = seen.reshape(len(tables), -1)
    return np.asarray(((flat @ weights) * flat).sum(1))


def precision(table: Cells, contrasts: Contrasts) -> Floats:
    """The inverse covariance of the contrasts under independence: chance and noise.

    For shares p of the rows and q of the columns of n people, chance gives the residuals the covariance
    n (diag p - pp') x (diag q - qq'), and noise C becomes G C G' with G = (I - p1') x (I - q1').
    """
    (rows, columns), (left, right) = _margins(table.values), (contrasts.rows, contrasts.columns)
    p, q = rows / rows.sum(), columns / columns.sum()
    chance = np.kron(left.T @ (np.diag(p) - np.outer(p, p)) @ left, right.T @ (np.diag(q) - np.outer(q, q)) @ right)
    moved = np.kron(left.T @ (np.eye(p.size) - p[:, None]), right.T @ (np.eye(q.size) - q[:, None]))
    return np.asarray(np.linalg.pinv(rows.sum() * chance + moved @ table.covariance() @ moved.T))


def compare_shares(first: Totals, second: Totals) -> Evidence:
    """The evidence against equal shares of two groups whose numbers are known by their sums.

    Numbers are whole: half a person of each group is taken from the difference.                       [Yates 1934]
    """
    if not (first.two_valued and second.two_valued):
        raise InvalidArgument("two proportions need an answer=, or means of columns of zeros and ones")
    apart, guarantees = first.mean - second.mean, (*first.guarantees, *second.guarantees)
    if not (first.is_counted and second.is_counted):
        return Evidence("two proportions", apart, 1.0, guarantees)
    half = (1 / first.people + 1 / second.people) / 2
    nearer = np.array([np.clip(apart, -half, half)])
    return Evidence(
        "two proportions", apart, float(tail_of_relation((first, second), np.ones(1), nearer)[0]), guarantees
    )


def _margins(values: Floats) -> tuple[Floats, Floats]:
    """The margins of a noisy table, none below the least, of the same total."""
    rows, columns = (np.maximum(values.sum(axis), LEAST) for axis in (1, 0))
    return rows, np.asarray(columns * (rows.sum() / columns.sum()))


def _table(source: Source, what: str) -> Cells:
    found = cells(source)
    found.require_axes(2, what)
    if min(found.shape) < 2:
        raise InvalidArgument(f"{what} needs at least two groups and two cells in each")
    return found


def _require_groups(table: Cells, number: int) -> None:
    if table.shape[0] != number:
        raise InvalidArgument(f"{table.axes[0].name!r} has {table.shape[0]} groups: give {number}")
