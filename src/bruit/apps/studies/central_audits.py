"""The audits of central statistics: a table with and without one person, or with another in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from bruit import central, tables
from bruit.apps.studies.audit_case import EPSILON, SHARP, Case, Many, Once, fresh_budget, looped
from bruit.central import (
    finite_functions,
    grouping,
    histograms,
    moments,
    noise,
    private_bounds,
    selection,
)
from bruit.central.ranks import quantiles as quantile_methods
from bruit.central.ranks import records, thresholds
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Neighbours, exactly

C = TypeVar("C")
ONE_ROW = tables.read(polars.DataFrame({"x": [0]}), person=EACH_ROW)
"""A table for mechanisms whose scores or questions are given, as one person moves them."""

MEDIAN = (Fraction(1, 2),)
PUBLIC_SIZE = 2
CANDIDATES = 10
FOUND_DELTA = 0.1
"""The delta of a group that is found: large, so that what it hides shows in few answers."""
REACH = 4
SEARCH = {"largest": 2, "grid": 1, "confidence": 0.6}
CHOICE = 3.0
"""What a choice claims, whose outputs are drawn one by one: a large epsilon shows in fewer of them."""


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """Each statistic, on a table and its neighbour."""
    words = _pair(neighbours, ["yes", "yes", "yes"], instead="dropped", declare=_yes_or_no)
    yield Case("central.count", neighbours, words, _counts(neighbours), _once(central.count, neighbours))
    words = _pair(neighbours, ["yes", "no", "yes"], instead="no", declare=_yes_or_no)
    yield Case("central.histogram", neighbours, words, _histograms(neighbours), _once(central.histogram, neighbours))
    far = _pair(neighbours, [0, 0, 2], instead=-2, declare=lambda column: column)
    once = _once(central.bounds, neighbours, epsilon=SHARP, **SEARCH)
    yield Case("central.bounds", neighbours, far, _bounds(neighbours), once, claimed=SHARP, small=5_000)
    ends = _pair(neighbours, [10, 10, 10], instead=0, declare=_to_ten)
    yield Case("central.sum", neighbours, ends, _sums(neighbours), _once(central.sum, neighbours))
    middle = _pair(neighbours, [5, 0, 10], instead=0, declare=_to_ten)
    for public, powers in ((central.mean, (1,)), (central.variance, (1, 2))):
        name = f"central.{public.__name__}"
        once = _once(public, neighbours, epsilon=SHARP, size=PUBLIC_SIZE)
        many = _moments(neighbours, powers)
        yield Case(name, neighbours, middle, many, once, claimed=SHARP, small=5_000)
    yield from choices(neighbours)
    yield from groups(neighbours)
    for method in quantile_methods.METHODS:
        ranks = _pair(neighbours, [0, 10, 10], instead=0, declare=_to_ten)
        smoothing = 5 if method == "smooth" else None
        once = _once(central.quantiles, neighbours, MEDIAN, epsilon=SHARP, method=method, smoothing=smoothing)
        many = _medians(neighbours, method=method, smoothing=smoothing)
        sizes = {"small": 6_000, "full": 50_000}
        yield Case("central.quantiles", neighbours, ranks, many, once, claimed=SHARP, variant=method, **sizes)
    words = _pair(neighbours, ["yes", "no", "no"], instead="yes", declare=_yes_or_no)
    name, once = "central.inverse_sensitivity", _mode_once(neighbours)
    yield Case(name, neighbours, words, _modes(neighbours), once, claimed=CHOICE, small=4_000, full=50_000)


def groups(neighbours: Neighbours) -> Iterator[Case]:
    """Sums by declared group, and a found group that one person more or less has."""
    first, second = _pair(neighbours, ["yes", "yes", "no"], instead="yes", declare=_yes_or_no)
    pair = (first, _ten_each(first)), (second, _ten_each(second))
    many, once = _group_sums(neighbours), _group_sums_once(neighbours)
    yield Case("central.group_by", neighbours, pair, many, once, variant="declared")
    texts = _pair(neighbours, ["b", "b", "b", "b"], instead="a", declare=lambda column: column)
    found, one = _found_groups(neighbours), _found_once(neighbours)
    yield Case("central.group_by", neighbours, texts, found, one, delta=FOUND_DELTA, small=100_000, variant="found")


def _ten_each(column: tables.Column) -> tables.Column:
    """A number of the same table that is ten in every row."""
    return column.table["ten"].within(0, 10, grid=5)


def _group_sums_once(neighbours: Neighbours) -> Once:
    def once(data: tuple[tables.Column, tables.Column], rng: np.random.Generator) -> NDArray[np.float64]:
        by, values = data
        return np.asarray(central.group_by(by, values=values, budget=fresh_budget(neighbours), rng=rng).value)

    return once


def _group_sums(neighbours: Neighbours) -> Many:
    def many(data: tuple[tables.Column, tables.Column], samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        by, values = data
        loss = grouping.sums_noise(by, values, fresh_budget(neighbours))
        exact = tables.exact.group_totals(by, values, key=tables.draw_key(rng))
        noisy = exact + noise.draw(loss, samples * exact.size, rng=rng).reshape(samples, -1)
        return values.numbers.decode(noisy)

    return many


def _found_once(neighbours: Neighbours) -> Once:
    """The noisy count of the group `b`, or -1 where it is not shown."""

    def once(column: tables.UndeclaredColumn, rng: np.random.Generator) -> int:
        budget = fresh_budget(neighbours, delta=FOUND_DELTA)
        release = central.group_by(column, budget=budget, rng=rng)
        return int(release.value[release.labels.index("b")]) if "b" in release.labels else -1

    return once


def _found_groups(neighbours: Neighbours) -> Many:
    def many(column: tables.UndeclaredColumn, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        epsilon, delta = exactly(EPSILON, "epsilon"), exactly(FOUND_DELTA, "delta")
        loss, least = grouping.found_noise(column.table, epsilon, delta, neighbours)
        names, exact = tables.exact.found_groups(column, key=tables.draw_key(rng))
        noisy = exact + noise.draw(loss, samples * len(names), rng=rng).reshape(samples, -1)
        of_b = noisy[:, names.index("b")]
        return np.where(of_b >= least, of_b, -1)

    return many


def choices(neighbours: Neighbours) -> Iterator[Case]:
    """Each mechanism that chooses, where one person moves all scores by one, the first against the others."""
    moved = np.ones(CANDIDATES, np.int64)
    moved[0] = 0
    pair = (moved, 1 - moved)
    for public, draw in (
        (central.exponential, selection.by_rejection),
        (central.noisy_max, selection.by_permutation),
    ):
        name = f"central.{public.__name__}"
        once = _chosen(public, neighbours)
        yield Case(name, neighbours, pair, _drawn(draw), once, claimed=CHOICE, small=4_000, full=50_000)
    words = _pair(neighbours, ["no", "yes"], instead="no", declare=_yes_or_no)
    most = _once(central.most_common, neighbours, epsilon=CHOICE)
    many = _most_common(neighbours)
    yield Case("central.most_common", neighbours, words, many, most, claimed=CHOICE, small=4_000, full=50_000)
    first = _first_above(neighbours)
    questions = ((0, 0, 1), (1, 1, 0))
    name = "central.AboveThreshold"
    yield Case(name, neighbours, questions, looped(first), first, claimed=CHOICE, small=2_000, full=20_000)


def _chosen(public: Callable[..., Any], neighbours: Neighbours) -> Once:
    """The place of the candidate that is chosen by given scores."""
    candidates = list(range(CANDIDATES))

    def once(scores: ArrayLike, rng: np.random.Generator) -> int:
        budget = fresh_budget(neighbours, CHOICE)
        return int(public(ONE_ROW, candidates, lambda _: scores, sensitivity=1, budget=budget, rng=rng).value)

    return once


def _drawn(draw: Callable[..., int]) -> Many:
    """Places drawn by given scores that need not move together, one after the other."""
    exponent = exactly(CHOICE, "epsilon") / 2
    return lambda scores, samples, rng: np.array([draw(scores, exponent, rng) for _ in range(samples)])


def _most_common(neighbours: Neighbours) -> Many:
    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        scores = tables.exact.histogram((column,), key=tables.draw_key(rng))
        exponent = exactly(CHOICE, "epsilon") / (1 if neighbours is ADD_OR_REMOVE_ONE else 2)
        chosen = [selection.by_permutation(scores, exponent, rng) for _ in range(samples)]
        return np.array(column.categories.labels)[chosen]

    return many


def _first_above(neighbours: Neighbours) -> Once:
    """The place of the first of given answers that is found above the threshold, or -1."""

    def once(answers: tuple[int, ...], rng: np.random.Generator) -> int:
        search = central.AboveThreshold(ONE_ROW, 1, sensitivity=1, budget=fresh_budget(neighbours, CHOICE), rng=rng)
        found = search.first([lambda _, value=value: value for value in answers])  # type: ignore[misc]
        return -1 if found is None else found

    return once


def _pair(
    neighbours: Neighbours, values: list[Any], *, instead: object, declare: Callable[[tables.UndeclaredColumn], C]
) -> tuple[C, C]:
    """The column of these values, and the one without the last, or with another instead of it."""
    others = values[:-1] + ([instead] if neighbours is REPLACE_ONE else [])
    first, second = (
        declare(tables.read(polars.DataFrame({"x": column, "ten": [10] * len(column)}), person=EACH_ROW)["x"])
        for column in (values, others)
    )
    return first, second


def _yes_or_no(column: tables.UndeclaredColumn) -> tables.Column:
    return column.among(["yes", "no"], drop_others=True)


def _to_ten(column: tables.UndeclaredColumn) -> tables.Column:
    return column.within(0, 10, grid=5, missing=0)


def _once(
    public: Callable[..., Any], neighbours: Neighbours, *asked: Any, epsilon: float = EPSILON, **settings: Any
) -> Once:
    return lambda data, rng: public(data, *asked, budget=fresh_budget(neighbours, epsilon), rng=rng, **settings).value


def _medians(neighbours: Neighbours, *, method: str, smoothing: int | None) -> Many:
    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        person, grid = records.person_of(column, neighbours), column.numbers
        epsilon, steps = exactly(SHARP, "epsilon"), thresholds.STEPS
        question = quantile_methods.Question(MEDIAN, grid, epsilon, person, steps, smoothing)
        mechanism = question.mechanism(method)
        cells = records.read_cells(column, rng=rng)
        return grid.decode(np.array([mechanism.drawn(cells, rng) for _ in range(samples)]) + grid.lowest)

    return many


def _first_of_most(counts: NDArray[np.int64]) -> int:
    return int(counts.argmax())


def _mode_once(neighbours: Neighbours) -> Once:
    """The place of the most common answer, by inverse sensitivity."""

    def once(column: tables.Column, rng: np.random.Generator) -> int:
        budget = fresh_budget(neighbours, CHOICE)
        return central.inverse_sensitivity(column, _first_of_most, [0, 1], reach=REACH, budget=budget, rng=rng).value

    return once


def _modes(neighbours: Neighbours) -> Many:
    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        counts = finite_functions.dense_counts(column, rng=rng)
        lengths = finite_functions.lengths(counts, _first_of_most, [0, 1], reach=REACH, exchange=False)
        moves = 2 if neighbours is REPLACE_ONE else 1
        exponent = exactly(CHOICE, "epsilon") / (2 * moves)
        return np.array([selection.by_rejection(-lengths, exponent, rng) for _ in range(samples)])

    return many


def _counts(neighbours: Neighbours) -> Many:
    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        loss = noise.bought_noise(fresh_budget(neighbours), each=column.table.bounds[1])
        return tables.exact.count(column) + noise.draw(loss, samples, rng=rng)

    return many


def _histograms(neighbours: Neighbours) -> Many:
    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        _, entries = histograms.histogram_sensitivity(*column.table.bounds, neighbours)
        loss = noise.bought_noise(fresh_budget(neighbours), each=column.table.bounds[1], entries=entries)
        exact = tables.exact.histogram((column,), key=tables.draw_key(rng))
        return exact + noise.draw(loss, samples * exact.size, rng=rng).reshape(samples, -1)

    return many


def _bounds(neighbours: Neighbours) -> Many:
    def many(column: tables.UndeclaredColumn, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        searched = private_bounds.searched_column(column, SEARCH["largest"], SEARCH["grid"])
        _, entries = histograms.histogram_sensitivity(*column.table.bounds, neighbours)
        loss = noise.bought_noise(fresh_budget(neighbours, SHARP), each=column.table.bounds[1], entries=entries)
        exact = tables.magnitudes.magnitudes(searched, key=tables.draw_key(rng))
        shown = exact + noise.draw(loss, samples * exact.size, rng=rng).reshape(samples, -1)
        least = private_bounds.least_count(loss, exact.size, SEARCH["confidence"])
        kinds, places = np.unique(shown >= least, axis=0, return_inverse=True)
        ends = np.array([searched.numbers.decode(private_bounds.enclosing(row)) for row in kinds])
        return ends[places.reshape(-1)]

    return many


def _sums(neighbours: Neighbours) -> Many:
    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        loss = noise.bought_noise(fresh_budget(neighbours), each=moments.sum_sensitivity(column, neighbours))
        return (tables.exact.total(column) + noise.draw(loss, samples, rng=rng)) * float(column.numbers.grid)

    return many


def _moments(neighbours: Neighbours, powers: tuple[int, ...]) -> Many:
    """Mean or variance over a stated size, from the noisy sums of powers."""

    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        plan = moments.Moments(column, fresh_budget(neighbours, SHARP), PUBLIC_SIZE, 0.95, powers, "audit")
        noisy, widths = list(zip(*plan.noisy_sums(samples, rng), strict=True)), [0] * len(powers)
        values = {sums: plan.combined(list(sums), widths)[0] for sums in set(noisy)}  # many draws are alike
        return np.array([values[sums] for sums in noisy])

    return many
