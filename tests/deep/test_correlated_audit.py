"""Canaries of a training with correlated noise: what is claimed holds, and planted faults are caught."""

import numpy as np
import pytest
import torch

import bruit
from bruit.apps.audits import catalogue, correlated_noise
from bruit.deep.noise import Groups
from bruit.deep.noise.sources import Source

torch.set_num_threads(1)


@pytest.fixture(params=["right", "halved noise", "no groups"])
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Trainings draw half of their noise, or take everybody at every turn."""
    drawn = Source.normal
    if request.param == "halved noise":
        monkeypatch.setattr(Source, "normal", lambda self, like: drawn(self, like) / 2)
    if request.param == "no groups":
        monkeypatch.setattr(Groups, "on_turn", lambda self, places, step: places)
    return str(request.param)


@pytest.mark.parametrize("neighbours", catalogue.CENTRAL)
def test_canaries_of_every_step_catch_a_fault_and_only_then(neighbours: bruit.privacy.Neighbours, fault: str) -> None:
    (case,) = correlated_noise.cases(neighbours)
    found = case.audit(case.small, catalogue.ALARM / 100, np.random.default_rng(1))
    assert found.passes == (fault == "right")
    assert found.lower_bound > 0.3 * case.claimed
