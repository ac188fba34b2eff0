"""Typed expressions over the columns of a plan, with bounds from exact interval arithmetic."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, gcd

from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument, OutOfDomain
from bruit.tables.expressions.days import day_of_second, day_part, hour_of
from bruit.tables.expressions.nodes import Among, Coalesce, Constant, If, IsMissing, Node, clamp, extent
from bruit.tables.plan.kinds import Kind, Labels, Moments, Numbers, Texts
from bruit.tables.schema.calendar import CLOCK_PARTS, PARTS, day_number, part_labels
from bruit.tables.schema.columns import DAY, MOST_STEPS

WIDEST = 2**62
"""Beyond it, numbers might leave 64 bits while an engine computes them."""


DEEPEST, LONGEST = 200, 100_000
"""How deep an expression may be nested, and how many parts it may have when it is written out."""


@dataclass(frozen=True)
class Condition:
    """A condition on a row: true, false or missing; `words` describe it."""

    node: Node
    words: str

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.node & other.node, f"({self.words} and {other.words})")

    def __or__(self, other: Condition) -> Condition:
        return Condition(self.node | other.node, f"({self.words} or {other.words})")

    def __invert__(self) -> Condition:
        return Condition(~self.node, f"not {self.words}")


@dataclass(frozen=True, eq=False)
class Expression:
    """A value of a row: how it is computed, its public range, and how it is described in words."""

    kind: Kind
    node: Node
    words: str

    @property
    def numbers(self) -> Numbers:
        """The public range of numbers; refused where the expression is not numeric."""
        if not isinstance(self.kind, Numbers):
            raise InvalidArgument(f"{self.words} is no number: give a column of type number, or arithmetic on one")
        return self.kind

    def __add__(self, other: Expression | Exact) -> Expression:
        return _sum(self, _as_number(other), 1, "+")

    def __sub__(self, other: Expression | Exact) -> Expression:
        return _sum(self, _as_number(other), -1, "-")

    def __mul__(self, other: Expression | Exact) -> Expression:
        return _product(self, other) if isinstance(other, Expression) else _scaled(self, exactly(other, "factor"), "*")

    def __truediv__(self, other: Exact) -> Expression:
        if isinstance(other, Expression):
            raise InvalidArgument(f"{self.words} / {other.words}: a column can be divided by a number only")
        divisor = exactly(other, "divisor")
        if divisor == 0:
            raise InvalidArgument(f"{self.words} / 0 is no number")
        return _scaled(self, 1 / divisor, "/", divisor)

    def __ge__(self, other: object) -> Condition:
        return _compared(self, ">=", other)

    def __gt__(self, other: object) -> Condition:
        return _compared(self, ">", other)

    def __le__(self, other: object) -> Condition:
        return _compared(self, "<=", other)

    def __lt__(self, other: object) -> Condition:
        return _compared(self, "<", other)

    def equals(self, other: object) -> Condition:
        """The condition that both values are the same."""
        return _compared(self, "=", other)

    def among(self, values: Sequence[object]) -> Condition:
        """The condition that the value is one of a list of declared values."""
        places = tuple(place for value in values if (place := _place(self, value)) is not None)
        return Condition(Among(self.node, places), f"{self.words} in ({', '.join(map(str, values))})")

    def between(self, low: object, high: object) -> Condition:
        """The condition that the value lies from low to high, both included."""
        return (self >= low) & (self <= high)

    @property
    def is_missing(self) -> Condition:
        """The condition that the value is missing."""
        return Condition(IsMissing(self.node), f"{self.words} is missing")

    def filled(self, value: Exact) -> Expression:
        """The number, or a given one where it is missing."""
        return _union(self, _as_number(value), lambda own, other: Coalesce(own, other), f"{self.words}, or {value}")

    def floor(self) -> Expression:
        """The number rounded down to an integer."""
        kind = self.numbers
        low, high = floor(kind.value(kind.lowest)), floor(kind.value(kind.highest))
        above = -floor(kind.value(kind.lowest))  # added before dividing, so that no negative number is divided
        by, more = kind.grid.numerator, above * kind.grid.denominator
        for added in (0, more):
            _checked(kind.lowest * by + added, kind.highest * by + added, kind.grid, f"floor({self.words})")
        shifted = self.node * by + more
        return Expression(
            Numbers(low, high, Fraction(1)), shifted // kind.grid.denominator - above, f"floor({self.words})"
        )

    def bins(self, width: Exact) -> Expression:
        """The lower edge of the bin of the given width that holds the number."""
        found = (self / width).floor() * width
        return replace(found, words=f"{self.words} in bins of {width}")

    def within(self, low: Exact, high: Exact) -> Expression:
        """The number clamped to two bounds."""
        kind = self.numbers
        bounds = exactly(low, "low") / kind.grid, exactly(high, "high") / kind.grid
        if bounds[0] >= bounds[1] or any(bound.denominator != 1 for bound in bounds):
            raise OutOfDomain(f"within({low}, {high}): low must be below high, and both multiples of {kind.grid}")
        stated = Numbers(int(bounds[0]), int(bounds[1]), kind.grid)
        return narrow(Expression(stated, clamp(self.node, stated.lowest, stated.highest), self.words))

    def part(self, name: str) -> Expression:
        """A part of a day or a time, such as its month: one of finitely many public labels."""
        kind = self.kind
        if not isinstance(kind, Moments):
            raise InvalidArgument(f"{self.words} is no date or time: it has no {name}")
        if name not in (CLOCK_PARTS if kind.clock else PARTS):
            allowed = ", ".join(CLOCK_PARTS if kind.clock else PARTS)
            raise InvalidArgument(f"{self.words} has no part {name!r}; choose among {allowed}")
        day = day_of_second(self.node) if kind.clock else self.node
        place = hour_of(self.node) if name == "hour" else day_part(name, day, first=kind.first)
        labels = part_labels(name, kind.first, kind.last)
        if kind.other is not None:
            labels, place = (*labels, kind.other), Coalesce(place, Constant(len(labels)))
        return Expression(Labels(labels), place, f"{name} of {self.words}")


def number_of(value: Exact) -> Expression:
    """A constant number as an expression."""
    number = exactly(value, "number")
    sign = -1 if number < 0 else 1
    kind = Numbers(sign, sign, abs(number)) if number else Numbers(0, 0, Fraction(1))
    return Expression(kind, Constant(kind.lowest), str(value))


def labelled(cases: Sequence[tuple[Condition, str]], *, otherwise: str) -> Expression:
    """The label of the first condition that is true, or `otherwise`."""
    labels = tuple(dict.fromkeys((*(label for _, label in cases), otherwise)))
    node: Node = Constant(labels.index(otherwise))
    for condition, label in reversed(cases):
        node = If(condition.node, Constant(labels.index(label)), node)
    said = "; ".join(f"{label} where {condition.words}" for condition, label in cases)
    return Expression(Labels(labels), node, f"({said}; else {otherwise})")


def when(condition: Condition, then: Expression, otherwise: Expression | None) -> Expression:
    """One number where a condition is true; elsewhere another one, or missing."""
    words = f"{then.words} where {condition.words}"
    if otherwise is None:
        return Expression(then.kind, If(condition.node, then.node), words)
    return _union(
        then, otherwise, lambda own, other: If(condition.node, own, other), f"({words}, else {otherwise.words})"
    )


def narrow(expression: Expression) -> Expression:
    """Returns the expression, or refuses one with too many possible values: its bounds must then be stated."""
    require_short(expression)
    kind = expression.kind
    if isinstance(kind, Numbers) and max(-kind.lowest, kind.highest) > MOST_STEPS:
        raise OutOfDomain(
            f"{expression.words} can take more than 2^32 steps of {kind.grid}: state its bounds with .within(low, high)"
        )
    return expression


def require_short(stated: Expression | Condition) -> None:
    """Refuses what is nested so deeply, or grows so long when it is written out, that an engine could fail on it."""
    depth, size = extent(stated.node)
    if depth > DEEPEST or size > LONGEST:
        raise InvalidArgument(
            "a condition or a number of a row is made of too many steps: use among([...]) instead of many comparisons, "
            "or keep a part of it with with_(...)"
        )


def _as_number(value: Expression | Exact) -> Expression:
    return value if isinstance(value, Expression) else number_of(value)


def _aligned(left: Expression, right: Expression) -> tuple[Node, Node, int, int, Fraction]:
    """Both numbers in steps of one grid, with what each was multiplied by; neither may leave 64 bits by that."""
    one, other = left.numbers.grid, right.numbers.grid
    grid = Fraction(
        gcd(one.numerator * other.denominator, other.numerator * one.denominator), one.denominator * other.denominator
    )
    factors = int(one / grid), int(other / grid)
    words = f"{left.words} beside {right.words}"
    for kind, factor in zip((left.numbers, right.numbers), factors, strict=True):
        _checked(kind.lowest * factor, kind.highest * factor, grid, words)
    return left.node * factors[0], right.node * factors[1], *factors, grid


def _checked(lowest: int, highest: int, grid: Fraction, words: str) -> Numbers:
    if max(-lowest, highest) >= WIDEST:
        raise OutOfDomain(f"{words} could leave 64 bits: state tighter bounds of its parts with .within(low, high)")
    return Numbers(lowest, highest, grid)


def _sum(left: Expression, right: Expression, sign: int, mark: str) -> Expression:
    one, other, by_one, by_other, grid = _aligned(left, right)
    words = f"({left.words} {mark} {right.words})"
    ends = sorted((sign * right.numbers.lowest * by_other, sign * right.numbers.highest * by_other))
    kind = _checked(left.numbers.lowest * by_one + ends[0], left.numbers.highest * by_one + ends[1], grid, words)
    return Expression(kind, one + other if sign == 1 else one - other, words)


def _product(left: Expression, right: Expression) -> Expression:
    words, a, b = f"({left.words} * {right.words})", left.numbers, right.numbers
    ends = [x * y for x in (a.lowest, a.highest) for y in (b.lowest, b.highest)]
    return Expression(_checked(min(ends), max(ends), a.grid * b.grid, words), left.node * right.node, words)


def _scaled(value: Expression, factor: Fraction, mark: str, shown: Fraction | None = None) -> Expression:
    kind, words = value.numbers, f"({value.words} {mark} {factor if shown is None else shown})"
    if factor == 0:
        return Expression(Numbers(0, 0, kind.grid), If(IsMissing(value.node), Constant(None), Constant(0)), words)
    if factor > 0:
        return Expression(replace(kind, grid=kind.grid * factor), value.node, words)
    return Expression(Numbers(-kind.highest, -kind.lowest, kind.grid * -factor), value.node * -1, words)


def _union(left: Expression, right: Expression, combine: Callable[[Node, Node], Node], words: str) -> Expression:
    one, other, by_one, by_other, grid = _aligned(left, right)
    ends = [left.numbers.lowest * by_one, left.numbers.highest * by_one]
    ends += [right.numbers.lowest * by_other, right.numbers.highest * by_other]
    return Expression(_checked(min(ends), max(ends), grid, words), combine(one, other), words)


def _compared(value: Expression, sign: str, other: object) -> Condition:
    if isinstance(other, Expression):
        left, right, *_ = _aligned(value, other)
        words = f"{value.words} {sign} {other.words}"
        return Condition(_sign(left, sign, right), words)
    words = f"{value.words} {sign} {other}"
    if isinstance(value.kind, Numbers):
        steps = exactly(other, "number") / value.kind.grid  # type: ignore[arg-type]
        if sign == "=":
            return value.among([other]) if steps.denominator == 1 else Condition(Among(value.node, ()), words)
        edge = ceil(steps) if sign in (">=", "<") else floor(steps)
        edge = min(max(edge, value.kind.lowest - 1), value.kind.highest + 1)  # which no row can tell from the number
        return Condition(_sign(value.node, sign, Constant(edge)), words)
    place = _place(value, other)
    if isinstance(value.kind, Labels) and sign != "=":
        raise InvalidArgument(f"{words}: categories have no order; compare with = or a list")
    if isinstance(value.kind, Moments) and value.kind.clock and place is not None:
        return _compared_day(value, sign, place, words)
    return Condition(_sign(value.node, sign, Constant(place)), words)


def _compared_day(value: Expression, sign: str, second: int, words: str) -> Condition:
    """A time against a day: = is any moment of it, > is after its last second."""
    last = second + DAY - 1
    if sign == "=":
        return Condition((value.node >= second) & (value.node <= last), words)
    return Condition(_sign(value.node, sign, Constant(last if sign in (">", "<=") else second)), words)


def _sign(left: Node, sign: str, right: Node) -> Node:
    compare = {">=": left.__ge__, ">": left.__gt__, "<=": left.__le__, "<": left.__lt__, "=": left.equals}
    return compare[sign](right)


def _place(value: Expression, other: object) -> int | None:
    """The integer of a public value, None where no row can hold it; an undeclared label is refused."""
    kind = value.kind
    if isinstance(kind, Texts):
        raise InvalidArgument(f"{value.words} is declared as found: give its categories to compare it")
    if isinstance(kind, Labels):
        if other not in kind.labels:
            shown = ", ".join(kind.labels[:12]) + (", ..." if len(kind.labels) > 12 else "")
            raise InvalidArgument(f"{other!r} is no label of {value.words}; they are {shown}")
        return kind.labels.index(str(other))
    if isinstance(kind, Moments):
        try:
            day = datetime.date.fromisoformat(other) if isinstance(other, str) else other
            return day_number(day) * (DAY if kind.clock else 1)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise InvalidArgument(f"{value.words} is compared with a day like 2025-01-31, not {other!r}") from None
    steps = exactly(other, "number") / kind.grid  # type: ignore[arg-type]
    return int(steps) if steps.denominator == 1 and kind.lowest <= steps <= kind.highest else None
