"""How many people a test needs, before anything is asked or paid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from bruit.channels import IntegerNoise
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours
from bruit.core.numbers import Exact, positive
from bruit.errors import InvalidArgument
from bruit.inference.association import slope_test
from bruit.inference.noise_laws import AddedNoise, Floats, ReportNoise
from bruit.inference.noisy_counts import Axis, Block, Cells
from bruit.inference.residual_tests import (
    Contrasts,
    all_contrasts,
    anova,
    draw_null,
    independence,
    mann_whitney,
    mean_contrasts,
    precision,
    rank_contrasts,
    residual_statistic,
    slope_contrasts,
    two_proportions,
)
from bruit.inference.results import Evidence
from bruit.local import KRR, OLH, OUE, SUE, FrequencyProtocol

DRAWS: Final = 4000
"""Tables that are drawn for a critical value, and again for a power: the power is known to one hundredth."""

MOST: Final = 10**9
"""People beyond which a plan is given up."""


def people_for(
    test: Callable[..., Evidence],
    shares: ArrayLike,
    *,
    power: float = 0.8,
    level: float = 0.05,
    epsilon: Exact | None = None,
    neighbours: Neighbours | None = None,
    protocol: FrequencyProtocol | None = None,
    values: Mapping[int, ArrayLike] | None = None,
) -> int:
    """How many people a test needs to see, with the given power, the differences in a table of expected shares.

    `shares` holds one row a group and one column a cell, and adds up to one over all of it. A curator's histogram of
    both columns is planned with `epsilon` and `neighbours`, a survey that asks each group apart with a `protocol` over
    the cells. `values` gives the numbers of the rows (0) or columns (1) where a test needs them; else 0, 1, 2, ….
    """
    table = _expected(shares, values)
    if test not in PLANNED:
        raise InvalidArgument(f"people_for plans {', '.join(each.__name__ for each in PLANNED)}; not {test!r}")
    if not (0 < level < power < 1):
        raise InvalidArgument(f"level={level} and power={power}: the level lies below the power, both from 0 to 1")
    make = _design(table, epsilon, neighbours, protocol)
    few, many = 8, 16
    while power_of(make(many), PLANNED[test], level) < power:
        few, many = many, 2 * many
        if many > MOST:
            raise InvalidArgument(f"not even {MOST} people would show these differences: shares are too alike")
    while many > few * 1.01 + 1:
        middle = (few + many) // 2
        few, many = (few, middle) if power_of(make(middle), PLANNED[test], level) >= power else (middle, many)
    return many


def power_of(expected: Cells, contrasts: Callable[[Cells], Contrasts], level: float) -> float:
    """The chance that a test at this level sees what a table of expected counts holds."""
    rng, chosen = np.random.default_rng(0), contrasts(expected)
    weights = precision(expected, chosen)
    null = residual_statistic(draw_null(expected, DRAWS, rng), chosen, weights)
    seen = residual_statistic(expected.draw(expected.values, DRAWS, rng), chosen, weights)
    return float((seen > np.quantile(null, 1 - level)).mean())


PLANNED: dict[Callable[..., Evidence], Callable[[Cells], Contrasts]] = {
    independence: all_contrasts,
    two_proportions: all_contrasts,
    mann_whitney: rank_contrasts,
    anova: mean_contrasts,
    slope_test: slope_contrasts,
}
"""The tests that can be planned, and what each looks at."""


def _expected(shares: ArrayLike, values: Mapping[int, ArrayLike] | None) -> tuple[Floats, tuple[Axis, ...]]:
    table = np.asarray(shares, np.float64)
    if table.ndim != 2 or min(table.shape) < 2 or (table < 0).any() or abs(table.sum() - 1) > 1e-6:
        raise InvalidArgument("shares: give one row a group, one column a cell, at least two of each, sum one")
    axes = []
    for place, name in enumerate(("group", "cell")):
        numbers = np.asarray((values or {}).get(place, np.arange(table.shape[place])), np.float64)
        if numbers.shape != (table.shape[place],):
            raise InvalidArgument(f"values[{place}]: give one number for each of {table.shape[place]} cells")
        axes.append(Axis(name, tuple(map(str, range(table.shape[place]))), numbers))
    return table, tuple(axes)


def _design(
    table: tuple[Floats, tuple[Axis, ...]],
    epsilon: Exact | None,
    neighbours: Neighbours | None,
    protocol: FrequencyProtocol | None,
) -> Callable[[int], Cells]:
    """The expected counts of so many people with their noise."""
    shares, axes = table
    if protocol is not None and epsilon is None and neighbours is None:
        return _survey(shares, axes, protocol)
    if protocol is not None or epsilon is None or neighbours not in (ADD_OR_REMOVE_ONE, REPLACE_ONE):
        raise InvalidArgument(
            "say how the numbers will be noised: epsilon= and neighbours= for a curator's histogram, or protocol= for "
            "a survey"
        )
    noise = IntegerNoise.laplace(
        Fraction(positive(epsilon, "epsilon")),
        sensitivity=1 if neighbours is ADD_OR_REMOVE_ONE else 2,
        neighbours=neighbours,
    )
    return lambda people: Cells(axes, (Block(people * shares, AddedNoise(noise)),))


def _survey(shares: Floats, axes: tuple[Axis, ...], protocol: FrequencyProtocol) -> Callable[[int], Cells]:
    if not isinstance(protocol, KRR | OUE | SUE | OLH) or len(protocol.categories) != shares.shape[1]:
        raise InvalidArgument(f"protocol: give KRR, OUE, SUE or OLH over {shares.shape[1]} categories, one a column")

    def make(people: int) -> Cells:
        rows = [Block(people * row, _reports(protocol, people * row.sum())) for row in shares]
        return Cells(axes, tuple(rows))

    return make


def _reports(protocol: FrequencyProtocol, people: float) -> ReportNoise:
    return ReportNoise(protocol.support, max(round(people), 1), isinstance(protocol, KRR))
