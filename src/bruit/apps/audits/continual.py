"""Audits of streams: people who take part at the worst moments, and an attacker who reads every period."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from bruit.apps.audits.case import Case, GaussianCase
from bruit.continual import at_most, once, once_in
from bruit.continual.noise.attack import worst_pair
from bruit.core import Neighbours


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """People who take part once, four times, and every other period, each at the worst moments."""
    for participation in (once(), at_most(4), once_in(2)):
        attack = worst_pair(participation, neighbours)
        yield GaussianCase(
            "continual.Stream",
            neighbours,
            attack.pair,
            attack.scores,
            claimed=sqrt(attack.plan.squared_shift),
            small=20_000,
            full=500_000,
            variant=str(participation),
        )
