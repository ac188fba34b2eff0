"""A canary whose gradient is known, over many steps: what is claimed holds, and halved noise is caught."""

import numpy as np
import pytest
import torch
from torch import Tensor

import bruit
from bruit.apps.audits import deep
from bruit.audit import Verdict, audit
from bruit.deep.noise.sources import Source
from bruit.deep.per_sample.ghost_clipping import Engine

torch.set_num_threads(1)


VARIANTS = ("", "people")


def verdict(variant: str, above: float = 0.8) -> Verdict:
    """Of the claim 1.5, by an event that the canary, which moves a step by up to 1, makes likely."""
    cases = deep.cases(bruit.ADD_OR_REMOVE_ONE, epsilon=1.5)
    case = next(case for case in cases if (case.name, case.variant) == ("deep.privatise", variant))
    return audit(
        case.mechanism,
        case.pair,
        claimed=case.claimed,
        samples=2500,
        alarm=1e-9,
        delta=case.delta,
        event=lambda seen: np.asarray(seen) > above,
        rng=np.random.default_rng(8),
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_halved_noise_is_caught(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Source.normal

    def halved(self: Source, like: Tensor) -> Tensor:
        return right(self, like) / 2

    monkeypatch.setattr(Source, "normal", halved)
    assert not verdict(variant).passes


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_right_noise_passes_and_the_canary_is_seen(variant: str) -> None:
    found = verdict(variant)
    assert found.passes
    assert found.lower_bound > 0.2


def test_a_person_whose_records_are_clipped_one_by_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Engine.clipped_sum

    def each(self: Engine, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor) -> dict[str, Tensor]:
        return right(self, inputs, targets, weights.repeat_interleave(len(targets) // len(weights)))

    monkeypatch.setattr(Engine, "clipped_sum", lambda self, *given: each(self, *given[:3]))
    assert not verdict("people", above=deep.COUNTED / 2).passes
