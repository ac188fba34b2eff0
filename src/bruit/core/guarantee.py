"""What a privacy loss guarantees: epsilon and delta, for whom, by which accountant, under which assumptions."""

from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Context, Decimal
from enum import StrEnum
from fractions import Fraction
from math import inf, isinf
from typing import Any, Protocol

from bruit.core.arguments import whole
from bruit.core.neighbours import EACH_ROW, Neighbours
from bruit.core.numbers import LARGEST_LOG, Rational, exp_above


class Assumption(StrEnum):
    """What a guarantee takes for granted beyond its mathematics."""

    PUBLIC_SIZE = "public size"
    IDEALISED_ARITHMETIC = "idealised arithmetic"
    SAMPLES_APART = "samples kept apart"
    TRUSTED_SHUFFLER = "trusted shuffler"
    OTHERS_FOLLOW = "others follow the noise"
    SEEDED = "seeded"
    TWO_COLLECTORS = "two collectors do not join"
    TURBOSHAKE128 = "TurboSHAKE128"
    UNPAID_SCORES = "no choice by unpaid scores"
    UNPAID_PREPARATION = "no unpaid preparation"
    SAME_CONTENT = "content unchanged since its version was registered"
    PUBLIC_TABLES = "tables that are looked up in are public"


class GroupCurve(Protocol):
    """Computes the epsilon of a loss for a group of several people at once."""

    def epsilon(self, people: int, delta: Fraction) -> Fraction | None:
        """The epsilon for a group of `people` persons at a delta; None where it is not known."""


@dataclass(frozen=True)
class Guarantee:
    """The epsilon and delta of a loss: for whom, by which accountant and under which assumptions.

    `epsilon` is a rational, or `math.inf` where the law promises nothing: an answer that is forced, for instance.

    Pr[M(x) in S] <= e^epsilon Pr[M(x') in S] + delta for neighbours x, x'        [Dwork & Roth 2014, Def. 2.4]

    `curve` knows the loss behind the guarantee where there is one; it is neither compared nor written.
    """

    epsilon: Fraction | float
    delta: Fraction
    neighbours: Neighbours
    person: str
    by: str
    assumes: tuple[Assumption, ...] = ()
    curve: GroupCurve | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.epsilon != inf:
            object.__setattr__(self, "epsilon", Rational(self.epsilon))
        object.__setattr__(self, "delta", Rational(self.delta))

    def __str__(self) -> str:
        size = "∞" if isinf(self.epsilon) else print_above(Fraction(self.epsilon), digits=4)
        amount = f"ε = {size}" + (f", δ = {print_above(self.delta, digits=3)}" if self.delta else "")
        assumed = f"; assumes {', '.join(self.assumes)}" if self.assumes else ""
        return f"{amount} for {self.person} ({self.neighbours}, by {self.by}{assumed})"

    def for_people(self, people: int) -> "Guarantee":
        """The guarantee for a group of people who join, leave or are replaced together: a family, a class of pupils.

        Let x = x_0, x_1, ..., x_k = x' change one person after the other. From Pr[M(x_i) in S] <= e^ε Pr[M(x_(i+1)) in
        S] + δ, put into itself k times,

            Pr[M(x) in S] <= e^(kε) Pr[M(x') in S] + δ (1 + e^ε + ... + e^((k-1)ε))     [Dwork & Roth 2014, Theorem 2.2]

        Where the loss is known, δ stays and ε is read from its curve: that of the loss of k people, who move a sum k
        times as far, or k times one person's ε at a smaller δ, whichever is less (`privacy.groups`).
        """
        number = whole(people, "people")
        if number == 1 or isinf(self.epsilon):
            return self
        alone, delta = Fraction(self.epsilon), self.delta
        epsilon = None if self.curve is None else self.curve.epsilon(number, delta)
        if epsilon is None:
            epsilon, beyond = number * alone, number * alone > LARGEST_LOG
            delta = min(delta * factor_of_delta(alone, number), Fraction(1)) if not beyond else Fraction(bool(delta))
        who = f"any {number} rows" if self.person == EACH_ROW else f"any {number} people of {self.person!r}"
        return replace(self, epsilon=epsilon, delta=delta, person=who, curve=None)

    def __repr__(self) -> str:
        return f"Guarantee({self})"

    def to_json(self) -> dict[str, Any]:
        """A complete description in JSON types; epsilon and delta exactly, as texts; an infinite epsilon is "inf"."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "neighbours": self.neighbours.value,
            "unit": self.person,
            "by": self.by,
            "assumes": [assumption.value for assumption in self.assumes],
        }


def factor_of_delta(epsilon: Fraction, people: int) -> Fraction:
    """How many times one person's delta a group of k people has: 1 + e^ε + ... + e^((k-1)ε), rounded up."""
    return sum((exp_above(i * epsilon) for i in range(people)), Fraction(0))


def print_above(value: Fraction, *, digits: int) -> str:
    """The value as text with `digits` significant digits, rounded up so that it never promises more than holds."""
    above = Context(prec=digits, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    nearest = float(above)
    beyond_floats = isinf(nearest) or (nearest == 0 and above != 0)
    return f"{above:.{digits - 1}e}" if beyond_floats else f"{nearest:.{digits}g}"


def guarantee_from_json(description: dict[str, Any]) -> Guarantee:
    """Rebuilds a guarantee from what `Guarantee.to_json` wrote."""
    return Guarantee(
        epsilon=inf if description["epsilon"] == "inf" else Fraction(description["epsilon"]),
        delta=Fraction(description["delta"]),
        neighbours=Neighbours(description["neighbours"]),
        person=description["unit"],
        by=description["by"],
        assumes=tuple(Assumption(name) for name in description["assumes"]),
    )
