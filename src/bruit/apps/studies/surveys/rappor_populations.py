"""The populations of the RAPPOR studies: the thesis's two simulated and two collected ones.

[docs/spec.md S2.20]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bruit.apps.plots import write_number
from bruit.local.rappor import Rappor, RapporReports, RapporTally, drawn_tally

MALWARE = "malware"
"""The one malicious process of the Windows case."""

P, Q = "0.5", "0.75"
"""The noise of each report, in all cases: the thesis's vectors have it."""


@dataclass(frozen=True)
class Case:
    """A population of texts with their shares, a protocol, and decoy candidates that nobody has.

    With `machines`, so many respondents send all the reports, each value under bits memoised on its machine.
    """

    title: str
    protocol: Rappor
    answers: int
    shares: dict[str, float]
    decoys: int
    frequent: float
    machines: int | None = None

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """The texts that people may have, then the decoys that nobody has."""
        return (*self.shares, *(f"nobody's {number}" for number in range(self.decoys)))

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """The share of people who have each text."""
        chances = np.array(list(self.shares.values()))
        return np.asarray(chances / chances.sum())

    def tally(self, rng: np.random.Generator) -> RapporTally:
        """Draws the tally of one collection."""
        if self.machines is None:
            return drawn_tally(self.protocol, tuple(self.shares), self.chances, self.answers, rng=rng)
        return self._collect(self.machines, rng)

    def _collect(self, machines: int, rng: np.random.Generator) -> RapporTally:
        """Reports of machines that come back: the permanent noise of a machine's value is drawn once."""
        texts, cohorts = tuple(self.shares), rng.integers(0, self.protocol.cohorts, machines).astype(np.int32)
        machine = rng.integers(0, machines, self.answers)
        value = rng.choice(len(texts), self.answers, p=self.chances)
        pairs, pair = np.unique(machine * len(texts) + value, return_inverse=True)
        group = cohorts[pairs // len(texts)]
        filters = self.protocol.filters([texts[place] for place in pairs % len(texts)], group)
        reports = self.protocol.respond(self.protocol.memoise(filters, rng=rng)[pair], rng=rng)
        return self.protocol.tally(RapporReports(self.protocol, group[pair], reports, seeded=True))


def exponential(candidates: int) -> Case:
    """The case of 100 strings with shares proportional to exp(-i / 20) and a million reports."""
    weights = {f"string {place}": float(np.exp(-place / 20)) for place in range(100)}
    total = sum(weights.values())
    return Case(
        f"Exponential law, {candidates} candidates",
        Rappor(bits=128, hashes=2, cohorts=16, f="0.5", p=P, q=Q),
        1_000_000,
        {text: weight / total for text, weight in weights.items()},
        candidates - len(weights),
        0.01,
    )


def normal(answers: int) -> Case:
    """The case of normal(50, 10) integers under RAPPOR with f = 0: no permanent noise protects repeated reports."""
    numbers = np.arange(101)
    chances = np.diff(stats.norm.cdf(np.append(numbers, 101) - 0.5, 50, 10))
    return Case(
        f"Normal law, {write_number(answers)} reports",
        Rappor(bits=128, hashes=2, cohorts=16, f="0", p=P, q=Q),
        answers,
        {str(number): float(chance) for number, chance in zip(numbers, chances / chances.sum(), strict=True)},
        100,
        0.02,
    )


def windows() -> Case:
    """The case of process names on 10 133 machines: ten at 2.5 to 4.5 %, one of these malicious, and a long tail."""
    known = {f"process {place}": float(share) for place, share in enumerate(np.linspace(0.045, 0.025, 10))}
    del known["process 9"]
    known |= {MALWARE: 0.026}
    return Case(
        "Drawn like Windows processes, 186\u2009792 reports",
        Rappor(bits=128, hashes=2, cohorts=8, f="0.5", p=P, q=Q),
        186_792,
        known | _tail("rare process", 1 - sum(known.values()), 500),
        100,
        0.0249,
        machines=10_133,
    )


def chrome() -> Case:
    """The case of browser homepages: 31 hold 85 % of the people, 8 585 other candidates the rest."""
    weights = 1 / np.arange(1, 32)
    known = {f"page {place}": float(0.85 * weight / weights.sum()) for place, weight in enumerate(weights)}
    return Case(
        "Drawn like Chrome homepages, 13\u2009000\u2009000 reports",
        Rappor(bits=128, hashes=2, cohorts=32, f="0.75", p=P, q=Q),
        13_000_000,
        known | _tail("rare page", 0.15, 4_000),
        4_585,
        0.0067,
    )


def _tail(name: str, mass: float, size: int) -> dict[str, float]:
    """Many texts, each with a small share of what is left."""
    weights = 1 / np.arange(10, 10 + size)
    return {f"{name} {place}": float(mass * weight / weights.sum()) for place, weight in enumerate(weights)}


CASES: dict[str, Case] = {
    "exponential-200": exponential(200),
    "exponential-1000": exponential(1000),
    **{f"normal-{answers}": normal(answers) for answers in (10_000, 100_000, 1_000_000)},
    "windows": windows(),
    "chrome": chrome(),
}
