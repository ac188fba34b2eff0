"""Convolutional codes against enumeration of all words, and against themselves."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bruit.codes import Convolutional
from bruit.errors import InvalidArgument

CODES = [
    Convolutional((0o7, 0o5), 9),
    Convolutional((0o171, 0o133), 9),
    Convolutional((0o171, 0o133), 9, ending="open"),
    Convolutional((0o15, 0o17), 9, ending="bitten"),
    Convolutional((0o133, 0o171, 0o165), 9),
    Convolutional((0o561, 0o753), 9),
    Convolutional((0o15,), 9, feedback=0o13),
    Convolutional((0o33,), 9, feedback=0o23, ending="open"),
    Convolutional((0o5, 0o3), 9),
    Convolutional((0o171, 0o133), 9, puncture=("110", "101")),
]


def every_message(code: Convolutional) -> NDArray[np.uint8]:
    return np.array(list(product((0, 1), repeat=code.k)), np.uint8)


def polynomial_words(code: Convolutional, messages: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Each output as the product of message and generator over GF(2), by np.convolve."""
    length = max(g.bit_length() for g in code.generators)
    rows = []
    for message in messages:
        streams = [np.convolve(message, [int(b) for b in f"{g:0{length}b}"]) % 2 for g in code.generators]
        rows.append(np.stack(streams, axis=1).reshape(-1))
    return np.array(rows, np.uint8)


@pytest.mark.parametrize("generators", [(0o7, 0o5), (0o171, 0o133), (0o133, 0o171, 0o165), (0o561, 0o753), (0o5, 0o3)])
def test_words_are_products_of_polynomials(generators: tuple[Any, ...]) -> None:
    code = Convolutional(generators, 12)
    messages = np.random.default_rng(1).integers(0, 2, (50, 12), np.uint8)
    np.testing.assert_array_equal(code.encode(messages), polynomial_words(code, messages))


def test_a_recursive_code_multiplies_back_to_its_message() -> None:
    code = Convolutional((0o15,), 30, feedback=0o13)
    words = code.encode(np.random.default_rng(2).integers(0, 2, (20, 30), np.uint8)).reshape(20, -1, 2)
    for word in words:  # parity · feedback = message · generator
        left = np.convolve(word[:, 1], [1, 0, 1, 1]) % 2
        right = np.convolve(word[:, 0], [1, 1, 0, 1]) % 2
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("code", [c for c in CODES if c.ending != "bitten"], ids=str)
def test_viterbi_finds_the_most_likely_of_all_words(code: Convolutional) -> None:
    words = code.encode(every_message(code))
    heard = np.rint(np.random.default_rng(3).normal(0, 20, (70, code.n)))
    heard[:, 0] = 0  # an erased bit
    scores = heard @ (1.0 - 2.0 * words.T)
    found = code.decode(heard)
    got = np.einsum("ij,ij->i", heard, 1.0 - 2.0 * found.word)
    grain = np.sqrt((heard**2).mean(axis=1)) / 24  # every bit is rounded by half of this at most, twice
    assert (got >= scores.max(axis=1) - grain * code.n).all()
    assert (found.message == every_message(code)[scores.argmax(axis=1)]).all(axis=1).mean() > 0.9


@pytest.mark.parametrize("code", [c for c in CODES if c.ending != "bitten"], ids=str)
@pytest.mark.parametrize("decoder", ["bcjr", "max-log"])
def test_bcjr_equals_the_sum_over_all_words(code: Any, decoder: Any) -> None:
    messages = every_message(code)
    heard = np.random.default_rng(4).normal(0, 2, (5, code.n))
    scores = heard @ (1.0 - 2.0 * code.encode(messages).T) / 2
    combine = np.logaddexp.reduce if decoder == "bcjr" else np.maximum.reduce
    expected = [
        [combine(row[messages[:, i] == 0]) - combine(row[messages[:, i] == 1]) for i in range(code.k)] for row in scores
    ]
    np.testing.assert_allclose(replace(code, decoder=decoder).posterior(heard), expected, rtol=1e-5, atol=1e-5)


@settings(max_examples=40)
@given(
    code=st.sampled_from(CODES),
    k=st.integers(8, 90),
    decoder=st.sampled_from(["viterbi", "bcjr", "max-log"]),
    seed=st.integers(0, 2**32),
)
def test_clean_words_decode_to_their_message(code: Any, k: int, decoder: str, seed: int) -> None:
    code = replace(code, k=k, decoder=decoder)
    messages = np.random.default_rng(seed).integers(0, 2, (3, k), np.uint8)
    decoded = code.decode(code.encode(messages))
    np.testing.assert_array_equal(decoded.message, messages)
    assert not decoded.corrected.any()
    assert decoded.decoded.all()


def test_a_word_does_not_see_its_neighbours_in_the_batch() -> None:
    code = Convolutional((0o171, 0o133), 100)
    heard = np.random.default_rng(5).normal(1, 1.2, (130, code.n))
    heard[7] *= 1000
    together = code.messages(heard)
    np.testing.assert_array_equal(together, [code.messages(word) for word in heard])


def test_four_errors_far_apart_are_corrected_and_counted() -> None:
    code = Convolutional((0o171, 0o133), 100)  # free distance 10
    word = code.encode(np.ones(100, np.uint8))
    received = word.copy()
    received[[3, 4, 5, 6]] ^= 1
    decoded = code.decode(received)
    np.testing.assert_array_equal(decoded.message, 1)
    assert decoded.corrected == 4
    np.testing.assert_array_equal(decoded.positions, [3, 4, 5, 6])


def test_infinite_log_likelihoods_are_certain() -> None:
    code = Convolutional((0o7, 0o5), 20)
    word = code.encode(np.tile([1, 0], 10))
    heard = np.where(word == 1, -np.inf, 1e300)
    heard[::7] = 0.0
    np.testing.assert_array_equal(code.decode(heard).word, word)


@pytest.mark.parametrize(
    ("received", "says"),
    [
        (np.full(44, np.nan), "NaN"),
        (np.zeros(43), "44"),
        (np.zeros((0, 44)), "no word"),
        (np.full(44, 2), "0 to 1"),
    ],
)
def test_bad_words_are_refused_in_a_sentence(received: NDArray[Any], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        Convolutional((0o7, 0o5), 20).decode(received)


@pytest.mark.parametrize(
    "arguments",
    [
        {"generators": (0o7, 0o5), "k": 0},
        {"generators": (), "k": 3},
        {"generators": (1, 1), "k": 3},
        {"generators": (0o7, 0o5), "k": 3, "ending": "loose"},
        {"generators": (0o7, 0o5), "k": 3, "decoder": "guess"},
        {"generators": (0o7, 0o5), "k": 3, "puncture": ("11",)},
        {"generators": (0o7, 0o5), "k": 30, "puncture": ("10", "00")},
        {"generators": (0o15,), "feedback": 0o13, "k": 30, "ending": "bitten"},
    ],
)
def test_codes_that_are_none_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        Convolutional(**arguments)
