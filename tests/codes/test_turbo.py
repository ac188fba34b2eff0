"""Turbo codes: the interleavers and rate matching of LTE, those of spacecraft, their kernels, and published rates."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laws import ALARM, binomial_window
from numpy.typing import NDArray

from bruit.codes import CcsdsTurbo, Code, Convolutional, LteTurbo, simulate
from bruit.codes.trellis import _log_map_kernels as log_map
from bruit.codes.trellis._turbo_kernels import LANES, max_log_pass
from bruit.codes.trellis.lte_turbo import lte_sizes, matched_places
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
        lambda: LteTurbo(40, version=1),
        lambda: LteTurbo(40, length=40),
        lambda: LteTurbo(40, length=100, flushed=False),
        lambda: LteTurbo(40, length=100, version=4),
        lambda: CcsdsTurbo(1000),
        lambda: CcsdsTurbo(1784, "3/4"),
        lambda: LteTurbo(40).decode(np.full(132, np.nan)),
        lambda: LteTurbo(40).decode(np.zeros(120)),
        lambda: LteTurbo(40).encode(np.zeros((0, 40), int)),
    ],
)
def test_what_is_no_code_or_no_word_is_refused(wrong: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        wrong()


SRSRAN = json.loads((Path(__file__).parent / "vectors" / "srsran.json").read_text())


@pytest.mark.parametrize("vector", SRSRAN, ids=lambda vector: f"{vector['k']} {vector['version']}")
def test_rate_matching_is_that_of_srsran(vector: dict[str, Any]) -> None:
    k = vector["k"]
    place = matched_places(k, 3 * k + 12, vector["version"])
    numbered = 3 * (place % (k + 4)) + place // (k + 4)
    assert hashlib.sha256(" ".join(map(str, numbered)).encode()).hexdigest() == vector["digest"]


def test_a_second_version_brings_what_the_first_left_out() -> None:
    """At rate 1/2 in 0 dB of noise one sending fails; two of different versions are decoded as one word of rate 1/4."""
    rng = np.random.default_rng(5)
    first, second = LteTurbo(504, length=1008), LteTurbo(504, length=1008, version=2)
    messages = rng.integers(0, 2, (32, 504), np.uint8)
    heard = [2 * (1 - 2.0 * code.encode(messages) + rng.normal(size=(32, 1008))) for code in (first, second)]
    assert (first.decode(heard[0]).message != messages).any(axis=1).mean() > 0.9
    whole = np.zeros((32, 1524))
    for code, said in zip((first, second), heard, strict=True):
        np.add.at(whole, (slice(None), matched_places(504, 1008, code.version)), said)
    np.testing.assert_array_equal(LteTurbo(504).decode(whole).message, messages)
    twice = LteTurbo(504, length=3100)
    np.testing.assert_array_equal(twice.decode(twice.encode(messages)).message, messages)


@pytest.mark.parametrize("share", ["1/2", "1/3", "1/4", "1/6"])
@pytest.mark.parametrize("k", [1784, 3568, 7136, 8920])
def test_words_of_spacecraft_say_what_the_standard_lists(k: int, share: str) -> None:
    """The order of the bits at each step, the flushing of both registers, and the formula for the other order."""
    code = CcsdsTurbo(k, share)
    message = np.random.default_rng(6).integers(0, 2, k, np.uint8)
    order = np.empty(k, int)
    for s in range(1, k + 1):
        m, i = (s - 1) % 2, (s - 1) // (2 * (k // 8))
        j, t = (s - 1) // 2 - i * (k // 8), (19 * i + 1) % 4
        c = ((31, 37, 43, 47, 53, 59, 61, 67)[t % 8] * j + 21 * m) % (k // 8)
        order[s - 1] = 2 * (t + 4 * c + 1) - m
    np.testing.assert_array_equal(code.interleaver, order - 1)
    assert code.n == (k + 4) * int(share[2])

    def said(generator: int, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.asarray(Convolutional((generator,), k, feedback=0o23).encode(bits).reshape(-1, 2).T)

    other = message[order - 1]
    streams = {"0a": said(0o33, message)[0]}
    for number, generator in enumerate((0o33, 0o25, 0o37), 1):
        streams[f"{number}a"], streams[f"{number}b"] = said(generator, message)[1], said(generator, other)[1]
    outputs = {"1/2": "0a 1a 1b", "1/3": "0a 1a 1b", "1/4": "0a 2a 3a 1b", "1/6": "0a 1a 2a 3a 1b 3b"}
    rows = np.array([streams[name] for name in outputs[share].split()])
    if share == "1/2":
        rows = np.array([rows[0], np.where(np.arange(k + 4) % 2, rows[2], rows[1])])
    np.testing.assert_array_equal(code.encode(message), rows.T.reshape(-1))


CCSDS = json.loads((Path(__file__).parent / "vectors" / "ccsds.json").read_text())


@pytest.mark.parametrize("vector", CCSDS, ids=lambda vector: str(vector["k"]))
def test_words_of_spacecraft_are_those_of_two_programs_of_others(vector: dict[str, Any]) -> None:
    k = vector["k"]
    message = np.array([(3 * pow(2, i, 65_521)) ** 2 % 65_521 & 1 for i in range(k)], np.uint8)

    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    assert digest(" ".join(map(str, CcsdsTurbo(k).interleaver))) == vector["order"]
    for share, told in vector["words"].items():
        assert digest("".join(map(str, CcsdsTurbo(k, share).encode(message)))) == told, share


def test_a_log_map_pass_is_the_exact_one_but_for_its_line() -> None:
    """Posteriors beside those of the exact algorithm: the straight line moves none by more than a tenth."""
    code = Convolutional((0o33,), 60, feedback=0o23, decoder="bcjr")
    rng = np.random.default_rng(7)
    heard = (4 * (1 - 2.0 * code.encode(rng.integers(0, 2, (16, 60))) + 0.7 * rng.normal(size=(16, 128)))).astype("f4")
    rows = np.ascontiguousarray(heard.reshape(16, 64, 2).transpose(2, 1, 0))
    registers = np.arange(32).reshape(16, 2)
    masks = (0b11001, 0b11011)  # bit i taps the bit i steps old
    branches = sum((np.bitwise_count(registers & mask).astype(int) & 1) << q for q, mask in enumerate(masks))
    alpha, posterior = np.empty((65, 16, log_map.LANES), np.float32), np.empty((64, log_map.LANES), np.float32)
    log_map.log_map_pass(rows[0], rows[1:], np.asarray(branches), alpha, posterior)
    exact = code.posterior(heard)
    assert np.abs(posterior[:60].T - exact).max() < 0.1 * np.abs(exact).max()
    np.testing.assert_array_equal(posterior[:60].T < 0, exact < 0)


PUBLISHED = {  # facts from the error-rate references of AFF3CT: Eb/N0 (dB) and frame error rates
    "CCSDS (5368,1784) log-MAP, 10 turns": {0.2: 2.67e-1, 0.3: 1.21e-1, 0.4: 5.57e-2, 0.5: 1.60e-2, 0.6: 3.88e-3},
    "LTE (4108,2048) punctured, 8 turns": {1.0: 3.16e-1, 1.1: 1.57e-1, 1.2: 6.74e-2, 1.3: 1.58e-2, 1.4: 4.21e-3},
}
CHECKSUM = 10 * np.log10(2048 / 2024)
"""Decibels between the reference's Eb/N0 and ours: it counts a checksum of 24 bits as no message."""


def assert_published(name: str, code: Code, level: float, shift: float, words: int) -> None:
    most, least = PUBLISHED[name][round(level - 0.1, 1)], PUBLISHED[name][round(level + 0.1, 1)]
    rng = np.random.default_rng(8)
    frame = simulate(code, "gaussian", [level - shift], word_errors=words, words=words, rng=rng)
    low, high = binomial_window(words, least, ALARM)[0], binomial_window(words, most, ALARM)[1]
    assert low <= frame["word_errors"][0] <= high


def test_error_rates_are_within_a_tenth_of_a_decibel_of_the_published() -> None:
    assert_published("CCSDS (5368,1784) log-MAP, 10 turns", CcsdsTurbo(1784, "1/3"), 0.3, 0, 480)
    lte = LteTurbo(2048, iterations=8, length=4108)
    assert_published("LTE (4108,2048) punctured, 8 turns", lte, 1.1, float(CHECKSUM), 480)


@pytest.mark.stress
def test_error_rates_are_within_a_tenth_of_a_decibel_of_the_published_at_full_size() -> None:
    assert_published("CCSDS (5368,1784) log-MAP, 10 turns", CcsdsTurbo(1784, "1/3"), 0.5, 0, 12_000)
    lte = LteTurbo(2048, iterations=8, length=4108)
    assert_published("LTE (4108,2048) punctured, 8 turns", lte, 1.3, float(CHECKSUM), 12_000)
