"""Forged reports of every kind, a few thousand of each; a million stand in tests/stress."""

import numpy as np
import pytest
from aggregation.forgeries import SCHEMES, accepted, forged_reports, honest, split_elements


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_no_forged_report_is_accepted(name: str) -> None:
    rng = np.random.default_rng(2)
    for how, found in forged_reports(name, 500, rng):
        assert not found.any(), how


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_every_honest_report_is_accepted(name: str) -> None:
    rng, scheme = np.random.default_rng(3), SCHEMES[name]
    assert accepted(scheme, split_elements(scheme, honest(name, 500, rng), rng)).all()


@pytest.mark.parametrize("name", ["Count", "Sum"])
def test_shares_of_count_and_sum_under_another_nonce_are_accepted_so_tokens_must_stop_replays(name: str) -> None:
    rng, scheme = np.random.default_rng(4), SCHEMES[name]
    split = split_elements(scheme, honest(name, 50, rng), rng)
    split.nonces[:] ^= 1
    assert accepted(scheme, split).all()
