"""Hamming codes: worked example S1.5, structure of every size, packed kernels against matrices, bad input."""

from typing import Any

import galois
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.codes import Hamming
from bruit.codes.block import _hamming_kernels as kernels
from bruit.errors import DecodingFailure, InvalidArgument


def bits(text: str) -> list[int]:
    return [int(letter) for letter in text]


def test_the_lecture_s_example() -> None:
    code = Hamming(3, rows=("110", "101", "011", "111"))
    assert code == Hamming(3, rows=("110", "101", "011", "111"))
    assert code.encode(bits("1011")).tolist() == bits("1011010")
    assert code.syndromes(bits("1001010")).tolist() == bits("011")
    decoded = code.decode(bits("1001010"))
    assert decoded.word.tolist() == bits("1011010")
    assert decoded.message.tolist() == bits("1011")
    assert decoded.positions.tolist() == [2]
    assert decoded.corrected == 1
    assert code.rate == 4 / 7


def test_the_lecture_s_rows_are_the_default() -> None:
    assert Hamming(3).parity.tolist() == [bits("110"), bits("101"), bits("011"), bits("111")]
    assert Hamming(3).check_matrix[-1].tolist() == bits("001")  # the row the lecture forgot


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("checks", range(2, 9))
def test_sizes_generator_and_checks_fit_together(checks: int, extended: bool) -> None:
    code = Hamming(checks, extended=extended)
    assert (code.n, code.k) == (2**checks - 1 + extended, 2**checks - 1 - checks)
    assert not (code.generator.astype(int) @ code.check_matrix % 2).any()
    assert len({tuple(row) for row in code.check_matrix.tolist()}) == code.n
    assert code.check_matrix.any(axis=1).all()
    if extended:
        assert (code.generator.sum(axis=1) % 2 == 0).all()


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("checks", [2, 3, 4, 7, 8, 9])
def test_words_and_syndromes_are_products_with_the_matrices(checks: int, extended: bool) -> None:
    rng = np.random.default_rng(checks)
    code = Hamming(checks, extended=extended)
    messages = rng.integers(0, 2, (3, 20, code.k))
    words = code.encode(messages)
    assert words.tolist() == (messages @ code.generator % 2).tolist()
    noise = rng.integers(0, 2, (3, 20, code.n))
    assert code.syndromes(noise).tolist() == (noise @ code.check_matrix % 2).tolist()


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("checks", [2, 3, 5, 8])
def test_every_single_error_is_corrected(checks: int, extended: bool) -> None:
    code = Hamming(checks, extended=extended)
    message = np.random.default_rng(checks).integers(0, 2, code.k)
    received = code.encode(message) ^ np.eye(code.n, dtype=np.uint8)
    decoded = code.decode(received)
    assert decoded.decoded.all()
    assert (decoded.message == message).all()
    assert [place.tolist() for place in decoded.positions] == [[place] for place in range(code.n)]


@pytest.mark.parametrize("checks", [2, 3, 5])
def test_the_extended_code_states_every_double_error_and_the_plain_one_makes_it_worse(checks: int) -> None:
    for extended in (True, False):
        code = Hamming(checks, extended=extended)
        word = code.encode(np.ones(code.k, int))
        for first in range(code.n):
            for second in range(first):
                received = word.copy()
                received[[first, second]] ^= 1
                decoded = code.decode(received)
                assert decoded.decoded != extended
                assert (decoded.word != word).sum() == (2 if extended else 3)
                if extended:
                    assert decoded.corrected == 0


@given(st.permutations([3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15]), st.integers(0, 14), st.integers(0, 2**11 - 1))
def test_any_order_of_rows(rows: list[int], place: int, number: int) -> None:
    code = Hamming(4, rows=tuple(rows))
    message = bits(f"{number:011b}")
    word = code.encode(message)
    word[place] ^= 1
    assert code.decode(word).message.tolist() == message
    assert code.syndromes(word).tolist() == code.check_matrix[place].tolist()


def test_fewer_rows_give_the_shortened_code() -> None:
    code = Hamming(4, rows=("1100", "0011", "1111"))
    assert (code.n, code.k) == (7, 3)
    word = code.encode([1, 0, 1])
    word[5] ^= 1
    assert code.decode(word).message.tolist() == [1, 0, 1]
    assert not code.decode([1, 0, 0, 0, 1, 1, 0]).decoded  # syndrome 1010 is in no row


def test_the_same_words_as_galois_for_any_cyclic_form() -> None:
    # A binary BCH code with one correction is a Hamming code: state its parity rows and compare words.
    field = galois.GF(32, irreducible_poly=0x25, primitive_element=2, compile="python-calculate")
    peer = galois.BCH(31, 26, extension_field=field)
    rows = tuple("".join(map(str, row)) for row in np.asarray(peer.G)[:, 26:].tolist())
    code = Hamming(5, rows=rows)
    rng = np.random.default_rng(31)
    messages = rng.integers(0, 2, (40, 26))
    words = code.encode(messages)
    assert words.tolist() == np.asarray(peer.encode(messages)).tolist()
    noisy = words ^ (rng.random(words.shape) < 0.03)
    known = (noisy != words).sum(axis=1) <= 1
    assert known.sum() > 10
    assert code.decode(noisy).message[known].tolist() == np.asarray(peer.decode(noisy))[known].tolist()


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("checks", [3, 7, 8, 10])
def test_packed_kernels_agree_with_bits(checks: int, extended: bool) -> None:
    rng = np.random.default_rng(checks)
    code = Hamming(checks, extended=extended)
    messages = rng.integers(0, 2, (40, code.k), dtype=np.uint8)
    words = code.encode(messages)
    packed = code.encode_packed(np.packbits(messages, axis=1))
    assert packed.tolist() == np.packbits(words, axis=1).tolist()
    for row in range(1, 40):
        words[row, rng.integers(code.n)] ^= 1
    fixed, place = code.decode_packed(np.packbits(words, axis=1))
    assert fixed.tolist() == packed.tolist()
    assert place[0] == -1
    assert place[1:].tolist() == [int(p[0]) for p in code.decode(words).positions[1:]]


def test_look_ups_and_masks_say_the_same() -> None:
    rng = np.random.default_rng(8)
    code = Hamming(6, extended=True)
    words = rng.integers(0, 256, (500, 8), dtype=np.uint8)
    answers = []
    for decoder, table in ((kernels.decode_short, code._table), (kernels.decode_long, code._masks)):
        out, place = np.empty_like(words), np.empty(500, np.int32)
        decoder(words, table, code._position, out, place)
        answers.append((out.tolist(), place.tolist()))
    assert answers[0] == answers[1]
    assert set(answers[0][1]) & {-2} == {-2}


def test_bits_after_the_message_do_not_matter_when_it_is_packed() -> None:
    code = Hamming(3)
    assert code.encode_packed(np.array([[0b10111111]], np.uint8)).tolist() == [[0b10110100]]


def test_failures_can_be_raised() -> None:
    code = Hamming(3, extended=True)
    with pytest.raises(DecodingFailure, match="1 of 2 words, the first at 1"):
        code.decode([[0] * 8, [1, 1, 0, 0, 0, 0, 0, 0]], raise_on_failure=True)


@pytest.mark.parametrize("received", [[0] * 6, [2] * 7, [-1] * 7, np.zeros((0, 7), int), [0.5] * 7, "1001010"])
def test_bad_words_are_refused(received: Any) -> None:
    with pytest.raises(InvalidArgument):
        Hamming(3).decode(received)


@pytest.mark.parametrize(
    "packed", [np.zeros((2, 2), np.uint8), np.zeros(1, np.uint8), np.zeros((0, 1), np.uint8), [[1]]]
)
def test_bad_packed_words_are_refused(packed: Any) -> None:
    with pytest.raises(InvalidArgument):
        Hamming(3).decode_packed(packed)


@pytest.mark.parametrize(
    "arguments",
    [(1,), (17,), (3, ("110", "110")), (3, ("100",)), (3, ("11",)), (3, ("1a0",)), (3, (8,)), (3, (0,)), (3, ())],
)
def test_codes_that_cannot_be(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidArgument):
        Hamming(*arguments)
