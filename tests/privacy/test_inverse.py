"""Epsilon at a delta and delta at an epsilon say the same, and both what closed forms say."""

from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy.inversion import single_delta

from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Loss,
    Sampled,
    Scheme,
    delta,
    epsilon,
)
from bruit.privacy.accounting.gaussian import gaussian_delta

RELATION = {"neighbours": ADD_OR_REMOVE_ONE}


@pytest.mark.parametrize("rate", [1e-5, 1e-3, 0.1])
@pytest.mark.parametrize("noise", [0.5, 0.7, 1.0, 3.0])
def test_one_sampled_step_is_within_a_percent_of_its_closed_form_down_to_1e_12(rate: float, noise: float) -> None:
    loss = Sampled(Gaussian(noise, **RELATION), rate=rate, scheme=Scheme.POISSON)
    for asked in (0.01, 0.031, 0.3, 1.0, 3.0, 8.0):
        true = single_delta(rate, 0, noise, asked)
        if true > 1e-12:
            assert true * (1 - 1e-9) <= float(delta(loss, epsilon=asked, by="pld")) <= 1.01 * true


@pytest.mark.parametrize("steps", [2, 10, 1000])
@pytest.mark.parametrize("noise", [1.0, 20.0, 60.0])
def test_many_gaussian_steps_are_within_a_percent_of_their_closed_form(steps: int, noise: float) -> None:
    for asked in (0.1, 0.5, 1.0, 3.0, 10.0):
        true = gaussian_delta(sqrt(steps) / noise, asked)
        if 1e-12 < true < 0.9:
            found = float(delta(Gaussian(noise, **RELATION) * steps, epsilon=asked, by="pld"))
            assert true * (1 - 1e-9) <= found <= 1.01 * true


LOSSES = st.one_of(
    st.builds(lambda noise, n: Gaussian(noise, **RELATION) * n, st.floats(0.5, 20), st.integers(1, 50)),
    st.builds(
        lambda scale, n: DiscreteLaplace(scale, sensitivity=1, **RELATION) * n, st.floats(0.5, 9), st.integers(1, 6)
    ),
    st.builds(lambda scale, n: Laplace(scale, sensitivity=1, **RELATION) * n, st.floats(0.5, 9), st.integers(1, 6)),
    st.builds(
        lambda variance, n: DiscreteGaussian(variance, squared_sensitivity=1, **RELATION) * n,
        st.floats(1, 50),
        st.integers(1, 9),
    ),
    st.builds(
        lambda noise, rate: Sampled(Gaussian(noise, **RELATION), rate=rate, scheme=Scheme.POISSON) * 1,
        st.floats(0.6, 3),
        st.floats(1e-4, 0.5),
    ),
)


WITHIN = 3e-4
"""The grid of a composition lies this far above the truth in epsilon, by itself or as a share of it."""


@settings(max_examples=25)
@given(LOSSES, st.floats(-12, -2))
def test_epsilon_and_delta_invert_each_other(loss: Loss, power: float) -> None:
    """A little above the epsilon of a delta there is less than that delta, a little below there is no less."""
    asked = 10**power
    found = float(epsilon(loss, delta=asked, by="pld"))
    above, below = found * (1 + WITHIN) + WITHIN, found * (1 - WITHIN) - WITHIN
    assert float(delta(loss, epsilon=above, by="pld")) <= asked * (1 + 1e-6)
    if below > 0:
        assert float(delta(loss, epsilon=below, by="pld")) >= asked * (1 - 1e-6)
