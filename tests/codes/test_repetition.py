"""The repetition code: worked example S1.4, its limit, votes, log-likelihoods, bad input."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law, binomial_window

import bruit
from bruit.codes import Repetition
from bruit.errors import DecodingFailure, InvalidArgument


def bits(text: str) -> np.ndarray:
    return np.array([int(letter) for letter in text if letter != " "], np.uint8)


def test_the_lecture_s_example() -> None:
    code = Repetition(3, k=6)
    assert code.encode(bits("011010")).tolist() == bits("000 111 111 000 111 000").tolist()
    decoded = code.decode(bits("100 111 110 001 110 000"))
    assert decoded.message.tolist() == bits("011010").tolist()
    assert decoded.positions.tolist() == [0, 8, 11, 14]
    assert decoded.corrected == 4
    assert decoded.decoded
    assert code.rate == 1 / 3


@given(st.integers(1, 9), st.integers(2, 7), st.data())
def test_up_to_half_the_copies_may_be_wrong(times: int, symbols: int, data: Any) -> None:
    code = Repetition(times, k=2, symbols=symbols)
    message = np.array(data.draw(st.lists(st.integers(0, symbols - 1), min_size=2, max_size=2)))
    word = code.encode(message)
    wrong = data.draw(st.sets(st.integers(0, times - 1), max_size=(times - 1) // 2))
    for place in wrong:
        word[place] = (word[place] + 1) % symbols
    decoded = code.decode(word)
    assert decoded.decoded
    assert decoded.message.tolist() == message.tolist()
    assert decoded.corrected == len(wrong)


def test_a_tie_is_a_stated_failure_for_two_and_for_more_symbols() -> None:
    two = Repetition(4).decode([[0, 0, 1, 1], [0, 1, 1, 1]])
    assert two.decoded.tolist() == [False, True]
    assert two.corrected.tolist() == [0, 1]
    assert two.word.tolist() == [[0, 0, 1, 1], [1, 1, 1, 1]]
    assert not Repetition(3, symbols=3).decode([2, 1, 0]).decoded
    assert Repetition(4, symbols=3).decode([2, 1, 0, 1]).message.tolist() == [1]
    with pytest.raises(DecodingFailure, match="1 of 2 words, the first at 0"):
        Repetition(2).decode([[0, 1], [1, 1]], raise_on_failure=True)


def test_log_likelihoods_add_up_so_one_sure_copy_beats_two_doubtful_ones() -> None:
    decoded = Repetition(3).decode([[-0.1, -0.2, 5.0], [-0.1, -0.2, 0.1]])
    assert decoded.message.tolist() == [[0], [1]]
    assert decoded.corrected.tolist() == [2, 1]
    assert not Repetition(2).decode([np.inf, -np.inf]).decoded
    assert not Repetition(2).decode([0.0, 0.0]).decoded


@pytest.mark.parametrize(
    "received",
    [[0, 1], [0, 1, 2], [0, -1, 1], np.zeros((0, 3), int), [0.0, np.nan, 1.0], ["0", "1", "1"], 1, []],
)
def test_bad_words_are_refused(received: Any) -> None:
    with pytest.raises(InvalidArgument):
        Repetition(3).decode(received)


def test_log_likelihoods_are_refused_where_there_are_more_symbols() -> None:
    with pytest.raises(InvalidArgument, match="two symbols"):
        Repetition(3, symbols=4).decode([0.1, 0.2, 0.3])


@pytest.mark.parametrize("arguments", [{"times": 0}, {"times": 3, "k": 0}, {"times": 3, "symbols": 1}])
def test_codes_that_cannot_be(arguments: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument):
        Repetition(**arguments)


def test_over_a_binary_channel_log_likelihoods_say_what_the_votes_say() -> None:
    channel = bruit.channels.binary(error=0.2)
    received = np.array([[int(bit) for bit in f"{number:05b}"] for number in range(32)])
    heard, voted = Repetition(5).decode(channel.log_likelihood(received)), Repetition(5).decode(received)
    assert heard.message.tolist() == voted.message.tolist()
    assert heard.corrected.tolist() == voted.corrected.tolist()


def test_three_copies_fail_as_often_as_the_binomial_law_says() -> None:
    sent = np.zeros((262_144, 1), np.uint8)
    channel, code = bruit.channels.binary(error=0.1), Repetition(3)
    decoded = code.decode(channel.send(code.encode(sent), rng=np.random.default_rng(1)))
    counts = np.bincount(decoded.corrected * 2 + decoded.message[:, 0], minlength=4)
    assert_law(counts, [0.9**3, 0.1**3, 3 * 0.9**2 * 0.1, 3 * 0.9 * 0.1**2])


def test_repeating_a_randomised_answer_is_the_composition_attack() -> None:
    channel = bruit.channels.symmetric(4, epsilon=1.0)
    repeated = channel.repeat(25)
    assert repeated.epsilon == 25 * channel.epsilon
    truth = np.random.default_rng(2).integers(0, 4, (4000, 1))
    code = Repetition(25, symbols=4)
    found = code.decode(channel.send(code.encode(truth), rng=np.random.default_rng(3)))
    alone = channel.send(truth, rng=np.random.default_rng(3))
    keep = channel.keep / bruit.channels.ONE
    assert (alone == truth).sum() <= binomial_window(4000, keep, 1e-9)[1]
    assert (found.message == truth).sum() > binomial_window(4000, 0.85, 1e-9)[0]
