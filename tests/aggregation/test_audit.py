"""One honest collector's noise holds its epsilon against the other; planted faults are caught in apps/faults."""

import numpy as np
import pytest

from bruit.apps.audits import aggregation
from bruit.apps.audits.case import Case
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE

CASES = list(aggregation.cases(REPLACE_ONE))
ALARM = 1e-9


@pytest.mark.stress
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_one_collector_sees_passes_the_audit(case: Case) -> None:
    verdict = case.audit(20_000, ALARM / len(CASES), np.random.default_rng(5))
    assert verdict.passes
    assert verdict.lower_bound > 0.5, "the audit has no power"


def test_adding_or_removing_a_person_is_not_claimed() -> None:
    assert list(aggregation.cases(ADD_OR_REMOVE_ONE)) == []
