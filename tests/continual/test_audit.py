"""Audits of whole series: what is done right passes, what was done wrong on purpose is caught."""

import numpy as np
import pytest

from bruit.apps.audits.case import GaussianCase
from bruit.apps.audits.continual import cases
from bruit.apps.faults.fault import Fault
from bruit.apps.faults.in_streams import faults
from bruit.continual import once
from bruit.continual.noise.attack import PERIODS, publish, worst_pair
from bruit.core import ADD_OR_REMOVE_ONE, REPLACE_ONE

CASES = [case for neighbours in (ADD_OR_REMOVE_ONE, REPLACE_ONE) for case in cases(neighbours)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.label} {case.neighbours}")
def test_an_attacker_who_reads_every_period_learns_no_more_than_is_claimed(case: GaussianCase) -> None:
    verdict = case.audit(20_000, 1e-9, case.stream(1))
    assert verdict.passes
    if case.neighbours is ADD_OR_REMOVE_ONE:
        assert verdict.lower_bound > 0.85 * verdict.claimed  # and nearly as much: the attack is a strong one


@pytest.mark.parametrize("fault", list(faults()), ids=lambda fault: fault.name)
def test_faults_are_caught_and_the_same_done_right_passes(fault: Fault) -> None:
    assert fault.looks_wrong("wrong", fault.small, 1e-9, np.random.default_rng(2))
    assert not fault.looks_wrong("right", fault.small, 1e-9, np.random.default_rng(3))


def test_the_audited_streams_are_published_like_any_other() -> None:
    plan = worst_pair(once(), ADD_OR_REMOVE_ONE).plan
    added = np.arange(PERIODS)
    totals = publish(plan, added, 50, np.random.default_rng(4))
    assert totals.shape == (PERIODS, 50)
    assert np.abs(totals.mean(axis=1) - np.cumsum(added)).max() < 10 * plan.deviation
