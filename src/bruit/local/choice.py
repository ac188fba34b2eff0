"""Chooses the local protocol with the least variance before any answers are collected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from bruit.core.numbers import Exact
from bruit.local.categories import Categories
from bruit.local.forecasts import checked_people
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.means.one_bit import OneBitMean
from bruit.local.means.piecewise import PiecewiseMean
from bruit.local.protocol import LocalProtocol, offers

_CLOSE: Final = 1.02  # a variance within two percent of the least is as good, and the shorter report wins


P = TypeVar("P")


@dataclass(frozen=True)
class Choice(Generic[P]):
    """The chosen protocol, the reason, and the standard deviation of every candidate."""

    protocol: P
    why: str
    deviations: dict[str, float]

    def __str__(self) -> str:
        return f"{type(self.protocol).__name__}: {self.why}"


def choose_protocol(
    categories: Categories, epsilon: Exact, people: int, *, other: bool = False
) -> Choice[FrequencyProtocol]:
    """The frequency protocol with the least average variance of a share, among those with reports of fair size.

    The variances are those of a population with equal shares, (s (1 - s)) / (n (p - q)^2) at f = 1/k; where two are
    within two percent the one with the shorter report is taken.
    """
    checked_people(people)
    listed = categories if isinstance(categories, int) else tuple(categories)
    made: list[FrequencyProtocol] = [kind(listed, epsilon=epsilon, other=other) for kind in _candidates()]
    size = len(made[0].categories)
    deviations = {type(one).__name__: float(one.support.variance(1 / size, people)) ** 0.5 for one in made}
    least = min(deviations.values())
    chosen = next(one for one in made if deviations[type(one).__name__] <= least * _CLOSE**0.5)
    name = type(chosen).__name__
    runner = min((other for other in deviations if other != name), key=deviations.__getitem__)
    why = (
        f"with {size} answers, epsilon {float(chosen.epsilon):g} and {people} people a share of 1/{size} comes out "
        f"within {chosen.expected_error(people, share=1 / size):.2g} (95 %); {runner} would reach "
        f"{1.96 * deviations[runner]:.2g}"
    )
    return Choice(chosen, why, deviations)


def choose_mean(
    low: Exact, high: Exact, epsilon: Exact, people: int, *, grid: Exact, missing: Exact | None = None
) -> Choice[OneBitMean | PiecewiseMean]:
    """The mean protocol with the least worst-case variance: one bit, piecewise, or a mixture of both.

    Where two are within two percent the one with the shorter report is taken.
    """
    people = checked_people(people)
    made: dict[str, OneBitMean | PiecewiseMean] = {
        "OneBitMean": OneBitMean(low, high, grid=grid, epsilon=epsilon, missing=missing),
        "PiecewiseMean": PiecewiseMean(low, high, grid=grid, epsilon=epsilon, missing=missing),
        "PiecewiseMean, mixed": PiecewiseMean(low, high, grid=grid, epsilon=epsilon, missing=missing, mixed=True),
    }
    deviations = {name: (one.variance() / people) ** 0.5 for name, one in made.items()}
    name = next(name for name, one in deviations.items() if one <= min(deviations.values()) * _CLOSE**0.5)
    runner = min((other for other in deviations if other != name), key=deviations.__getitem__)
    why = (
        f"from {low} to {high}, with epsilon {float(made[name].epsilon):g} and {people} people, the mean comes out "
        f"with a standard error of at most {deviations[name]:.2g}; {runner} would reach {deviations[runner]:.2g}"
    )
    return Choice(made[name], why, deviations)


def _candidates() -> list[Any]:
    """The kinds that are weighed, those with the shorter report first."""
    ranked = {offer.rank: name for name, offer in offers().items() if offer.rank is not None}
    return [LocalProtocol.kinds[ranked[rank]] for rank in sorted(ranked)]
