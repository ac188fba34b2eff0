"""The least budget at which every answer of a question reaches a given accuracy, from public numbers alone.

The half-width of a mean, a variance or a ratio depends on how many rows there are, which is private: it is taken for a
group of a stated public size, so that no record decides what is charged.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.central.questions.noises import PricedNoise
from bruit.central.questions.pricing import Prepared, PricedLevel
from bruit.central.questions.ratios import mean_interval, variance_interval
from bruit.core.arguments import whole
from bruit.core.numbers import Exact, positive
from bruit.errors import InvalidArgument

if TYPE_CHECKING:
    from bruit.central.questions.asking import Question
    from bruit.central.questions.measures import Measure
    from bruit.ledger import Budget, Ledger

STEPS = 1000
"""Prices are multiples of 1 / STEPS."""

PLACES = np.linspace(0, 1, 17)
"""Where between its bounds a mean may lie, to find the widest interval of it."""


def least_price(
    question: Question,
    *,
    ledger: Ledger,
    within: Exact | Mapping[str, Exact],
    delta: Exact | None = None,
    for_groups_of: int | None = None,
) -> Budget:
    """The budget of least epsilon, in thousandths, at which no half-width exceeds `within` in a measure's own unit.

    `within` is one number for all measures, or one for each by name. Means and variances need `for_groups_of`: the
    public size of the smallest group that the figure is meant for.
    """
    wanted = {name: positive(each, f"within of {name}") for name, each in _by_name(question, within).items()}
    size = None if for_groups_of is None else whole(for_groups_of, "for_groups_of", why="the rows of a small group")
    for name in wanted:
        _check(name, question.measures[name], size)

    def fits(steps: int) -> bool:
        prepared = Prepared.of(question, ledger.budget(epsilon=Fraction(steps, STEPS), delta=delta))
        found = half_widths(prepared, wanted, size)
        return all(found[name] <= float(allowed) for name, allowed in wanted.items())

    most = int(ledger.epsilon * STEPS)
    if most < 1 or not fits(most):
        raise InvalidArgument(
            f"within={within}: even all of the book's epsilon, {float(ledger.epsilon):g}, leaves a wider error; allow "
            "a larger one, fewer groups or a smaller limit"
        )
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return ledger.budget(epsilon=Fraction(high, STEPS), delta=delta)


def half_widths(prepared: Prepared, names: Mapping[str, Any], size: int | None) -> dict[str, float]:
    """The widest half-width of each measure over all levels, in the units of its column."""
    question = prepared.question
    return {name: max(_half_width(question, priced, name, size) for priced in prepared.levels) for name in names}


def _half_width(question: Question, priced: PricedLevel, name: str, size: int | None) -> float:
    measure, paid = question.measures[name], priced.bought.get(name)
    noise = paid.noise if isinstance(paid, PricedNoise) else priced.threshold.noise if priced.threshold else None
    assert noise is not None
    if measure.what not in ("sum", "mean", "variance"):
        return float(noise.half_width(question.confidence))
    assert measure.value is not None
    numbers = measure.value.numbers
    grid, span = float(numbers.grid), numbers.highest - numbers.lowest
    if measure.what == "sum":
        return noise.half_width(question.confidence) * grid
    assert size is not None
    if measure.what == "mean" and question.size is not None:
        return noise.half_width(question.confidence) / size * grid
    if measure.what == "mean":
        above = np.round(PLACES * size * span).astype(np.int64)
        low, high = mean_interval(above, size * span - above, noise, question.confidence)
        return float((high - low).max() / 2 * span * grid)
    ends = (size * span**2 * np.array([(1 - PLACES) ** 2, 2 * PLACES * (1 - PLACES), PLACES**2])).astype(np.int64)
    low, high = variance_interval(ends, noise, question.confidence)
    return float((high - low).max() / 2 * (span * grid) ** 2)


def _by_name(question: Question, within: Exact | Mapping[str, Exact]) -> Mapping[str, Exact]:
    if not isinstance(within, Mapping):
        return dict.fromkeys(question.measures, within)
    odd = sorted(set(within) - set(question.measures))
    if odd or not within:
        raise InvalidArgument(f"within names {odd[:1]}; the measures are {', '.join(question.measures)}")
    return within


def _check(name: str, measure: Measure, size: int | None) -> None:
    if measure.what == "quantiles":
        raise InvalidArgument(
            f"within: {name!r} is a quantile, whose error in values depends on the records: leave it out"
        )
    if measure.what in ("mean", "variance") and size is None:
        raise InvalidArgument(
            f"within: the error of {measure.words} depends on how many rows a group has, which is private: state "
            "for_groups_of=..., the size of the smallest group that it is meant for"
        )
