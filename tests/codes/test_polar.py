"""Polar codes: words of Sionna, a slow decoder, enumeration, and the error rates that AFF3CT publishes."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import ALARM, binomial_window
from numpy.typing import NDArray
from scipy import special

from bruit.codes import Polar, nr_polar, polar, polarise, simulate
from bruit.codes.polar_codes._kernels import transform
from bruit.codes.polar_codes.construction import gaussian_means, nr_sequence
from bruit.codes.polar_codes.new_radio import triangle
from bruit.errors import InvalidArgument

VECTORS = json.loads((Path(__file__).parent / "vectors" / "sionna_polar.json").read_text())


def unpacked(text: str, size: int) -> NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8), count=size)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['link']} {v['k']} {v['n']}")
def test_words_are_those_of_sionna(vector: dict[str, Any]) -> None:
    code = nr_polar(vector["k"], vector["n"], link=vector["link"])
    message, word = unpacked(vector["message"], code.k), unpacked(vector["word"], code.n)
    np.testing.assert_array_equal(code.encode(message), word)
    np.testing.assert_array_equal(code.decode(word).message, message)


def test_the_transform_is_a_power_of_kronecker_and_undoes_itself() -> None:
    matrix = np.array([[1]])
    for _ in range(5):
        matrix = np.kron([[1, 0], [1, 1]], matrix)
    bits = np.random.default_rng(1).integers(0, 2, (20, 32), np.uint8)
    coded = bits.copy()
    transform(coded)
    np.testing.assert_array_equal(coded, bits @ matrix % 2)
    transform(coded)
    np.testing.assert_array_equal(coded, bits)


def test_the_sequence_of_the_standard_keeps_the_universal_order() -> None:
    """A place whose number has more ones, and all of another's, is always more reliable: one channel degrades it."""
    rank = np.argsort(nr_sequence())
    assert sorted(nr_sequence()) == list(range(1024))
    for place in range(1024):
        for bit in range(10):
            if not place >> bit & 1:
                assert rank[place] < rank[place | 1 << bit]


@given(st.floats(0, 1), st.integers(0, 10))
def test_channels_polarise_and_keep_their_mean(loss: float, steps: int) -> None:
    losses = polarise(loss, steps=steps)
    assert losses.mean() == pytest.approx(loss, abs=1e-9)
    assert losses.size == 2**steps
    assert (np.diff([polarise(loss, steps=s).var() for s in range(steps + 1)]) >= -1e-12).all()


def test_gaussian_means_are_those_of_quadrature() -> None:
    """The worse of two channels keeps E tanh(L/2) = (E tanh(L/2))²; the better doubles its mean."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(150)

    def mean_tanh(mean: Any) -> Any:
        return (weights / weights.sum()) @ np.tanh((mean + np.sqrt(2 * mean) * nodes) / 2)

    worse, better = gaussian_means(0.8, steps=1)
    assert better == pytest.approx(3.2)
    assert mean_tanh(worse) == pytest.approx(mean_tanh(1.6) ** 2, rel=1e-3)
    assert special.ndtr(-np.sqrt(gaussian_means(1.0, steps=10) / 2)).min() < 1e-6


def slow_cancellation(code: Any, heard: Any) -> Any:
    """Successive cancellation by its definition: recursion on halves, min-sum, bit by bit."""
    free = np.zeros(code.length, bool)
    free[code.places] = True

    def visit(values: Any, first: Any) -> Any:
        if values.size == 1:
            return np.array([1 if free[first] and values[0] < 0 else 0]), np.array(
                [1 if free[first] and values[0] < 0 else 0]
            )
        half = values.size // 2
        a, b = values[:half], values[half:]
        x, u = visit(np.sign(a) * np.sign(b) * np.minimum(abs(a), abs(b)), first)
        y, v = visit(b + a * (1 - 2 * x), first + half)
        return np.concatenate([x ^ y, y]), np.concatenate([u, v])

    return visit(heard, 0)[1][code.places]


def test_one_path_is_successive_cancellation() -> None:
    code, rng = polar(60, 128, paths=1), np.random.default_rng(2)
    heard = 1 - 2.0 * code.encode(code.random_messages(60, rng)) + rng.normal(0, 0.7, (60, 128))
    heard = heard.astype(np.float32)
    slow = np.array([slow_cancellation(code, row.astype(np.float64)) for row in heard])
    np.testing.assert_array_equal(code.decode(heard).message, slow)


@settings(max_examples=30)
@given(st.integers(1, 5), st.sampled_from([2, 8]), st.data())
def test_a_long_list_finds_the_nearest_word(k: int, paths: int, data: Any) -> None:
    """With as many paths as messages nothing is dropped, so that the answer is the likeliest of all."""
    code = polar(k, 16, paths=max(paths, 2**k))
    every = np.array(list(product((0, 1), repeat=k)), np.uint8)
    signs = 1 - 2.0 * code.encode(every)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    heard = (signs[rng.integers(0, 2**k, 20)] + rng.normal(0, 1, (20, 16))).astype(np.float32)
    found = code.decode(heard)
    assert found.decoded.all()
    np.testing.assert_array_equal(found.message, every[(heard @ signs.T).argmax(axis=1)])


def test_a_longer_list_errs_less() -> None:
    rates = []
    for paths in (1, 4, 16):
        code = nr_polar(100, 200, paths=paths)
        frame = simulate(code, "gaussian", [2.0], word_errors=600, words=600, rng=np.random.default_rng(3))
        rates.append(frame["word_errors"][0])
    assert rates[0] > 1.5 * rates[1] > 1.5 * rates[2]


AFF3CT = {  # facts from the error-rate references of AFF3CT: Eb/N0 (dB) and frame error rates
    "Polar (1024,512) SC 5G": {1.5: 3.70e-1, 1.6: 2.97e-1, 1.7: 2.48e-1, 1.9: 1.32e-1, 2.0: 1.02e-1, 2.1: 7.20e-2},
    "Polar (2048,1024) ASCL L=8 CRC 32": {1.2: 1.88e-1, 1.3: 1.05e-1, 1.4: 6.14e-2, 1.5: 3.59e-2},
}


@pytest.mark.parametrize(
    ("name", "level", "words"),
    [("Polar (1024,512) SC 5G", 1.6, 2000), ("Polar (1024,512) SC 5G", 2.0, 4000),
     ("Polar (2048,1024) ASCL L=8 CRC 32", 1.3, 500)],
)  # fmt: skip
def test_error_rates_are_within_a_tenth_of_a_decibel_of_the_reference(name: str, level: float, words: int) -> None:
    if name.endswith("5G"):
        code = polar(512, 1024, paths=1)
    else:
        code = polar(1024, 2048, construction="gaussian", level=10 ** (level / 10), polynomial="CRC-32")
    most, least = AFF3CT[name][round(level - 0.1, 1)], AFF3CT[name][round(level + 0.1, 1)]
    frame = simulate(code, "gaussian", [level], word_errors=words, words=words, rng=np.random.default_rng(4))
    low, high = binomial_window(words, least, ALARM)[0], binomial_window(words, most, ALARM)[1]
    assert low <= frame["word_errors"][0] <= high


def test_bits_sent_twice_add_up_however_they_are_interleaved() -> None:
    code = nr_polar(20, 700)
    message = code.random_messages(8, np.random.default_rng(6))
    heard = 1 - 2.0 * code.encode(message)
    copies = np.bincount(code.sent, minlength=code.length)
    assert copies.min() >= 2
    first = np.unique(code.sent, return_index=True)[1]
    heard[:, first] = 0.0  # the first coming of every bit is lost, the others tell it all
    np.testing.assert_array_equal(code.decode(heard).message, message)


def test_the_triangle_is_read_by_columns() -> None:
    assert triangle(6).tolist() == [0, 3, 5, 1, 4, 2]
    assert triangle(5).tolist() == [0, 3, 1, 4, 2]
    assert sorted(triangle(1000)) == list(range(1000))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: polar(512, 1000),
        lambda: polar(600, 512),
        lambda: polar(100, 2048),
        lambda: polar(100, 128, construction="luck"),
        lambda: polar(100, 128, paths=33),
        lambda: nr_polar(19, 100),
        lambda: nr_polar(100, 105),
        lambda: nr_polar(100, 200, link="sideways"),
        lambda: nr_polar(141, 500, link="downlink"),
        lambda: Polar(12, np.arange(3), np.arange(12)),
    ],
)
def test_what_is_no_polar_code_is_refused(wrong: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        wrong()
