"""The audits of central statistics: a table with and without one person, or with another in their place.

The many outputs of a case are draws of the shipped mechanism, made by the maker that the public callable uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import sqrt
from typing import Any, TypeVar

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from bruit import central, tables
from bruit.apps.audits.case import EPSILON, SHARP, Case, GaussianCase, Many, Once, fresh_budget, loop_over
from bruit.central.questions import RowRange, sensitivity
from bruit.central.ranks.quantile_methods import METHODS
from bruit.core.losses import DiscreteGaussian
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE, Neighbours
from bruit.ledger import WITHOUT_PRIVACY, Budget, Ledger
from bruit.mechanisms import Mechanism

C = TypeVar("C")
ONE_ROW = tables.read(polars.DataFrame({"x": [0]}), person=EACH_ROW)
"""A one-row placeholder table, for selection mechanisms whose scores the audit supplies itself."""

MEDIAN = (Fraction(1, 2),)
PUBLIC_SIZE = 2
CANDIDATES = 10
FOUND_DELTA = 0.1
"""The δ of groups discovered in the data: so large that a group shown too often is seen in few draws."""
REACH = 4
SEARCH = {"largest": 2, "grid": 1, "confidence": 0.6}
CHOICE = 3.0
"""The ε claimed by private choices, whose outputs are drawn one at a time: a large claim takes fewer draws to test."""
GAUSSIAN_VARIANCE = 4
"""The variance of the discrete Gaussian noise of sums by group, which one person moves by two steps or by four."""


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """One case or more for each statistic, on a table and its neighbour."""
    words = _pair(neighbours, ["yes", "yes", "yes"], instead="dropped", declare=_yes_or_no)
    yield _case("central.count", neighbours, words, central.count, central.count_mechanism)
    words = _pair(neighbours, ["yes", "no", "yes"], instead="no", declare=_yes_or_no)
    yield _case("central.histogram", neighbours, words, central.histogram, _histogram)
    far = _pair(neighbours, [0, 0, 2], instead=-2, declare=lambda column: column)
    sharp: dict[str, Any] = {"claimed": SHARP, "small": 5_000}
    yield _case("central.bounds", neighbours, far, central.bounds, central.bounds_mechanism, settings=SEARCH, **sharp)
    ends = _pair(neighbours, [10, 10, 10], instead=0, declare=_to_ten)
    yield _case("central.sum", neighbours, ends, central.sum, central.sum_mechanism)
    middle = _pair(neighbours, [5, 0, 10], instead=0, declare=_to_ten)
    yield _case("central.mean", neighbours, middle, central.mean, central.mean_mechanism, **sharp)
    if neighbours is REPLACE_ONE:
        size: dict[str, Any] = {"settings": {"size": PUBLIC_SIZE}, "variant": "public size", **sharp}
        yield _case("central.mean", neighbours, middle, central.mean, central.mean_mechanism, **size)
    many = {**sharp, "small": 20_000, "full": 200_000}  # its pair shows little; each variance is computed by itself
    yield _case("central.variance", neighbours, middle, central.variance, central.variance_mechanism, **many)
    yield from choices(neighbours)
    yield from groups(neighbours)
    yield from medians(neighbours)
    ranks: dict[str, Any] = {"claimed": SHARP, "small": 6_000, "full": 50_000}
    pair = _grouped_pair(neighbours)
    yield _case("central.rank_sums", neighbours, pair, _rank_sums_once, _rank_sums, **ranks)
    if neighbours is REPLACE_ONE:
        ranks |= {"settings": {"public_size": True}, "variant": "public size"}
        yield _case("central.rank_sums", neighbours, pair, _rank_sums_once, _rank_sums, **ranks)
    words = _pair(neighbours, ["yes", "no", "no"], instead="yes", declare=_yes_or_no)
    yield _case(
        "central.inverse_sensitivity",
        neighbours,
        words,
        _mode_once,
        _mode,
        claimed=CHOICE,
        small=4_000,
        full=50_000,
    )


def medians(neighbours: Neighbours) -> Iterator[Case]:
    """One case for each method of the median."""
    for method in METHODS:
        ranks = _pair(neighbours, [0, 10, 10], instead=0, declare=_to_ten)
        settings = {"method": method, "smoothing": 5 if method == "smooth" else None}
        sizes: dict[str, Any] = {"claimed": SHARP, "small": 6_000, "full": 50_000}
        yield _case(
            "central.quantiles", neighbours, ranks, _median_once, _median, variant=method, settings=settings, **sizes
        )


def groups(neighbours: Neighbours) -> Iterator[Case]:
    """Audit cases of sums by listed group, of rows and of people, and of a group that only one person is in."""
    rows = _pair(neighbours, ["yes", "yes", "no"], instead="yes", declare=lambda column: column)
    yield _case("central.group_by", neighbours, rows, _group_sums_once, _group_sums, variant="declared")
    people = _people(neighbours)
    yield _case("central.group_by", neighbours, people, _group_sums_once, _group_sums, variant="bounded rows")
    yield _gaussian_sums(neighbours)
    texts = _pair(neighbours, ["b", "b", "b", "b"], instead="a", declare=lambda column: column)
    found = _found_groups(neighbours), _found_once(neighbours)
    yield Case("central.group_by", neighbours, texts, *found, delta=FOUND_DELTA, small=100_000, variant="found")


def choices(neighbours: Neighbours) -> Iterator[Case]:
    """The audit cases of the selection mechanisms, each on scores that one person moves as far as possible."""
    moved = np.ones(CANDIDATES, np.int64)
    moved[0] = 0
    pair = (moved, 1 - moved)
    sizes: dict[str, Any] = {"claimed": CHOICE, "small": 4_000, "full": 50_000}
    yield _case(
        "central.exponential", neighbours, pair, *_scored(central.exponential, central.exponential_mechanism), **sizes
    )
    yield _case(
        "central.noisy_max", neighbours, pair, *_scored(central.noisy_max, central.noisy_max_mechanism), **sizes
    )
    words = _pair(neighbours, ["no", "yes"], instead="no", declare=_yes_or_no)
    yield _case("central.most_common", neighbours, words, central.most_common, central.most_common_mechanism, **sizes)
    first = _first_above(neighbours)
    questions = ((0, 0, 1), (1, 1, 0))
    name = "central.AboveThreshold"
    yield Case(name, neighbours, questions, loop_over(first), first, claimed=CHOICE, small=2_000, full=20_000)


def _case(
    name: str,
    neighbours: Neighbours,
    pair: tuple[Any, Any],
    public: Callable[..., Any],
    maker: Callable[..., Mechanism[Any, Any]],
    *,
    claimed: float = EPSILON,
    settings: dict[str, Any] | None = None,
    **sizes: Any,
) -> Case:
    """A case whose one answer is the public callable's and whose many outputs are draws of its mechanism."""
    asked = settings or {}

    def once(data: Any, rng: np.random.Generator) -> Any:
        return public(data, budget=fresh_budget(neighbours, claimed, person=_person(data)), rng=rng, **asked).value

    def many(data: Any, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        mechanism = maker(data, fresh_budget(neighbours, claimed, person=_person(data)), **asked)
        return mechanism.draws(samples, budget=WITHOUT_PRIVACY, rng=rng)

    return Case(name, neighbours, pair, many, once, claimed=claimed, **sizes)


def _person(data: Any) -> str:
    """Whose rows the data of a case holds; given scores are those of one row."""
    return data.table.person if isinstance(data, tables.Column | tables.UndeclaredColumn) else EACH_ROW


def _histogram(column: tables.Column, price: Budget) -> Mechanism[Any, Any]:
    return central.histogram_mechanism(column, price=price)


def _group_sums(column: tables.UndeclaredColumn, price: Budget) -> Mechanism[Any, Any]:
    return central.group_sums_mechanism(*_by_and_values(column), price)


def _group_sums_once(column: tables.UndeclaredColumn, **paid: Any) -> Any:
    by, values = _by_and_values(column)
    return central.group_by(by, values=values, **paid)


def _by_and_values(column: tables.UndeclaredColumn) -> tuple[tables.Column, tables.Column]:
    """The column to group by and the column to sum: it is bounded by -10 and 10 and holds 10 in every row."""
    return _yes_or_no(column), column.table["ten"].within(-10, 10, grid=5)


def _people(neighbours: Neighbours) -> tuple[tables.UndeclaredColumn, tables.UndeclaredColumn]:
    """A person with four rows, of which two count; the neighbour lacks them, or has one with opposite values."""
    one = polars.DataFrame({"who": [1, 1, 1, 1, 2], "x": ["yes"] * 4 + ["no"], "ten": [10] * 5})
    exchanged = one.with_columns(ten=polars.when(polars.col("who") == 1).then(-10).otherwise(10))
    other = exchanged if neighbours is REPLACE_ONE else one.filter(polars.col("who") != 1)
    first, second = (tables.read(frame, person="who").limit(rows=2)["x"] for frame in (one, other))
    return first, second


def _gaussian_sums(neighbours: Neighbours) -> Case:
    """Sums by group with Gaussian noise: an exchange inside one group moves its sum from one end to the other."""
    frame = polars.DataFrame({"x": ["yes", "no"], "ten": [10, 10]})
    other = frame.with_columns(ten=polars.Series([-10, 10])) if neighbours is REPLACE_ONE else frame[1:]
    first, second = (tables.read(each, person=EACH_ROW)["x"] for each in (frame, other))
    moved = sensitivity(RowRange(-2, 2), None, groups=2, neighbours=neighbours)
    loss = DiscreteGaussian(
        GAUSSIAN_VARIANCE, squared_sensitivity=moved.l2_squared, entries=moved.entries, neighbours=neighbours
    )

    def price() -> Budget:
        book = Ledger("audit", epsilon=100, delta=0.1, neighbours=neighbours, person=EACH_ROW, by="zcdp")
        return book.budget(loss)

    def once(column: tables.UndeclaredColumn, rng: np.random.Generator) -> Any:
        return _group_sums_once(column, budget=price(), rng=rng).value

    def many(column: tables.UndeclaredColumn, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        return _group_sums(column, price()).draws(samples, budget=WITHOUT_PRIVACY, rng=rng)

    claimed = sqrt(moved.l2_squared / GAUSSIAN_VARIANCE)
    return GaussianCase(
        "central.group_by", neighbours, (first, second), many, once, claimed=claimed, small=20_000, variant="gaussian"
    )


def _found_once(neighbours: Neighbours) -> Once:
    """The noisy count of the group `b`, or -1 where it is not shown."""

    def once(column: tables.UndeclaredColumn, rng: np.random.Generator) -> int:
        return _of_b(central.group_by(column, budget=fresh_budget(neighbours, delta=FOUND_DELTA), rng=rng))

    return once


def _found_groups(neighbours: Neighbours) -> Many:
    def many(column: tables.UndeclaredColumn, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        mechanism = central.found_groups_mechanism(column, fresh_budget(neighbours, delta=FOUND_DELTA))
        return np.array([_of_b(each) for each in mechanism.outcomes(samples, budget=WITHOUT_PRIVACY, rng=rng)])

    return many


def _of_b(found: Any) -> int:
    return int(found.value[found.labels.index("b")]) if "b" in found.labels else -1


def _scored(
    public: Callable[..., Any], maker: Callable[..., Mechanism[Any, Any]]
) -> tuple[Callable[..., Any], Callable[..., Mechanism[Any, Any]]]:
    """A selection among CANDIDATES by supplied scores: the public function, and the maker of its mechanism."""
    places = list(range(CANDIDATES))

    def once(scores: ArrayLike, **paid: Any) -> Any:
        return public(ONE_ROW, places, lambda _: scores, sensitivity=1, **paid)

    def mechanism(scores: ArrayLike, price: Budget) -> Mechanism[Any, Any]:
        return maker(ONE_ROW, places, lambda _: scores, price, sensitivity=1)

    return once, mechanism


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


def _median_once(column: tables.Column, **asked: Any) -> Any:
    return central.quantiles(column, MEDIAN, **asked)


def _median(column: tables.Column, price: Budget, **settings: Any) -> Mechanism[Any, Any]:
    return central.quantiles_mechanism(column, MEDIAN, price, **settings)


def _grouped_pair(neighbours: Neighbours) -> tuple[tables.Column, tables.Column]:
    """Groups whose rank sums are even, and uneven by the most that one person can do to so few."""
    groups, values = ["yes", "yes", "no", "no"], [0, 5, 10, 0]
    if neighbours is REPLACE_ONE:
        other = (groups, [0, 5, 10, 10])
    else:
        groups, values, other = ["yes", "no"], [0, 10], (["yes"], [0])
    first, second = (
        _to_ten(tables.read(polars.DataFrame({"x": numbers, "g": of}), person=EACH_ROW)["x"])
        for of, numbers in ((groups, values), other)
    )
    return first, second


def _with_groups(column: tables.Column) -> tuple[tables.Column, tables.Column]:
    return column, column.table["g"].among(["yes", "no"])


def _rank_sums_once(column: tables.Column, **asked: Any) -> Any:
    return central.rank_sums(*_with_groups(column), **asked)


def _rank_sums(column: tables.Column, price: Budget, **settings: Any) -> Mechanism[Any, Any]:
    return central.rank_sums_mechanism(*_with_groups(column), price, **settings)


def _first_of_most(counts: NDArray[np.int64]) -> int:
    return int(counts.argmax())


def _mode_once(column: tables.Column, **paid: Any) -> Any:
    return central.inverse_sensitivity(column, _first_of_most, [0, 1], reach=REACH, **paid)


def _mode(column: tables.Column, price: Budget) -> Mechanism[Any, Any]:
    return central.inverse_sensitivity_mechanism(column, _first_of_most, [0, 1], price, reach=REACH)


def _two_groups(table: tables.Table) -> Any:
    return table["group"].among(["a", "b"])


def _small_numbers(table: tables.Table) -> Any:
    return table["x"].within(-1, 2, grid=1)


def _group_sizes(table: Any) -> list[int]:
    """A score function as a user might write it: the number of rows in each of two groups."""
    frame = table.frame.collect()
    return [int((frame["group"] == group).sum()) for group in ("a", "b")]


WALKED: dict[str, Callable[..., Any]] = {
    "count": lambda table, **paid: central.count(table, **paid),
    "sum": lambda table, **paid: central.sum(_small_numbers(table), **paid),
    "mean": lambda table, **paid: central.mean(_small_numbers(table), **paid),
    "variance": lambda table, **paid: central.variance(_small_numbers(table), **paid),
    "histogram": lambda table, **paid: central.histogram(_two_groups(table), **paid),
    "group_by": lambda table, **paid: central.group_by(_two_groups(table), values=_small_numbers(table), **paid),
    "rank_sums": lambda table, **paid: central.rank_sums(_small_numbers(table), _two_groups(table), **paid),
    "most_common": lambda table, **paid: central.most_common(_two_groups(table), **paid),
    "exponential": lambda table, **paid: central.exponential(table, ["a", "b"], _group_sizes, sensitivity=2, **paid),
    "noisy_max": lambda table, **paid: central.noisy_max(table, ["a", "b"], _group_sizes, sensitivity=2, **paid),
}
"""The statistics whose exact integers `small_tables.sums` walks, on tables of a person, a group and a number."""
