"""Faults in streams, which an audit of the whole series catches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt

import numpy as np

from bruit.apps.faults.fault import Done, Fault
from bruit.audit import audit_gaussian
from bruit.continual import Lattice, at_most, once
from bruit.continual.noise.attack import PERIODS, Attack, attendance, worst_pair
from bruit.continual.sensitivity import squared_column_norm
from bruit.core import ADD_OR_REMOVE_ONE


def faults() -> Iterator[Fault]:
    """The planted faults, each beside the stream done right."""
    right = worst_pair(once(), ADD_OR_REMOVE_ONE)
    plan = right.plan
    halved = replace(plan, lattice=Lattice(plan.lattice.sigma // 2, plan.lattice.spare))
    story = "The noise of every period has half of its deviation."
    yield _fault("halved noise of a stream", story, Attack(halved, right.pair), right)
    norm = sqrt(squared_column_norm(plan.factor, PERIODS))
    forgotten = replace(plan, unit=int(plan.unit * norm))
    story = "A period is paid for by itself, but its noise is taken back later and with it what it hid."
    yield _fault("forgotten correlation", story, Attack(forgotten, right.pair), right)
    often = (attendance(at_most(4), 0), np.zeros(PERIODS, np.int64))
    story = "The price is that of people who come once; they come four times."
    yield _fault("ignored participation", story, Attack(plan, often), worst_pair(at_most(4), ADD_OR_REMOVE_ONE))


def _fault(name: str, story: str, wrong: Attack, right: Attack) -> Fault:
    """A fault found by a Gaussian audit; both streams claim the privacy of the correct one."""
    claimed = sqrt(right.plan.squared_shift)

    def looks_wrong(done: Done, samples: int, alarm: float, rng: np.random.Generator) -> bool:
        attack = wrong if done == "wrong" else right
        found = audit_gaussian(attack.scores, attack.pair, claimed=claimed, samples=samples, alarm=alarm, rng=rng)
        return not found.passes

    return Fault(name, story, "audit", looks_wrong, small=20_000, full=500_000)
