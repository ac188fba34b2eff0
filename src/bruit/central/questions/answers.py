"""Turns the noisy integers of a question into values with intervals, one column per measure, one row per group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.central.questions.levels import Cell, Level
from bruit.central.questions.measures import Measure
from bruit.central.questions.noises import PricedNoise, Threshold
from bruit.central.questions.quantile_draws import quantile_draws
from bruit.central.questions.ratios import mean_estimate, variance_estimate
from bruit.channels import IntegerNoise
from bruit.core.intervals import Covers, Interval
from bruit.core.neighbours import Neighbours
from bruit.core.release import Outcome
from bruit.tables.plan.reading import ExactIntegers

if TYPE_CHECKING:
    from bruit.central.questions.asking import Question
    from bruit.central.questions.pricing import PricedLevel

Floats = NDArray[np.float64]
Bounded = tuple[Floats, Floats, Floats]
"""Values, their low bounds and their high ones."""

WHOLE = "all"
"""What stands in a label for a key whose groups are taken together."""


@dataclass(frozen=True)
class LevelAnswer:
    """The noisy integers or quantiles of each measure at one level, with one column per group."""

    noisy: Mapping[str, NDArray[Any]]
    cells: tuple[Cell, ...]
    people: NDArray[np.int64] | None


@dataclass(frozen=True)
class Answer:
    """The noisy results of a question at all its levels."""

    levels: tuple[LevelAnswer, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The group labels of all levels, one cell per group."""
        return tuple(cell for level in self.levels for cell in level.cells)

    @property
    def labels(self) -> tuple[str, ...]:
        """One text label per group."""
        return tuple(" / ".join(WHOLE if part is None else part for part in cell) for cell in self.cells)


def draw_level(
    question: Question, priced: PricedLevel, exact: ExactIntegers, neighbours: Neighbours, rng: np.random.Generator
) -> LevelAnswer:
    """Adds noise to each measure of a level; discovered groups are kept only where they reach the threshold."""
    level = priced.level
    cells, shown, people = _shown(level, priced.threshold, exact, rng)
    first = 1 if question.is_found else 0
    noisy: dict[str, NDArray[Any]] = {}
    for name, measure in question.measures.items():
        parts = question.parts_of(measure)
        paid = priced.bought.get(name)
        if isinstance(paid, PricedNoise):
            noisy[name] = paid.noise.send(np.stack(exact.parts[first : first + len(parts)])[:, shown], rng)
        elif isinstance(paid, Fraction):
            draws = quantile_draws(question, level, measure, paid, neighbours)
            drawn = [draws.draw(tally, rng) for tally in _tallies(level, exact, first, shown)]
            noisy[name] = np.array(drawn).T.reshape(len(measure.columns) * (3 if measure.intervals else 1), len(drawn))
        elif people is not None:
            noisy[name] = people[None, :]
        first += len(parts)
    return LevelAnswer(noisy, cells, people)


def _shown(
    level: Level, shown_by: Threshold | None, exact: ExactIntegers, rng: np.random.Generator
) -> tuple[tuple[Cell, ...], NDArray[np.int64], NDArray[np.int64] | None]:
    """The labels of the groups that are shown, their places, and the noisy number of people of found ones."""
    if shown_by is None or exact.found is None:
        return level.cells, np.arange(len(level.cells)), None
    noisy = shown_by.noise.send(exact.parts[0], rng)
    shown = np.flatnonzero(noisy >= shown_by.least)
    return tuple(level.found_cell(*exact.found[place]) for place in shown), shown, noisy[shown]


def _tallies(level: Level, exact: ExactIntegers, part: int, shown: NDArray[np.int64]) -> list[polars.DataFrame | None]:
    """The tallies of the groups that are shown."""
    tally = exact.tallies[part]
    by = tally.partition_by([name for name in tally.columns if not name.startswith(("value", "rows"))], as_dict=True)
    keys = [(place,) for place in range(len(level.cells))] if exact.found is None else [(c, *t) for c, t in exact.found]
    return [by.get(keys[place]) for place in shown]


def interpret(question: Question, priced: Sequence[PricedLevel], answer: Answer) -> Outcome[Any]:
    """The values of all measures with intervals, one row per group of every level, labelled by group and measure."""
    read = [_level_values(question, one, drawn) for one, drawn in zip(priced, answer.levels, strict=True)]
    table, low, high = (np.concatenate([level[part] for level in read], axis=1).T for part in range(3))
    columns = [
        " ".join(filter(None, (name, column))) for name, each in question.measures.items() for column in each.columns
    ]
    several = len(columns) > 1
    labels = tuple(
        " / ".join(filter(None, (group, column if several or not group else "")))
        for group in answer.labels
        for column in columns
    )
    return Outcome(
        value=table if several else table.reshape(-1),
        method=", ".join(dict.fromkeys(_method(one.bought.get(name)) for one in priced for name in question.measures)),
        labels=labels,
        interval=Interval(low.reshape(-1), high.reshape(-1), question.confidence, Covers.TABLE),
        noise=((high - low) / 2).reshape(-1),
        details=_details(question, priced, answer, columns),
    )


def _details(question: Question, priced: Sequence[PricedLevel], answer: Answer, columns: list[str]) -> dict[str, Any]:
    details: dict[str, Any] = {"asked": question.to_json(), "groups": list(answer.labels), "columns": columns}
    details["cells"] = [list(cell) for cell in answer.cells]
    if len(priced) > 1:
        details["levels"] = [
            {"by": list(one.level.names), "groups": len(drawn.cells)}
            for one, drawn in zip(priced, answer.levels, strict=True)
        ]
    shown = [(one.threshold, drawn.people) for one, drawn in zip(priced, answer.levels, strict=True)]
    found = [(by.least, people.tolist()) for by, people in shown if by is not None and people is not None]
    if found:
        least, people = zip(*found, strict=True)
        details |= {"threshold": least[0] if len(found) == 1 else list(least)}
        details |= {"people": [each for some in people for each in some]}
    if len(priced) == 1 and not question.is_found:
        (one,), (drawn,) = priced, answer.levels
        laws = {name: paid.noise for name, paid in one.bought.items() if isinstance(paid, PricedNoise)}
        details["noisy"] = {
            name: describe_noisy(question.measures[name], drawn.noisy[name], noise) for name, noise in laws.items()
        }
    return details


def describe_noisy(measure: Measure, noisy: NDArray[Any], noise: IntegerNoise) -> dict[str, Any]:
    """The noisy integers of a measure by part, with the loss that names their law: what inference starts from.

    Numbers are in steps of the grid, `lowest` to `highest` of them for one row.
    """
    parts = {part.what: row for part, row in zip(measure.parts, noisy, strict=False)}
    described: dict[str, Any] = {"loss": noise.loss.to_json(), "parts": parts}
    if measure.value is not None and measure.what in ("sum", "mean", "variance"):
        numbers = measure.value.numbers
        described |= {"grid": float(numbers.grid), "lowest": numbers.lowest, "highest": numbers.highest}
    return described


def _level_values(question: Question, priced: PricedLevel, drawn: LevelAnswer) -> Bounded:
    """Values and bounds of one level: one row a column of the answer, one column a group."""
    parts = []
    for name, measure in question.measures.items():
        paid, shown_by = priced.bought.get(name), priced.threshold
        noise = paid.noise if isinstance(paid, PricedNoise) else None if shown_by is None else shown_by.noise
        parts.append(_value(measure, drawn.noisy[name], noise, question.confidence, question.size))
    value, low, high = (np.concatenate([part[place] for part in parts]) for place in range(3))
    return value, low, high


def _value(
    measure: Measure, noisy: NDArray[Any], noise: IntegerNoise | None, confidence: float, size: int | None
) -> Bounded:
    """The value of each group and its bounds, in the units of the measured column."""
    if measure.what == "quantiles":
        return _quantile_values(measure, noisy)
    assert noise is not None
    if measure.value is None or measure.what in ("non_missing", "distinct"):
        width = noise.half_width(confidence)
        return _floats(noisy), _floats(noisy - width), _floats(noisy + width)
    numbers = measure.value.numbers
    grid, low, span = float(numbers.grid), float(numbers.value(numbers.lowest)), numbers.highest - numbers.lowest
    if measure.what == "sum":
        width = noise.half_width(confidence)
        return _floats(noisy * grid), _floats((noisy - width) * grid), _floats((noisy + width) * grid)
    if measure.what == "mean":
        shares = _mean_shares(noisy, noise, confidence, None if size is None else size * span)
        value, least, greatest = (_floats(low + share * span * grid) for share in shares)
        return value, least, greatest
    estimate = variance_estimate(noisy, noise, confidence)
    value, least, greatest = (_floats(each * (span * grid) ** 2) for each in estimate)
    return value, least, greatest


def _mean_shares(noisy: NDArray[Any], noise: IntegerNoise, confidence: float, whole: int | None) -> tuple[Floats, ...]:
    """Where the mean lies between its bounds: by both ends, or by one where the number of rows is public."""
    if whole is None:
        above, below = noisy
        return mean_estimate(above, below, noise, confidence)
    (above,), width = noisy, noise.half_width(confidence)
    return tuple(np.clip(np.asarray(each / whole, np.float64), 0, 1) for each in (above, above - width, above + width))


def _quantile_values(measure: Measure, noisy: NDArray[Any]) -> Bounded:
    if not measure.intervals:
        unknown = np.full(noisy.shape, np.nan)
        return noisy, unknown, unknown
    value, low, high = np.split(noisy, 3)
    return value, np.minimum(low, value), np.maximum(high, value)


def _floats(values: NDArray[Any]) -> Floats:
    return np.atleast_2d(np.asarray(values, np.float64))


def _method(paid: PricedNoise | Fraction | None) -> str:
    if paid is None:
        return "threshold"
    return type(paid.noise.loss).__name__ if isinstance(paid, PricedNoise) else "rank mechanism"
