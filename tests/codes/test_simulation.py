"""Simulated error rates against exact laws, and the bookkeeping of a simulation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laws import ALARM, assert_law, binomial_window
from scipy import stats

from bruit.channels import symmetric
from bruit.codes import Convolutional, Hamming, ReedSolomon, Repetition, simulate, wifi
from bruit.errors import InvalidArgument


def test_a_repetition_over_randomised_response_fails_by_the_binomial_law() -> None:
    """The majority of three answers at ε = ln 3: the composition attack of the lecture, in exact numbers."""
    epsilon, times = np.log(3), 3
    frame = simulate(
        Repetition(times),
        "randomised response",
        [epsilon],
        word_errors=10**9,
        words=200_000,
        rng=np.random.default_rng(1),
    )
    wrong = stats.binom.sf(times // 2, times, 1 / (1 + np.exp(epsilon)))
    assert_law([200_000 - frame["word_errors"][0], frame["word_errors"][0]], [1 - wrong, wrong])


def test_uncoded_bits_over_gaussian_noise_fail_by_the_normal_law() -> None:
    frame = simulate(
        Repetition(1, k=50), "gaussian", [2.0], word_errors=10**9, words=4_000, rng=np.random.default_rng(2)
    )
    wrong = stats.norm.sf(np.sqrt(2 * 10**0.2))
    assert_law([200_000 - frame["bit_errors"][0], frame["bit_errors"][0]], [1 - wrong, wrong])


def test_hamming_over_the_symmetric_channel_fails_when_two_bits_do() -> None:
    frame = simulate(Hamming(3), "symmetric", [0.05], word_errors=10**9, words=100_000, rng=np.random.default_rng(3))
    wrong = stats.binom.sf(1, 7, 0.05)
    assert_law([100_000 - frame["word_errors"][0], frame["word_errors"][0]], [1 - wrong, wrong])


def test_reed_solomon_fails_beyond_its_erasures() -> None:
    code = ReedSolomon(15, 11)
    frame = simulate(code, "erasure", [0.15], word_errors=10**9, words=20_000, rng=np.random.default_rng(4))
    low, high = binomial_window(20_000, stats.binom.sf(4, 15, 0.15), ALARM)
    assert 0.9 * low <= frame["word_errors"][0] <= high  # beyond four, zeros filled in are seldom right by luck


def test_symbols_cross_gaussian_noise_bit_by_bit() -> None:
    frame = simulate(ReedSolomon(15, 15 - 2), "gaussian", [30.0], words=100, rng=np.random.default_rng(5))
    assert frame["word_errors"][0] == 0
    assert frame["low"][0] == 0
    assert frame["high"][0] == pytest.approx(1 - 0.025 ** (1 / 100))


def test_it_stops_at_the_count_of_errors_and_reports_progress() -> None:
    told = []
    code = Convolutional((0o7, 0o5), 100)
    frame = simulate(
        code, "gaussian", [-5.0, 20.0], word_errors=7, words=5_000, rng=np.random.default_rng(6),
        on_progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert frame["word_errors"][0] >= 7
    assert frame["words"].to_list() == [1344, 5_000]
    assert frame["low"][0] <= frame["word_error_rate"][0] <= frame["high"][0]


def test_a_stopped_simulation_goes_on_from_its_file(tmp_path: Path) -> None:
    code = Repetition(3, k=10)
    first = simulate(code, "symmetric", [0.1, 0.2], words=500, rng=np.random.default_rng(7), file=tmp_path / "curve")
    again = simulate(code, "symmetric", [0.1, 0.2], words=500, file=tmp_path / "curve")
    assert first.equals(again)


def test_any_family_of_channels_serves() -> None:
    frame = simulate(wifi(648, "1/2"), lambda error: symmetric(2, error=error), [0.01], words=50)
    assert frame["word_errors"][0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"code": Hamming(3), "channel": "telepathy"},
        {"code": Hamming(3), "channel": "erasure"},
        {"code": Hamming(3), "channel": "gaussian", "words": 0},
        {"code": Hamming(3), "channel": "gaussian", "word_errors": 0},
    ],
)
def test_what_cannot_be_simulated_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        simulate(levels=[0.1], **arguments)
