"""The law of the two noises: against a convolution, against draws, and its quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law

from bruit.aggregation import (
    Circuit,
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    SumCircuit,
    SumVecCircuit,
    TwoLaplaceNoises,
    expected_error,
)
from bruit.errors import InvalidArgument

EPSILONS = [0.1, 0.5, 1, 2, 1000]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_law_is_the_convolution_of_two(epsilon: float) -> None:
    noise, reach = TwoLaplaceNoises.of(CountCircuit(), epsilon), 1200
    steps = np.abs(np.arange(-reach, reach + 1))
    one = (1 - noise.ratio) / (1 + noise.ratio) * np.exp(-steps * epsilon)
    both = np.convolve(one, one)[reach : 3 * reach + 1]
    assert np.allclose(noise.law(reach), both, rtol=1e-9, atol=1e-15)
    inner = np.abs(np.arange(-reach, reach + 1)) * noise.law(reach)
    assert noise.mean_absolute_error == pytest.approx(inner.sum(), abs=1e-12)
    assert noise.deviation == pytest.approx(np.sqrt((steps**2 * noise.law(reach)).sum()), abs=1e-12)


@given(epsilon=st.floats(0.01, 20), confidence=st.floats(0.01, 0.9999), sensitivity=st.integers(1, 100))
def test_the_half_width_is_the_least_that_reaches_the_confidence(
    epsilon: float, confidence: float, sensitivity: int
) -> None:
    noise = TwoLaplaceNoises.of(SumCircuit(largest=sensitivity), str(epsilon))
    width = noise.half_width(confidence)
    assert noise.beyond(width) <= 1 - confidence
    assert width == 0 or noise.beyond(width - 1) > 1 - confidence


def test_two_draws_follow_the_law() -> None:
    noise, rng, reach = TwoLaplaceNoises.of(CountCircuit(), 1), np.random.default_rng(3), 6
    drawn = noise.draw_one(200_000, rng=rng) + noise.draw_one(200_000, rng=rng)
    counts = np.bincount(np.clip(drawn, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
    tail = noise.beyond(reach) / 2
    assert_law(counts, [tail, *noise.law(reach), tail])


def test_a_yes_no_poll_at_one_is_off_by_about_two_people() -> None:
    noise = TwoLaplaceNoises.of(CountCircuit(), 1)
    assert noise.deviation == pytest.approx(1.919, abs=5e-4)
    assert noise.mean_absolute_error == pytest.approx(1.367, abs=5e-4)
    assert noise.half_width(0.95) == expected_error(CountCircuit(), epsilon=1) == 4
    assert TwoLaplaceNoises.of(HistogramCircuit(length=10, chunk=4), 1).deviation == pytest.approx(3.959, abs=5e-4)


@pytest.mark.parametrize(
    ("circuit", "moved"),
    [
        (CountCircuit(), 1),
        (HistogramCircuit(length=10, chunk=4), 2),
        (MultihotCountVecCircuit(length=10, chunk=4, most=3), 6),
        (MultihotCountVecCircuit(length=4, chunk=2, most=3), 4),
        (SumCircuit(largest=100), 100),
        (SumVecCircuit(length=3, chunk=2, largest=7), 21),
    ],
)
def test_the_scale_is_what_one_replaced_answer_moves(circuit: Circuit, moved: int) -> None:
    noise = TwoLaplaceNoises.of(circuit, 1)
    assert noise.scale == moved
    assert noise.loss(circuit).sensitivity == moved


@pytest.mark.parametrize("confidence", [0, 1, 1.5])
def test_a_confidence_is_a_share(confidence: float) -> None:
    with pytest.raises(InvalidArgument, match="confidence"):
        TwoLaplaceNoises.of(CountCircuit(), 1).half_width(confidence)
