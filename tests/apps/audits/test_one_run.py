"""Canaries of one training run show its noise, and a fault in it."""

from dataclasses import replace

import numpy as np
import pytest

from bruit.apps.audits import catalogue, one_run
from bruit.apps.audits.one_run import DELTA, EPSILON, Run, paid_mu
from bruit.audit import audit_one_run, audit_one_run_curve
from bruit.core import Neighbours
from bruit.privacy import ADD_OR_REMOVE_ONE, Gaussian, epsilon

pytest.importorskip("torch")
CANARIES = 20_000


def test_the_mu_that_is_paid_for_is_what_the_accountant_says() -> None:
    loss = Gaussian(round(1 / paid_mu(), 9), neighbours=ADD_OR_REMOVE_ONE)
    assert float(epsilon(loss, delta=DELTA, by="gdp")) == pytest.approx(EPSILON, rel=1e-6)


@pytest.fixture(params=[1.0, 0.5], ids=["right", "halved noise"])
def share(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    """Trainings draw this share of the noise they pay for."""
    from bruit.deep.noise.sources import Source

    drawn = Source.normal
    monkeypatch.setattr(Source, "normal", lambda self, like: request.param * drawn(self, like))
    return request.param


@pytest.mark.parametrize("neighbours", catalogue.CENTRAL)
def test_one_run_is_caught_with_half_the_noise_and_only_then(neighbours: Neighbours, share: float) -> None:
    (case,) = one_run.cases(neighbours)
    found = case.audit(case.small, catalogue.ALARM / 100, np.random.default_rng(1))
    assert found.passes == (share == 1.0)
    assert found.lower_bound > 0.4 * paid_mu() / share
    assert found.measure == "mu"


@pytest.mark.parametrize("neighbours", catalogue.CENTRAL)
def test_coins_and_scores_of_one_run_catch_half_the_noise_whatever_depends_on_what(
    neighbours: Neighbours, share: float
) -> None:
    rng = np.random.default_rng(2)
    included = rng.random(CANARIES) < 0.5
    scores = Run(neighbours).scores(included, rng)
    gaussian = audit_one_run_curve(scores, included, claimed=paid_mu(), alarm=0.01)
    assert gaussian.passes == (share == 1.0)
    approximate = audit_one_run(scores, included, claimed=EPSILON, alarm=0.01, delta=DELTA)
    assert approximate.lower_bound > 1.0


def test_a_case_without_a_mu_is_measured_in_epsilon() -> None:
    case = replace(next(iter(catalogue.cases())), small=2_000)
    assert case.audit(2_000, 1e-9, np.random.default_rng(3)).measure == "epsilon"
