"""Short codes by their generator: enumeration, known weights, and what no code of their length could much better."""

from collections.abc import Callable
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import ALARM, binomial_window
from numpy.typing import NDArray
from scipy import integrate, special

from bruit.codes import Bch, Linear, finite_length_limit, golay, linear, quadratic_residue, reed_muller, simulate
from bruit.errors import InvalidArgument


def every_message(k: int) -> NDArray[np.uint8]:
    return (np.arange(1 << k)[:, None] >> np.arange(k) & 1).astype(np.uint8)


def test_golay_has_the_weights_of_golay() -> None:
    weights = np.bincount(golay().encode(every_message(12)).sum(axis=1), minlength=25)
    assert {w: c for w, c in enumerate(weights) if c} == {0: 1, 8: 759, 12: 2576, 16: 759, 24: 1}
    perfect = np.bincount(golay(extended=False).encode(every_message(12)).sum(axis=1), minlength=24)
    assert {w: c for w, c in enumerate(perfect) if c} == {
        0: 1, 7: 253, 8: 506, 11: 1288, 12: 1288, 15: 506, 16: 253, 23: 1
    }  # fmt: skip
    assert sum(comb(23, errors) for errors in range(4)) == 2**11  # every word is within three errors of one


@pytest.mark.parametrize("extended", [True, False])
def test_golay_corrects_three_errors(extended: bool) -> None:
    code, rng = golay(extended=extended), np.random.default_rng(1)
    words = code.encode(code.random_messages(500, rng))
    received = words.copy()
    for row in received:
        row[rng.choice(code.n, 3, replace=False)] ^= 1
    found = code.decode(received)
    np.testing.assert_array_equal(found.word, words)
    assert (found.corrected == 3).all()


def test_four_errors_in_the_extended_golay_code_are_noticed() -> None:
    """A word at distance four from one word of the code is at distance four from six."""
    code, rng = golay(), np.random.default_rng(2)
    received = code.encode(code.random_messages(100, rng))
    for row in received:
        row[rng.choice(24, 4, replace=False)] ^= 1
    assert not code.decode(received).decoded.any()


@pytest.mark.parametrize(("r", "m"), [(0, 3), (1, 5), (2, 5), (3, 6), (4, 4)])
def test_reed_muller_has_its_size_and_distance(r: int, m: int) -> None:
    code = reed_muller(r, m)
    assert (code.n, code.k) == (2**m, sum(comb(m, i) for i in range(r + 1)))
    if code.k <= 16:
        assert code.encode(every_message(code.k))[1:].sum(axis=1).min() == 2 ** (m - r)
    dual = reed_muller(m - r - 1, m).generator if r < m else np.zeros((0, 2**m), np.uint8)
    assert not (code.generator.astype(int) @ dual.T % 2).any()


@pytest.mark.parametrize("code", [golay(), reed_muller(1, 5), reed_muller(2, 4, depth=2)], ids=str)
def test_the_likeliest_word_of_all_is_found(code: Linear) -> None:
    messages, rng = every_message(code.k), np.random.default_rng(3)
    signs = 1 - 2.0 * code.encode(messages)
    heard = (signs[rng.integers(0, len(signs), 400)] + rng.normal(0, 0.8, (400, code.n))).astype(np.float32)
    np.testing.assert_array_equal(code.decode(heard).message, messages[(heard @ signs.T).argmax(axis=1)])


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 2**32))
def test_any_independent_rows_make_a_code(k: int, more: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.hstack([np.eye(k, dtype=np.uint8), rng.integers(0, 2, (k, more), np.uint8)])[
        :, rng.permutation(k + more)
    ]
    mixed = matrix.copy()
    for row in range(k - 1):
        mixed[row] ^= mixed[row + 1]
    code = linear(mixed, depth=k if k <= 5 else 5)
    words = code.encode(every_message(k))
    np.testing.assert_array_equal(code.decode(words).message, every_message(k))
    assert {tuple(word) for word in words} == {tuple(np.array(m) @ matrix % 2) for m in product((0, 1), repeat=k)}


def test_ordered_statistics_come_near_the_normal_approximation() -> None:
    """The extended BCH code (64, 36) with three changes: within 0.1 dB of what nearly no code of its size betters."""
    rows = Bch(63, 36).encode(np.eye(36, dtype=np.uint8))
    code = linear(np.hstack([rows, rows.sum(axis=1, keepdims=True) & 1]), depth=3)
    frame = simulate(code, "gaussian", [2.5], word_errors=3000, words=3000, rng=np.random.default_rng(4))
    assert finite_length_limit(64, 36, word_errors=frame["high"][0]) > 2.5 - 0.3
    assert abs(2.5 - finite_length_limit(64, 36, word_errors=frame["word_error_rate"][0])) < 0.1


def error_of_biorthogonal_words(k: int, level: float) -> float:
    """Word errors of the best decoder of 2^k words, each other one opposite or at right angles.

    ∫_0^∞ φ(x − a) (1 − 2Q(x))^(2^(k−1) − 1) dx words are right, where a² = 2k Eb/N0.
    """
    mean = np.sqrt(2 * k * 10 ** (level / 10))

    def density(x: float) -> float:
        return float(
            np.exp(-((x - mean) ** 2) / 2) / np.sqrt(2 * np.pi) * special.erf(x / np.sqrt(2)) ** (2 ** (k - 1) - 1)
        )

    return 1 - float(integrate.quad(density, 0, mean + 12, limit=400)[0])


@pytest.mark.parametrize("level", [1.0, 3.0])
def test_a_first_order_reed_muller_code_errs_as_biorthogonal_words_do(level: float) -> None:
    frame = simulate(
        reed_muller(1, 5), "gaussian", [level], word_errors=20_000, words=20_000, rng=np.random.default_rng(6)
    )
    low, high = binomial_window(20_000, error_of_biorthogonal_words(6, level), ALARM)
    assert low <= frame["word_errors"][0] <= high


@pytest.mark.stress
def test_the_golay_code_is_within_a_tenth_of_a_decibel_of_its_union_bound() -> None:
    """Σ A_w Q(√(2 w R Eb/N0)) over its weights, which is nearly reached at 5 dB."""
    weights = {8: 759, 12: 2576, 16: 759, 24: 1}
    most, least = (
        sum(count * special.ndtr(-np.sqrt(w * 10 ** (level / 10))) for w, count in weights.items())
        for level in (5.0, 5.1)
    )
    frame = simulate(golay(), "gaussian", [5.0], word_errors=800_000, words=800_000, rng=np.random.default_rng(1))
    assert least < frame["word_error_rate"][0] < most


@pytest.mark.parametrize(
    ("prime", "weights"),
    [(17, {0: 1, 6: 102, 8: 153, 10: 153, 12: 102, 18: 1}),
     (23, {0: 1, 8: 759, 12: 2576, 16: 759, 24: 1}),
     (31, {0: 1, 8: 620, 12: 13888, 16: 36518, 20: 13888, 24: 620, 32: 1})],
)  # fmt: skip
def test_quadratic_residue_codes_have_their_known_weights(prime: int, weights: dict[int, int]) -> None:
    """That of 23 is Golay's, and that of 31 has the weights of the Reed–Muller code RM(2, 5)."""
    code = quadratic_residue(prime)
    every = (np.arange(1 << code.k)[:, None] >> np.arange(code.k) & 1).astype(np.uint8)
    assert dict(zip(*np.unique(code.encode(every).sum(axis=1), return_counts=True), strict=True)) == weights


def test_at_three_decibels_a_good_code_lies_on_the_normal_approximation() -> None:
    code = quadratic_residue(47)
    frame = simulate(code, "gaussian", [3.0], word_errors=60_000, words=60_000, rng=np.random.default_rng(5))
    assert abs(3.0 - finite_length_limit(48, 24, word_errors=frame["word_error_rate"][0])) < 0.1


@pytest.mark.stress
def test_at_three_decibels_what_is_left_is_the_code_s_own() -> None:
    """Four changes find no word that three did not, and both stay within 0.15 dB of the normal approximation."""
    rows = Bch(63, 36).encode(np.eye(36, dtype=np.uint8))
    generator, counts = np.hstack([rows, rows.sum(axis=1, keepdims=True) & 1]), []
    for depth in (3, 4):
        code, rng = linear(generator, depth=depth), np.random.default_rng(5)
        frame = simulate(code, "gaussian", [3.0], word_errors=40_960, words=40_960, rng=rng)
        assert 3.0 - finite_length_limit(64, 36, word_errors=frame["word_error_rate"][0]) < 0.15
        counts.append(frame["word_errors"][0])
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: linear([[1, 0], [1, 0]]),
        lambda: linear([[2, 1]]),
        lambda: linear([1, 0]),
        lambda: linear([[1], [0]]),
        lambda: linear([[1, 0.5]]),
        lambda: golay(depth=6),
        lambda: reed_muller(4, 3),
        lambda: quadratic_residue(29),
        lambda: quadratic_residue(15),
    ],
)
def test_what_is_no_generator_is_refused(wrong: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        wrong()
