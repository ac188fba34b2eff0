"""Binary BCH codes: the tables of sizes and generators, galois as a live oracle, at and beyond the limit, bad input."""

from typing import Any

import galois
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.codes import Bch, Hamming
from bruit.errors import DecodingFailure, InvalidArgument

SIZES = [(7, 4, 1), (15, 11, 1), (15, 7, 2), (15, 5, 3), (31, 16, 3), (31, 11, 5), (63, 45, 3), (127, 64, 10)]
LARGE = [(255, 131, 18), (511, 493, 2), (1023, 1003, 2)]


@pytest.mark.parametrize(("n", "k", "t"), SIZES + LARGE)
def test_sizes_and_corrections_are_those_of_the_tables(n: int, k: int, t: int) -> None:
    code = Bch(n, k)
    assert code.corrects == t
    values = code.field.evaluate(code.generator, code.field.power(np.arange(1, 2 * t + 1)))
    assert not values.any()
    assert set(code.generator.tolist()) == {0, 1}
    assert code.generator.size == n - k + 1


def test_the_generators_printed_in_textbooks() -> None:
    assert int("".join(map(str, Bch(15, 7).generator)), 2) == 0o721
    assert int("".join(map(str, Bch(15, 5).generator)), 2) == 0o2467
    assert int("".join(map(str, Bch(31, 16).generator)), 2) == 0o107657
    assert int("".join(map(str, Bch(63, 45).generator)), 2) == 0o1701317


def test_galois_agrees_on_words_and_corrections() -> None:
    field = galois.GF(16, irreducible_poly=0x13, primitive_element=2, compile="python-calculate")
    peer, code = galois.BCH(15, 7, extension_field=field), Bch(15, 7)
    rng = np.random.default_rng(15)
    messages = rng.integers(0, 2, (5, 7))
    words = code.encode(messages)
    assert words.tolist() == np.asarray(peer.encode(messages)).tolist()
    for errors in range(3):
        received = words.copy()
        for row in received:
            row[rng.choice(15, errors, replace=False)] ^= 1
        assert code.decode(received).message.tolist() == np.asarray(peer.decode(received)).tolist() == messages.tolist()


@given(st.sampled_from([Bch(n, k) for n, k, _ in SIZES] + [Bch(20, 10, bits=5), Bch(50, 32)]), st.data())
def test_errors_and_erasures_within_the_limit_are_corrected(code: Bch, data: Any) -> None:
    message = data.draw(st.lists(st.integers(0, 1), min_size=code.k, max_size=code.k))
    word = code.encode(message)
    assert word[: code.k].tolist() == message
    places = data.draw(st.permutations(range(code.n)))
    lost = data.draw(st.integers(0, 2 * code.corrects))
    wrong = data.draw(st.integers(0, (2 * code.corrects - lost) // 2))
    received = word.copy()
    received[list(places[:wrong])] ^= 1
    for place in places[wrong : wrong + lost]:
        received[place] = data.draw(st.integers(0, 1))
    decoded = code.decode(received, erasures=places[wrong : wrong + lost])
    assert decoded.decoded
    assert decoded.word.tolist() == word.tolist()
    assert decoded.corrected == (received != word).sum()


@pytest.mark.parametrize(("n", "k"), [(15, 5), (15, 7)])
def test_every_word_is_decoded_exactly_when_a_codeword_is_near_enough(n: int, k: int) -> None:
    code = Bch(n, k)
    book = code.encode((np.arange(2**k)[:, None] >> np.arange(k)) & 1).astype(int)
    received = (np.arange(2**n)[:, None] >> np.arange(n) & 1)[::7]
    distances = received.sum(axis=1)[:, None] + book.sum(axis=1) - 2 * (received @ book.T)
    decoded = code.decode(received)
    assert decoded.decoded.tolist() == (distances.min(axis=1) <= code.corrects).tolist()
    good = decoded.decoded
    assert decoded.word[good].tolist() == book[distances.argmin(axis=1)][good].tolist()
    assert decoded.word[~good].tolist() == received[~good].tolist()
    assert 0 < good.mean() < 1


def test_one_correction_is_a_hamming_code() -> None:
    code = Bch(15, 11)
    rows = tuple("".join(map(str, row)) for row in code.encode(np.eye(11, dtype=int))[:, 11:].tolist())
    same = Hamming(4, rows=rows)
    received = np.random.default_rng(1).integers(0, 2, (200, 15))
    assert code.decode(received).word.tolist() == same.decode(received).word.tolist()


def test_failures_can_be_raised() -> None:
    code = Bch(15, 7)
    every = np.arange(2**15)[:, None] >> np.arange(15) & 1
    far = every[np.flatnonzero(~code.decode(every).decoded)[0]]
    with pytest.raises(DecodingFailure):
        code.decode(far, raise_on_failure=True)


@pytest.mark.parametrize("arguments", [(15, 8), (15, 15), (15, 0), (1 << 16, 5), (7, 3)])
def test_codes_that_cannot_be(arguments: tuple[int, int]) -> None:
    with pytest.raises(InvalidArgument):
        Bch(*arguments)


def test_a_size_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(InvalidArgument, match="k may be 1, 5, 7, 11"):
        Bch(15, 8)


@pytest.mark.parametrize("received", [[0] * 14, [2] * 15, [0.5] * 15, np.zeros((0, 15), int)])
def test_bad_words_are_refused(received: Any) -> None:
    with pytest.raises(InvalidArgument):
        Bch(15, 7).decode(received)
