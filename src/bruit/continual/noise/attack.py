"""The strongest attack on a stream, for audits: reads every period and undoes the noise's correlation.

Each sample is a cell of one stream, with noise of its own. Of the published totals y the attacker makes B⁻¹ y, whose
noise is independent from period to period, and weighs it with what the person would have moved. [Neyman & Pearson 1933]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bruit.continual.advance import advance, empty_state
from bruit.continual.factorisation import FIXED, Factor, search_factor
from bruit.continual.participation import Contribution, Participation
from bruit.continual.plan import StreamPlan, make_plan
from bruit.continual.questions import Count
from bruit.continual.store import StoredState
from bruit.continual.terms import StreamTerms
from bruit.core import ADD_OR_REMOVE_ONE, Neighbours

PERIODS = 16
SHIFT = 2.0
"""The mu that is claimed: it shows in few samples."""

ONE = Contribution(squared_norm=1, largest=1, cells=1, signed=False)

Added = NDArray[np.int64]
"""What a person adds in each period."""


@dataclass(frozen=True)
class Attack:
    """A stream, and two neighbouring data sets (one person, or another or nobody) that an attacker tells apart."""

    plan: StreamPlan
    pair: tuple[Added, Added]

    def scores(self, added: Added, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """The likelihood-ratio score of each of `samples` streams in favour of the first person."""
        column = _column(self.plan.factor)
        inverse = np.diff(column, prepend=0.0)  # 1 / b, the first column of B⁻¹
        moved = np.convolve(column, self.pair[0] - self.pair[1])[:PERIODS]
        weights = np.array([moved[period:] @ inverse[: PERIODS - period] for period in range(PERIODS)])
        return weights @ publish(self.plan, added, samples, rng)


def worst_pair(participation: Participation, neighbours: Neighbours) -> Attack:
    """The stream and the pair of neighbours that the attacker tells apart best under a participation."""
    often = {"times": participation.most(PERIODS), "apart": participation.apart}
    plan = make_plan(
        search_factor(PERIODS, **often),
        SHIFT,
        periods=PERIODS,
        cells=1,
        participation=participation,
        contribution=ONE,
        neighbours=neighbours,
    )
    first = attendance(participation, 0)
    other = np.zeros(PERIODS, np.int64) if neighbours is ADD_OR_REMOVE_ONE else attendance(participation, 1)
    return Attack(plan, (first, other))


def attendance(participation: Participation, start: int) -> Added:
    """The periods of a person who takes part as often as allowed from `start` on, as zeros and ones."""
    added = np.zeros(PERIODS, np.int64)
    times = participation.most(PERIODS)
    begin = start * (times if participation.apart == 1 else 1)
    added[begin :: participation.apart][:times] = 1
    return added


def publish(plan: StreamPlan, added: Added, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The published totals of `samples` independent streams over the same data, one row per period."""
    terms = StreamTerms(Count(rows=1), {}, plan, plan.squared_shift * 0, None, seeded=True)
    state = StoredState("", "", 1, 1, 0, *empty_state(replace(plan, cells=samples)), "[]", (1, 0))
    rows = []
    for period, number in enumerate(added):
        done = advance(terms, state, np.full(samples, number), rng)
        state = StoredState("", "", 1, 1, period + 1, *done.state, (1, period + 1))
        rows.append(done.values.astype(np.float64))
    return np.array(rows)


def _column(factor: Factor) -> NDArray[np.float64]:
    return np.array([x / 2.0**FIXED for x in factor.c(PERIODS)])
