"""The measures of a question, each computed from exact integers to which one row contributes a bounded amount."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from bruit.central.questions.sensitivities import RowRange
from bruit.central.ranks.probabilities import Probabilities, as_probabilities
from bruit.errors import InvalidArgument
from bruit.tables.plan.expressions import Expression, narrow
from bruit.tables.plan.reading import Part

TITLES = {
    "count": "rows",
    "non_missing": "rows with {}",
    "distinct": "different values of {}",
    "people": "people",
    "sum": "sum of {}",
    "mean": "mean of {}",
    "variance": "variance of {}",
    "quantiles": "quantiles of {}",
}
"""The measures, and how each is said."""

PARTS = {
    "count": ("rows",),
    "non_missing": ("rows",),
    "distinct": ("distinct",),
    "people": ("people",),
    "sum": ("sum",),
    "mean": ("above", "below"),
    "variance": ("twice below", "between", "twice above"),
    "quantiles": ("tally",),
}
"""The exact integers that each measure is made of: the two ends of a mean, the three of a variance."""


@dataclass(frozen=True, eq=False)
class Measure:
    """One statistic per group, of a value, of rows or of people."""

    what: str
    value: Expression | None = None
    probabilities: tuple[Fraction, ...] = ()
    intervals: bool = False
    """Whether quantiles come with an interval of values."""

    @property
    def words(self) -> str:
        """A description of the measure in words."""
        return TITLES[self.what].format("" if self.value is None else self.value.words)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The exact integers that the measure is computed from."""
        return tuple(Part(name, self.value) for name in PARTS[self.what])

    @property
    def parts_of_known_size(self) -> tuple[Part, ...]:
        """The exact integers needed where the number of rows is public; for a mean, one sum alone."""
        return self.parts[:1] if self.what == "mean" else self.parts

    @property
    def range_of_known_size(self) -> RowRange:
        """What one row can add to the integers of `parts_of_known_size`."""
        row = self.range_of_a_row
        return RowRange(0, row.high) if self.what == "mean" else row

    @property
    def range_of_a_row(self) -> RowRange:
        """What one row can add to the integers of `parts`."""
        if self.what in ("sum", "mean", "variance"):
            assert self.value is not None
            numbers = self.value.numbers
            width = numbers.highest - numbers.lowest
            if self.what == "sum":
                return RowRange(min(numbers.lowest, 0), max(numbers.highest, 0))
            return RowRange(0, width, ends=2) if self.what == "mean" else RowRange(0, width**2, ends=3)
        return RowRange(0, 1, once=self.what == "people")

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the answer: one, or one for each quantile."""
        return tuple(f"{float(p):g}" for p in self.probabilities) if self.what == "quantiles" else ("",)


def count() -> Measure:
    """The measure that counts the rows."""
    return Measure("count")


def non_missing(value: Expression) -> Measure:
    """The measure that counts the rows with a value."""
    return Measure("non_missing", value)


def distinct(value: Expression) -> Measure:
    """The measure that counts the distinct values."""
    return Measure("distinct", value)


def people() -> Measure:
    """The measure that counts the people."""
    return Measure("people")


def total(value: Expression) -> Measure:
    """The measure that sums a number."""
    return _of_numbers("sum", value)


def mean(value: Expression) -> Measure:
    """The measure for the mean of a number, from the sums of its distances to the low and the high bound."""
    return _of_numbers("mean", value)


def variance(value: Expression) -> Measure:
    """The measure for the variance of a number, from the sums of three quadratic Bernstein polynomials."""
    return _of_numbers("variance", value)


def quantiles(value: Expression, probabilities: Probabilities, *, intervals: bool = False) -> Measure:
    """The measure for quantiles of a number; `intervals` adds confidence intervals, which cost budget too."""
    checked = narrow(_of_numbers("sum", value).value or value)
    return Measure("quantiles", checked, as_probabilities(probabilities), intervals=bool(intervals))


MEASURES: dict[str, Callable[..., Measure]] = {
    "count": count,
    "non_missing": non_missing,
    "distinct": distinct,
    "people": people,
    "sum": total,
    "mean": mean,
    "variance": variance,
    "quantiles": quantiles,
}


def _of_numbers(what: str, value: Expression) -> Measure:
    if not isinstance(value, Expression):
        raise InvalidArgument(f"{what}(...) needs a column of a table, such as table['cost']")
    if value.numbers.highest == value.numbers.lowest:
        raise InvalidArgument(f"{value.words} can only be one number: there is nothing to measure")
    return Measure(what, narrow(value))
