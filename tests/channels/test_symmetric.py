"""The symmetric channel: its two integers, its law, and what is read back through it."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law

from bruit.channels import ONE, SymmetricChannel, matrix, symmetric
from bruit.channels._kernels import find_open, send_lanes, send_symmetric, settle_open
from bruit.errors import InvalidArgument
from bruit.randomness import words

sizes = st.integers(2, 100_000)
epsilons = st.one_of(
    st.fractions(min_value=Fraction(1, 100), max_value=36, max_denominator=10**6),
    st.floats(0.01, 36.0),
)


@given(sizes, epsilons)
def test_the_law_is_never_less_private_than_asked(size: int, epsilon: Fraction | float) -> None:
    channel = symmetric(size, epsilon=epsilon)
    assert channel.keep + (size - 1) * channel.other == ONE
    assert channel.epsilon <= (Fraction(repr(epsilon)) if isinstance(epsilon, float) else epsilon)


@given(st.integers(2, 1000), st.floats(0.01, 12.0))
def test_hardly_anything_is_lost_to_rounding(size: int, epsilon: float) -> None:
    channel = symmetric(size, epsilon=epsilon)
    exact = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    assert channel.keep / ONE == pytest.approx(exact, abs=2 * size / ONE)


def test_a_stated_error_is_the_chance_of_any_change() -> None:
    channel = symmetric(256, error=0.02)
    assert 255 * channel.other / ONE == pytest.approx(0.02, abs=256 / ONE)


@pytest.mark.parametrize(
    ("size", "arguments"),
    [
        (1, {"epsilon": 1}),
        (0, {"epsilon": 1}),
        (2.0, {"epsilon": 1}),
        (True, {"epsilon": 1}),
        (4, {}),
        (4, {"epsilon": 1, "error": 0.1}),
        (4, {"epsilon": 0}),
        (4, {"error": 1.5}),
        (1_000_000, {"epsilon": 1e-9}),
    ],
)
def test_what_makes_no_channel_is_refused(size: object, arguments: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        symmetric(size, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [2, 7, 1000])
def test_what_comes_out_follows_the_law(size: int) -> None:
    channel = symmetric(size, epsilon=1)
    sent = np.full(262_144, size // 3)
    counts = np.bincount(channel.send(sent, rng=np.random.default_rng(5)), minlength=size)
    assert_law(counts, channel.probabilities()[size // 3])


def test_the_kernel_agrees_with_whole_numbers() -> None:
    rng = np.random.default_rng(6)
    for size, epsilon in ((2, 0.1), (7, 1.0), (1000, 3.0), (5, 36.0)):
        channel = symmetric(size, epsilon=epsilon)
        sent = rng.integers(0, size, 2000).astype(np.int32)
        drawn = rng.integers(0, 1 << 64, 2000, dtype=np.uint64)
        edges = [
            0,
            channel.keep - 1,
            channel.keep,
            channel.keep + channel.other - 1,
            channel.keep + channel.other,
            ONE - 1,
        ]
        drawn[: len(edges)] = [min(edge, ONE - 1) << 12 for edge in edges]
        received = np.empty_like(sent)
        send_symmetric(sent, channel.keep, channel.other, drawn, received)
        for word, symbol, got in zip(drawn.tolist(), sent.tolist(), received.tolist(), strict=True):
            u = word >> 12
            moved = (u - channel.keep) // channel.other
            assert got == (symbol if u < channel.keep else moved + (moved >= symbol))


LANE = 1 << 36
IN_LANES = [
    symmetric(2, epsilon="0.01"),
    symmetric(3, epsilon=1),
    symmetric(7, epsilon=1),
    symmetric(7, error="0.99"),
    symmetric(5, error=1),
    symmetric(5, epsilon=36),
    symmetric(256, error="0.02"),
    symmetric(1000, epsilon=3),
    symmetric(1024, epsilon="0.01"),
    symmetric(1024, epsilon=8),
    symmetric(4096, epsilon=2),
]


def received_of(channel: SymmetricChannel, symbols: Any, u: Any) -> Any:
    moved = (u - channel.keep) // channel.other
    return np.where(u < channel.keep, symbols, moved + (moved >= symbols))


def all_lanes(channel: SymmetricChannel, symbols: Any) -> Any:
    received = np.empty(1 << 16, np.int32)
    lanes = np.arange(1 << 16, dtype=np.uint16)
    send_lanes(symbols, channel.keep, channel.other, channel.size, lanes, received)
    return received


@pytest.mark.parametrize("channel", IN_LANES)
def test_every_lane_that_settles_a_symbol_settles_it_rightly(channel: SymmetricChannel) -> None:
    symbols = np.random.default_rng(7).integers(0, channel.size, 1 << 16).astype(np.int32)
    first, received = np.arange(1 << 16) * LANE, all_lanes(channel, symbols)
    settled = received >= 0
    for u in (first, first + LANE - 1):
        np.testing.assert_array_equal(received[settled], received_of(channel, symbols, u)[settled])
    assert (~settled).sum() <= 2 * channel.size  # about one lane at each of its borders, two where it lies between them


@pytest.mark.parametrize("channel", IN_LANES)
def test_all_lanes_together_have_the_very_law_that_is_charged(channel: SymmetricChannel) -> None:
    symbol = channel.size // 3
    received = all_lanes(channel, np.full(1 << 16, symbol, np.int32))
    weights = np.bincount(received[received >= 0], minlength=channel.size) * LANE
    for lane in np.flatnonzero(received < 0).tolist():
        u, end = lane * LANE, (lane + 1) * LANE
        while u < end:  # all u below this one are counted
            passed = (u - channel.keep) // channel.other + 1 if u >= channel.keep else 0
            upto = min(end, channel.keep + passed * channel.other)
            weights[int(received_of(channel, symbol, u))] += upto - u
            u = upto
    expected = np.full(channel.size, channel.other)
    expected[symbol] = channel.keep
    np.testing.assert_array_equal(weights, expected)


@pytest.mark.parametrize("channel", IN_LANES)
@pytest.mark.parametrize("count", [16, 9, 1000])
def test_symbols_left_open_are_sent_by_the_bits_that_follow(channel: SymmetricChannel, count: int) -> None:
    rng = np.random.default_rng(8)
    open_lanes = np.flatnonzero(all_lanes(channel, np.zeros(1 << 16, np.int32)) < 0)
    lanes = rng.choice(np.append(open_lanes, rng.integers(0, 1 << 16, 9)), count).astype(np.uint16)
    symbols = rng.integers(0, channel.size, count).astype(np.int32)
    received, places = np.empty(count, np.int32), np.empty(count, np.int32)
    send_lanes(symbols, channel.keep, channel.other, channel.size, lanes, received)
    left = places[: find_open(received, places)]
    assert left.tolist() == np.flatnonzero(received < 0).tolist()
    drawn = rng.integers(0, 1 << 64, left.size, dtype=np.uint64)
    u = lanes.astype(np.int64) * LANE + rng.integers(0, LANE, count)
    border = channel.keep + (u - channel.keep) // channel.other * channel.other  # the last u, or the next, of a symbol
    near = np.where(border // LANE == lanes, border - rng.integers(0, 2, count), u)
    u[left] = np.where(near // LANE == lanes, near, u)[left]
    drawn = u[left].astype(np.uint64) << np.uint64(28) | drawn >> np.uint64(36)
    settle_open(symbols, channel.keep, channel.other, lanes, left, drawn, received)
    np.testing.assert_array_equal(received, received_of(channel, symbols, u))


@pytest.mark.parametrize("channel", [symmetric(2, epsilon=1), symmetric(7, epsilon=1), symmetric(1000, epsilon=3)])
def test_what_is_sent_in_lanes_follows_the_law(channel: SymmetricChannel) -> None:
    for symbol in (0, channel.size - 1):
        sent = np.full(300_001, symbol, np.int32)
        received = channel._send_in_lanes(sent, np.random.default_rng(9))
        assert_law(np.bincount(received, minlength=channel.size), channel.probabilities()[symbol])


def test_a_strong_source_draws_a_quarter_of_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def counted(rng: np.random.Generator, count: int) -> Any:
        drawn.append(count)
        return words(rng, count)

    monkeypatch.setattr("bruit.channels.symmetric_channel.words", counted)
    channel = symmetric(7, epsilon=1)
    received = channel.send(np.zeros(200_000, np.int64))
    assert 50_000 <= sum(drawn) < 51_000
    assert set(received.tolist()) == set(range(7))


def test_a_seeded_source_gives_every_symbol_a_word() -> None:
    channel, sent = symmetric(7, epsilon=1), np.random.default_rng(10).integers(0, 7, 50_000).astype(np.int32)
    expected, drawn = np.empty_like(sent), words(np.random.default_rng(11), 50_000)
    send_symmetric(sent, channel.keep, channel.other, drawn, expected)
    np.testing.assert_array_equal(channel.send(sent, rng=np.random.default_rng(11)), expected)


def test_a_channel_without_errors_delivers_everything() -> None:
    channel = symmetric(9, error=0)
    assert channel.epsilon == math.inf
    assert channel.send(np.arange(9)).tolist() == list(range(9))


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
def test_shape_and_type_are_kept(kind: type) -> None:
    received = symmetric(256, error=0.5).send(np.zeros((3, 4), dtype=kind))
    assert received.shape == (3, 4)
    assert received.dtype == kind


@pytest.mark.parametrize("symbols", [[0, 7], [-1], [0.5], ["a"]])
def test_symbols_outside_the_alphabet_are_refused(symbols: list[object]) -> None:
    with pytest.raises(InvalidArgument, match="0 to 6"):
        symmetric(7, epsilon=1).send(symbols)  # type: ignore[arg-type]


def test_no_symbol_sends_nothing() -> None:
    assert symmetric(7, epsilon=1).send([]).shape == (0,)


@given(st.integers(2, 40), st.floats(0.1, 5.0), st.integers(2, 6))
def test_a_cascade_is_the_power_of_the_matrix_and_more_private(size: int, epsilon: float, times: int) -> None:
    channel = symmetric(size, epsilon=epsilon)
    series = channel.cascade(times)
    assert isinstance(series, SymmetricChannel)
    exact = np.linalg.matrix_power(channel.probabilities(), times)
    assert series.probabilities() == pytest.approx(exact, abs=1e-12)
    assert series.epsilon < channel.epsilon


def test_two_in_series_equal_the_general_product() -> None:
    first, second = symmetric(5, epsilon=1), symmetric(5, epsilon=2)
    general = matrix(first.probabilities()).then(matrix(second.probabilities()))
    assert first.then(second).probabilities() == pytest.approx(general.probabilities(), abs=1e-14)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=20), st.floats(0.1, 5.0))
def test_unmixing_the_expected_counts_gives_the_counts_sent(counts: list[int], epsilon: float) -> None:
    channel = symmetric(len(counts), epsilon=epsilon)
    expected = np.array(counts) @ channel.probabilities()
    assert channel.unmix(expected).value == pytest.approx(np.array(counts, float), abs=1e-6)


def test_the_variance_is_that_of_the_document() -> None:
    counts = np.array([500.0, 300.0, 200.0])
    channel = symmetric(3, epsilon=1)
    unmixed = channel.unmix(counts @ channel.probabilities())
    e = math.e
    p, q = e / (2 + e), 1 / (2 + e)
    spec = ((2 + e) / (e - 1)) ** 2 * (counts * p * (1 - p) + (1000 - counts) * q * (1 - q))
    assert unmixed.variance == pytest.approx(spec)
    assert np.diag(unmixed.covariance()) == pytest.approx(spec)
    assert unmixed.covariance().sum() == pytest.approx(0, abs=1e-6)


def test_the_capacity_of_a_binary_symmetric_channel() -> None:
    h = -0.11 * math.log2(0.11) - 0.89 * math.log2(0.89)
    assert symmetric(2, error=0.11).capacity() == pytest.approx(1 - h)


def test_the_log_likelihood_ratio_of_bits_is_positive_for_zero() -> None:
    channel = symmetric(2, epsilon=1)
    assert channel.log_likelihood([0, 1]) == pytest.approx([1.0, -1.0])


def test_log_likelihoods_of_more_symbols_are_rows() -> None:
    channel = symmetric(3, epsilon=1)
    assert np.exp(channel.log_likelihood([2, 0])) == pytest.approx(channel.probabilities()[[2, 0]])
