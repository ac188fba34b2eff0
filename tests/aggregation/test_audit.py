"""One honest collector's noise holds its epsilon against the other; too little of it is caught."""

import numpy as np
import pytest

from bruit.apps.audits import aggregation
from bruit.apps.audits.case import Case
from bruit.apps.faults import in_aggregation
from bruit.apps.faults.fault import Fault
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE

CASES = list(aggregation.cases(REPLACE_ONE))
ALARM = 1e-9


@pytest.mark.stress
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_one_collector_sees_passes_the_audit(case: Case) -> None:
    verdict = case.audit(20_000, ALARM / len(CASES), np.random.default_rng(5))
    assert verdict.passes
    assert verdict.lower_bound > 0.5, "the audit has no power"


@pytest.mark.parametrize("fault", list(in_aggregation.faults()), ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught_and_the_right_one_is_not(fault: Fault) -> None:
    assert fault.looks_wrong("wrong", fault.small, ALARM, np.random.default_rng(6))
    assert not fault.looks_wrong("right", fault.small, ALARM, np.random.default_rng(7))


def test_adding_or_removing_a_person_is_not_claimed() -> None:
    assert list(aggregation.cases(ADD_OR_REMOVE_ONE)) == []
