"""Finite channels of any law: rounding, series, repetition, inversion."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from laws import assert_law

from bruit.channels import ONE, MatrixChannel, binary, erasure, matrix, symmetric
from bruit.channels._kernels import send_rows
from bruit.errors import InvalidArgument

tables = st.tuples(st.integers(1, 5), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 1000))
)


def stochastic(table: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(int(cell), int(row.sum())) for cell in row] for row in table]


def largest_ratio(rows: list[list[Fraction]]) -> Fraction | None:
    """The largest likelihood ratio of an exact matrix; None when it is infinite."""
    columns = [column for column in zip(*rows, strict=True) if max(column) > 0]
    if any(min(column) == 0 for column in columns):
        return None
    return max(max(column) / min(column) for column in columns)


@given(tables)
def test_rounding_keeps_rows_whole_and_never_loses_privacy(table: np.ndarray) -> None:
    assume((table.sum(axis=1) > 0).all())
    rows = stochastic(table)
    channel = matrix(rows)
    assert (channel.weights.sum(axis=1) == ONE).all()
    assert channel.probabilities() == pytest.approx(np.array(rows, float), abs=1e-9)
    ratio = largest_ratio(rows)
    high, low = channel.weights.max(axis=0), channel.weights.min(axis=0)
    if ratio is None:
        assert channel.epsilon == math.inf
    else:
        assert all(Fraction(int(a), int(b)) <= ratio for a, b in zip(high, low, strict=True) if a > 0)


@given(st.floats(0.05, 3), st.floats(0.05, 3), st.integers(3, 5))
def test_a_series_is_at_most_as_lossy_as_either_part(first: float, second: float, size: int) -> None:
    one = symmetric(size, epsilon=first)
    other = (
        matrix([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]]) if size == 3 else symmetric(size, epsilon=second)
    )
    series = one.then(other)
    assert series.probabilities() == pytest.approx(one.probabilities() @ other.probabilities(), abs=1e-12)
    assert series.epsilon <= min(one.epsilon, other.epsilon)


@given(tables)
def test_s2_4_two_laws_of_a_private_channel_are_close(table: np.ndarray) -> None:
    """Their total variation is at most 1 - e^-ε, and at most (e^ε - 1) / (e^ε + 1), which is less."""
    assume((table.sum(axis=1) > 0).all())
    channel = matrix(stochastic(table))
    law, epsilon = channel.probabilities(), float(channel.epsilon)
    apart = np.abs(law[:, None] - law[None]).sum(axis=2).max() / 2
    assert apart <= math.tanh(epsilon / 2) + 1e-12
    assert math.tanh(epsilon / 2) <= 1 - math.exp(-epsilon)


def test_s2_4_two_answers_of_a_coin_are_as_far_apart_as_any() -> None:
    law = binary(epsilon=1.0).probabilities()
    assert np.abs(law[0] - law[1]).sum() / 2 == pytest.approx(math.tanh(0.5), abs=1e-9)


def test_a_cascade_of_a_matrix_is_its_power() -> None:
    channel = binary(zero_to_one=0.1, one_to_zero=0.3)
    assert channel.cascade(5).probabilities() == pytest.approx(np.linalg.matrix_power(channel.probabilities(), 5))


def test_channels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="cannot feed"):
        erasure(2, loss=0.5).then(symmetric(2, epsilon=1))


@pytest.mark.parametrize(
    "rows", [[], [[]], [[0.5, 0.5], [1.0]], [[0.5, 0.6]], [[1.5, -0.5]], [["a", "b"]], [[float("nan"), 1.0]]]
)
def test_what_is_no_stochastic_matrix_is_refused(rows: list[list[float]]) -> None:
    with pytest.raises(InvalidArgument):
        matrix(rows)


def test_what_comes_out_of_any_matrix_follows_its_law() -> None:
    channel = matrix([[0.5, 0.3, 0.2, 0.0], [0.1, 0.1, 0.2, 0.6]])
    for symbol in (0, 1):
        received = channel.send(np.full(262_144, symbol), rng=np.random.default_rng(7))
        assert_law(np.bincount(received, minlength=4), channel.probabilities()[symbol])


def test_the_kernel_agrees_with_numpy() -> None:
    rng = np.random.default_rng(8)
    channel = matrix(rng.dirichlet(np.ones(9), size=4))
    upper = np.cumsum(channel.weights, axis=1)
    sent = rng.integers(0, 4, 500).astype(np.int32)
    drawn = rng.integers(0, 1 << 64, 500, dtype=np.uint64)
    received = np.empty_like(sent)
    send_rows(sent, upper, drawn, received)
    assert received.tolist() == [
        int(np.searchsorted(upper[x], int(w) >> 12, side="right")) for x, w in zip(sent, drawn, strict=True)
    ]


def test_rule_9_an_infinite_loss_is_said() -> None:
    assert erasure(4, loss=0.25).epsilon == math.inf
    assert binary(zero_to_one=0.5, one_to_zero=0).epsilon == math.inf


def test_an_erasure_delivers_the_truth_or_nothing() -> None:
    channel = erasure(4, loss=0.25)
    received = channel.send(np.full(262_144, 2), rng=np.random.default_rng(9))
    assert_law(np.bincount(received, minlength=5), [0, 0, 0.75, 0, 0.25])
    assert channel.capacity() == pytest.approx(1.5)


def test_blahut_arimoto_finds_known_capacities() -> None:
    z = binary(zero_to_one=0, one_to_zero=0.5)
    low, high = z.capacity_bounds(tolerance=1e-9)
    assert low - 1e-15 <= math.log2(5 / 4) <= high + 1e-15
    assert high - low <= 1e-9
    table = MatrixChannel(symmetric(5, epsilon=1).weights)
    assert table.capacity() == pytest.approx(symmetric(5, epsilon=1).capacity(), abs=1e-6)


def test_repeating_adds_the_losses_exactly() -> None:
    channel = symmetric(3, epsilon=1)
    thrice = channel.repeat(3)
    assert thrice.epsilon == 3 * channel.epsilon
    received = thrice.send([0, 1, 2, 0], rng=np.random.default_rng(1))
    assert received.shape == (4, 3)
    assert thrice.counts(received).sum(axis=-1).tolist() == [3, 3, 3, 3]
    each = np.log(channel.probabilities().T)[received].sum(axis=1)
    assert thrice.log_likelihood(received) == pytest.approx(each)


def test_log_likelihood_ratios_of_certain_outputs_are_infinite() -> None:
    assert erasure(2, loss=0.5).log_likelihood([0, 1, 2]).tolist() == [math.inf, -math.inf, 0.0]


@given(arrays(np.float64, 3, elements=st.integers(0, 500)))
def test_unmixing_expected_counts_is_exact_with_more_outputs_than_inputs(counts: np.ndarray) -> None:
    channel = matrix([[0.6, 0.2, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.1, 0.2, 0.6]])
    unmixed = channel.unmix(counts @ channel.probabilities())
    assert unmixed.value == pytest.approx(counts, abs=1e-6)
    law, inverse = channel.probabilities(), channel._inverse
    exact = sum(
        n * inverse.T @ (np.diag(row) - np.outer(row, row)) @ inverse for n, row in zip(counts, law, strict=True)
    )
    assert unmixed.covariance() == pytest.approx(np.asarray(exact) + np.zeros((3, 3)), abs=1e-6)


def test_inputs_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="tell"):
        matrix([[0.5, 0.5], [0.5, 0.5]]).unmix([1, 2])


@pytest.mark.parametrize("counts", [[1, 2, 3], [1, -1], [1, float("nan")]])
def test_counts_of_another_channel_are_refused(counts: list[float]) -> None:
    with pytest.raises(InvalidArgument):
        symmetric(2, epsilon=1).unmix(counts)
