"""A poll whose shuffler is a program of its own: every report arrives, once, and the collector's estimate is theirs."""

import numpy as np
import pytest

from bruit.apps.studies.meaning.shuffled_poll import hold_poll
from bruit.local import Warner, shuffled


@pytest.mark.stress
@pytest.mark.service
@pytest.mark.xdist_group("shuffled poll")
def test_reports_go_through_two_programs_and_are_all_counted() -> None:
    truth = np.arange(60) % 3 == 0
    found = hold_poll(truth, epsilon="2", delta=1e-6, rng=np.random.default_rng(4))
    protocol = Warner(epsilon="2")
    direct = protocol.estimate(protocol.tally(protocol.randomise(truth, rng=np.random.default_rng(4))))
    assert found.share == pytest.approx(float(direct.value[1]))
    assert found.low <= found.share <= found.high
    assert found.batch_epsilon == float(shuffled(2, 60, delta=1e-6).epsilon)
