"""What every code shares: symbols and log-likelihoods at the door, and what a decoder says."""

from typing import Any

import numpy as np
import pytest

from bruit import codes
from bruit.codes import Bch, Code, Decoded, Hamming, ReedSolomon, Repetition
from bruit.codes.word import as_log_likelihoods, as_symbols, is_soft, read_only
from bruit.errors import DecodingFailure, InvalidArgument

BLOCK_CODES: list[Code] = [Repetition(3), Hamming(3), Hamming(4, extended=True), ReedSolomon(15, 9), Bch(15, 7)]


@pytest.mark.parametrize("code", BLOCK_CODES, ids=str)
def test_one_word_and_a_batch_have_the_same_shape_of_answer(code: Any) -> None:
    messages = np.random.default_rng(1).integers(0, code.symbols, (2, 3, code.k))
    words = code.encode(messages)
    assert words.shape == (2, 3, code.n)
    assert code.rate == code.k / code.n
    many, one = code.decode(words), code.decode(words[1, 2])
    assert isinstance(one, Decoded)
    assert many.message.tolist() == messages.tolist()
    assert one.message.tolist() == messages[1, 2].tolist()
    assert many.decoded.shape == many.corrected.shape == many.checks.shape == (2, 3)
    assert np.shape(one.decoded) == np.shape(one.corrected) == np.shape(one.checks) == ()
    assert one.positions.size == 0
    assert [place.size for place in many.positions] == [0] * 6


@pytest.mark.parametrize("code", BLOCK_CODES, ids=str)
def test_a_decoder_leaves_what_it_was_given_alone(code: Any) -> None:
    received = np.random.default_rng(2).integers(0, code.symbols, (50, code.n)).astype(np.uint8)
    before = received.copy()
    code.decode(received)
    assert (received == before).all()


@pytest.mark.parametrize("code", BLOCK_CODES, ids=str)
@pytest.mark.parametrize("what", ["encode", "decode"])
def test_every_code_refuses_what_is_no_word_of_it(code: Any, what: Any) -> None:
    length = code.k if what == "encode" else code.n
    for wrong in (
        np.zeros((2, length + 1), int),
        np.zeros((0, length), int),
        np.full(length, code.symbols),
        np.full(length, -1),
        np.full(length, np.nan),
        np.array(0),
    ):
        with pytest.raises(InvalidArgument):
            getattr(code, what)(wrong)


def test_symbols_become_the_smallest_type_and_keep_their_value() -> None:
    for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int64, np.uint64, bool):
        assert as_symbols(np.array([0, 1], kind), 2, symbols=256, what="words").dtype == np.uint8
    assert as_symbols([300, 4], 2, symbols=512, what="words").tolist() == [300, 4]
    assert as_symbols(bytearray(b"ab"), 2, symbols=256, what="words").tolist() == [97, 98]
    for wrong in (np.array([0, -1], np.int8), np.array([0, 256]), np.array([0, 2**63], np.uint64), "ab", [None, 1]):
        with pytest.raises(InvalidArgument):
            as_symbols(wrong, 2, symbols=256, what="words")


def test_log_likelihoods_may_be_certain_but_not_unknown() -> None:
    assert as_log_likelihoods([np.inf, -np.inf], 2).tolist() == [np.inf, -np.inf]
    with pytest.raises(InvalidArgument, match="NaN"):
        as_log_likelihoods([np.nan, 0], 2)
    assert is_soft([0.5])
    assert not is_soft([1])
    assert not is_soft(b"1")


def test_a_failure_says_how_many_and_where() -> None:
    answer = Decoded(
        np.zeros((3, 1)), np.zeros((3, 2)), np.zeros((3, 2)), np.zeros(3, int), np.array([True, False, False])
    )
    with pytest.raises(DecodingFailure, match="2 of 3 words, the first at 1"):
        answer.raised("this code")


def test_a_read_only_view_cannot_be_written_and_its_source_can() -> None:
    source = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        read_only(source)[0] = 1
    source[0] = 1


def test_the_names_offered_are_sorted_and_there() -> None:
    assert codes.__all__ == sorted(codes.__all__)
    assert all(hasattr(codes, name) for name in codes.__all__)
