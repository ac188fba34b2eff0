"""What a loss amounts to."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import inf, isinf
from typing import Any

from bruit.privacy.neighbours import Neighbours


class Assumption(StrEnum):
    """What a guarantee takes for granted beyond its mathematics."""

    PUBLIC_SIZE = "public size"
    IDEALISED_ARITHMETIC = "idealised arithmetic"
    TRUSTED_SHUFFLER = "trusted shuffler"
    SEEDED = "seeded"


@dataclass(frozen=True)
class Guarantee:
    """What a loss amounts to, for whom, by which accountant and under which assumptions.

    `epsilon` is a rational, or `math.inf` where the law promises nothing: an answer that is forced, for instance.

    Pr[M(x) in S] <= e^epsilon Pr[M(x') in S] + delta for neighbours x, x'        [Dwork & Roth 2014, Def. 2.4]
    """

    epsilon: Fraction | float
    delta: Fraction
    neighbours: Neighbours
    unit: str
    by: str
    assumes: tuple[Assumption, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.epsilon, float) and not isinf(self.epsilon):
            object.__setattr__(self, "epsilon", Fraction(self.epsilon))

    def __str__(self) -> str:
        size = "∞" if isinf(self.epsilon) else f"{float(self.epsilon):.4g}"
        amount = f"ε = {size}" + (f", δ = {float(self.delta):.3g}" if self.delta else "")
        assumed = f"; assumes {', '.join(self.assumes)}" if self.assumes else ""
        return f"{amount} for {self.unit} ({self.neighbours}, by {self.by}{assumed})"

    def to_json(self) -> dict[str, Any]:
        """A complete description in JSON types; epsilon and delta exactly, as texts; an infinite epsilon is "inf"."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "neighbours": self.neighbours.value,
            "unit": self.unit,
            "by": self.by,
            "assumes": [assumption.value for assumption in self.assumes],
        }


def guarantee_from_json(description: dict[str, Any]) -> Guarantee:
    """The guarantee that `to_json` described."""
    return Guarantee(
        epsilon=inf if description["epsilon"] == "inf" else Fraction(description["epsilon"]),
        delta=Fraction(description["delta"]),
        neighbours=Neighbours(description["neighbours"]),
        unit=description["unit"],
        by=description["by"],
        assumes=tuple(Assumption(name) for name in description["assumes"]),
    )
