"""Reconstruction: exact answers give everything back, noise of order √n little, and the theorem's bound holds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard

from bruit.anonymity import HadamardQueries, random_queries, reconstruct, simulate_reconstruction
from bruit.errors import InvalidArgument
from bruit.local.frequencies.hadamard import transformed
from bruit.privacy import ADD_OR_REMOVE_ONE, DiscreteLaplace


@pytest.mark.parametrize("method", ["linear programming", "least squares", "exhaustive"])
def test_exact_answers_give_every_bit_back(method: Any) -> None:
    rng = np.random.default_rng(1)
    secret = rng.integers(0, 2, 12)
    queries = random_queries(12, 60, rng=rng)
    found = reconstruct(queries, queries @ secret, method=method)
    assert found.bits.tolist() == secret.tolist()
    assert found.misfit == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 6), st.randoms(use_true_random=False))
def test_the_transform_is_the_hadamard_matrix(power: int, random: Any) -> None:
    values = np.array([random.randint(0, 9) for _ in range(2**power)], float)
    assert transformed(values) == pytest.approx(hadamard(2**power) @ values)


@given(st.integers(0, 8), st.randoms(use_true_random=False))
def test_hadamard_questions_are_subset_sums_and_give_every_bit_back(power: int, random: Any) -> None:
    secret = np.array([random.randint(0, 1) for _ in range(2**power)])
    queries = HadamardQueries(2**power)
    assert queries.answers(secret) == pytest.approx((hadamard(2**power) > 0) @ secret)
    assert reconstruct(queries, queries.answers(secret)).bits.tolist() == secret.tolist()


@given(st.integers(1, 8), st.integers(0, 2), st.randoms(use_true_random=False))
def test_all_sums_within_e_leave_at_most_4e_bits_wrong(size: int, error: int, random: Any) -> None:
    """[Dinur & Nissim 2003, Thm 1]"""
    secret = np.array([random.randint(0, 1) for _ in range(size)])
    every = np.arange(2**size)[:, None] >> np.arange(size) & 1
    answers = every @ secret + np.array([random.randint(-error, error) for _ in every])
    found = reconstruct(every, answers)
    assert found.method == "exhaustive"
    assert found.misfit <= error
    assert (found.bits != secret).sum() <= 4 * error


@pytest.mark.parametrize(("method", "size"), [("least squares", 256), ("linear programming", 64), ("hadamard", 4096)])
def test_the_threshold_lies_at_the_root_of_n(method: Any, size: Any) -> None:
    """Far below √n nearly all comes back, far above it hardly more than guessing: bits are nearly independent."""
    rng = np.random.default_rng(7)
    low = simulate_reconstruction(size, 0.2 * size**0.5, method=method, rng=rng)
    high = simulate_reconstruction(size, 4 * size**0.5, method=method, rng=rng)
    assert low.recovered > 0.95
    assert high.recovered < 0.75


def test_the_release_test_takes_the_noise_of_a_loss() -> None:
    loss = DiscreteLaplace(1, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)
    found = simulate_reconstruction(128, loss, rng=np.random.default_rng(1))
    assert found.recovered == 1.0
    assert "recovers 100.0% of their bits" in str(found)


def test_too_few_questions_are_still_fitted_within_the_cube() -> None:
    rng = np.random.default_rng(2)
    secret = rng.integers(0, 2, 40)
    queries = random_queries(40, 39, rng=rng)
    found = reconstruct(queries, queries @ secret, method="least squares")
    assert (found.bits == secret).mean() > 0.7


@pytest.mark.parametrize(
    "ask",
    [
        lambda: HadamardQueries(12),
        lambda: reconstruct(np.eye(3), np.zeros(2)),
        lambda: reconstruct(np.eye(3), np.zeros(3), method="hadamard"),
        lambda: reconstruct(np.eye(3), np.zeros(3), method="guessing"),
        lambda: reconstruct(np.eye(17), np.zeros(17), method="exhaustive"),
    ],
)
def test_bad_questions_are_refused(ask: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        ask()
