"""The LTE turbo code: all 188 interleavers, its kernel against a plain max-log pass, and noise."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bruit.codes import Convolutional, LteTurbo
from bruit.codes.trellis._turbo_kernels import LANES, max_log_pass
from bruit.codes.trellis.lte_turbo import lte_sizes
from bruit.errors import InvalidArgument


def slow_pass(systematic: Any, parity: Any, prior: Any, tail: Any) -> NDArray[np.int64]:
    """Max-log on the eight-state trellis for one word, with loops: what the parity says of each bit."""
    steps = len(systematic)

    def branches(state: Any) -> Iterator[Any]:
        for bit in (0, 1):
            new = bit ^ (state >> 1 & 1) ^ (state & 1)
            yield bit, new ^ (state >> 2 & 1) ^ (state & 1), (new << 2) | (state >> 1)

    alpha = np.full((steps + 1, 8), -8000)
    alpha[0, 0] = 0
    for t in range(steps):
        fresh = np.full(8, -(10**6))
        for s in range(8):
            for bit, p, after in branches(s):
                gain = (systematic[t] + prior[t]) * (bit == 0) + parity[t] * (p == 0)
                fresh[after] = max(fresh[after], alpha[t, s] + gain)
        alpha[t + 1] = fresh - fresh[0]
    beta = np.zeros(8, int)
    for s in range(8):
        state = s
        for x, z in tail:
            beta[s] += x * ((state >> 1 ^ state) & 1 == 0) + z * ((state >> 2 ^ state) & 1 == 0)
            state >>= 1
    beta -= beta[0]
    out = np.empty(steps, int)
    for t in range(steps - 1, -1, -1):
        best, fresh = [-(10**6)] * 2, np.full(8, -(10**6))
        for s in range(8):
            for bit, p, after in branches(s):
                gain = parity[t] * (p == 0)
                best[bit] = max(best[bit], alpha[t, s] + gain + beta[after])
                fresh[s] = max(fresh[s], gain + (systematic[t] + prior[t]) * (bit == 0) + beta[after])
        out[t] = best[0] - best[1]
        beta = fresh - fresh[0]
    return out


def test_a_pass_counts_as_written() -> None:
    rng = np.random.default_rng(1)
    systematic, parity, prior = rng.integers(-127, 128, (3, 30, LANES)).astype(np.int16)
    tail = rng.integers(-127, 128, (6, LANES)).astype(np.int16)
    out, alpha, beta = (np.empty(shape, np.int16) for shape in ((30, LANES), (31, 8 * LANES), 8 * LANES))
    max_log_pass(systematic, parity, prior, tail, out, alpha, beta)
    for lane in (0, 7, LANES - 1):
        columns = [part[:, lane].astype(int) for part in (systematic, parity, prior)]
        np.testing.assert_array_equal(out[:, lane], slow_pass(*columns, tail[:, lane].astype(int).reshape(3, 2)))  # type: ignore[call-arg]


def test_there_are_188_sizes_in_four_steps() -> None:
    expected = [*range(40, 512, 8), *range(512, 1024, 16), *range(1024, 2048, 32), *range(2048, 6145, 64)]
    assert list(lte_sizes()) == expected


@pytest.mark.parametrize("k", lte_sizes())
def test_every_interleaver_is_a_permutation_that_keeps_odd_and_even(k: int) -> None:
    order = LteTurbo(k).interleaver
    np.testing.assert_array_equal(np.sort(order), np.arange(k))
    np.testing.assert_array_equal(order % 2, np.arange(k) % 2)  # f1 is odd and f2 even


def test_both_parities_are_those_of_the_recursive_code() -> None:
    code = LteTurbo(40)
    recursive = Convolutional((0o15,), 40, feedback=0o13)
    message = np.random.default_rng(2).integers(0, 2, 40, np.uint8)
    streams = code.encode(message).reshape(3, 44)
    first = recursive.encode(message).reshape(43, 2)
    second = recursive.encode(message[code.interleaver]).reshape(43, 2)
    np.testing.assert_array_equal(streams[:2, :40], first[:40].T)
    np.testing.assert_array_equal(streams[2, :40], second[:40, 1])
    (x, y, z), (u, v, w) = first[40:], second[40:]
    np.testing.assert_array_equal(streams[0, 40:], [x[0], y[1], u[0], v[1]])
    np.testing.assert_array_equal(streams[1, 40:], [x[1], z[0], u[1], w[0]])
    np.testing.assert_array_equal(streams[2, 40:], [y[0], z[1], v[0], w[1]])


@pytest.mark.parametrize("flushed", [True, False])
@pytest.mark.parametrize("k", [40, 208, 6144])
def test_words_come_back_through_noise(k: int, flushed: bool) -> None:
    code = LteTurbo(k, flushed=flushed)
    rng = np.random.default_rng(3)
    messages = rng.integers(0, 2, (35, k), np.uint8)
    heard = (1.0 - 2.0 * code.encode(messages) + 0.7 * rng.normal(size=(35, code.n))) * 2 / 0.49
    decoded = code.decode(heard)
    np.testing.assert_array_equal(decoded.message, messages)
    np.testing.assert_array_equal(decoded.word, code.encode(messages))
    assert code.rate == k / code.n
    np.testing.assert_array_equal(code.messages(heard[0]), messages[0])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: LteTurbo(41),
        lambda: LteTurbo(40, iterations=0),
        lambda: LteTurbo(40).decode(np.full(132, np.nan)),
        lambda: LteTurbo(40).decode(np.zeros(120)),
        lambda: LteTurbo(40).encode(np.zeros((0, 40), int)),
    ],
)
def test_what_is_no_code_or_no_word_is_refused(wrong: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        wrong()
