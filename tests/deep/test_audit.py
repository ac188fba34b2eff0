"""A canary whose gradient is known, over many steps: what is claimed holds, and halved noise is caught."""

import numpy as np
import pytest
import torch
from torch import Tensor

import bruit
from bruit.apps.audits import deep
from bruit.audit import Verdict, audit
from bruit.deep.noise.sources import Source

torch.set_num_threads(1)


def verdict() -> Verdict:
    """Of the claim 1.5, by an event that the canary, which moves an epoch by up to 1, makes likely."""
    case = next(case for case in deep.cases(bruit.ADD_OR_REMOVE_ONE, epsilon=1.5))
    return audit(
        case.mechanism,
        case.pair,
        claimed=case.claimed,
        samples=2500,
        alarm=1e-9,
        delta=case.delta,
        event=lambda seen: np.asarray(seen) > 0.8,
        rng=np.random.default_rng(8),
    )


def test_halved_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Source.normal

    def halved(self: Source, like: Tensor) -> Tensor:
        return right(self, like) / 2

    monkeypatch.setattr(Source, "normal", halved)
    assert not verdict().passes


def test_the_right_noise_passes_and_the_canary_is_seen() -> None:
    found = verdict()
    assert found.passes
    assert found.lower_bound > 0.2
