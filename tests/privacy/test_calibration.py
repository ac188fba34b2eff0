from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    Approximate,
    DiscreteLaplace,
    Gaussian,
    ZeroConcentrated,
    calibrate,
    epsilon,
)

AR = ADD_OR_REMOVE_ONE


@settings(max_examples=40)
@given(st.floats(0.001, 200), st.integers(1, 100), st.sampled_from(["gdp", "zcdp", "rdp", "pld", "basic"]))
def test_the_target_is_met_within_a_hundredth_and_never_passed(target: float, times: int, by: str) -> None:
    assume(by != "rdp" or target >= 0.01)  # its largest order reaches no smaller ε at this δ, whatever the noise
    noise = calibrate(lambda level: Gaussian(level, neighbours=AR) * times, epsilon=target, delta=1e-6, by=by)
    spent = float(epsilon(Gaussian(noise, neighbours=AR) * times, delta=1e-6, by=by))
    assert 0.99 * target <= spent <= target


def test_any_noise_can_be_calibrated() -> None:
    def loss(level: Any) -> Any:
        return DiscreteLaplace(level, sensitivity=1, neighbours=AR) * 30

    scale = calibrate(loss, epsilon=5, delta=1e-6)
    assert 4.95 <= float(epsilon(loss(scale), delta=1e-6, by="pld")) <= 5


def test_what_no_noise_reaches_is_said() -> None:
    with pytest.raises(InvalidArgument, match="no noise reaches"):
        calibrate(lambda _: Approximate(1, 1e-9, neighbours=AR), epsilon=0.5, delta=1e-6, by="basic")
    with pytest.raises(NotPrivate, match="no dominating pair"):
        calibrate(lambda level: ZeroConcentrated(level, neighbours=AR), epsilon=1, delta=1e-6)
