"""The parity bit: the table of S1.3 (mended: A is 65), what it notices and what it misses."""

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.codes import Parity
from bruit.errors import InvalidArgument


@pytest.mark.parametrize(("letter", "sent"), [("A", "10000010"), ("B", "10000100"), ("a", "11000011")])
def test_the_lecture_s_table(letter: str, sent: str) -> None:
    assert Parity(7).complete(f"{ord(letter):07b}") == sent
    assert Parity(7).complete(ord(letter)) == int(sent, 2)
    assert Parity(7).valid(sent)


def test_rate_and_chance() -> None:
    assert Parity(7).rate == Fraction(7, 8)
    assert Fraction(int(Parity(7).valid(np.arange(256)).sum()), 256) == Parity(7).chance


@given(st.integers(1, 62), st.data())
def test_an_odd_number_of_errors_is_noticed_an_even_number_is_not(bits: int, data: Any) -> None:
    code = Parity(bits)
    word = code.complete(data.draw(st.integers(0, 2**bits - 1)))
    wrong = data.draw(st.sets(st.integers(0, bits)))
    for place in wrong:
        word ^= 1 << place
    assert code.valid(word) == (len(wrong) % 2 == 0)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda v: np.array(v, np.uint8), lambda v: pl.Series("b", v)])
def test_every_kind_of_column(kind: Any) -> None:
    sent = Parity(7).complete(kind([65, 66, 97]))
    assert list(sent) == [130, 132, 195]
    assert list(Parity(7).valid(sent)) == [True, True, True]
    assert list(Parity(7).valid(kind([130, 131]))) == [True, False]


def test_texts_in_a_list() -> None:
    assert Parity(2).complete(["00", "01", "11"]) == ["000", "011", "110"]
    assert Parity(2).valid(["000", "010"]) == [True, False]


@pytest.mark.parametrize("values", [128, -1, 1.5, "1010", "10000012", [None], ["1000001", 3], pl.Series([1, None])])
def test_what_is_no_word_is_refused(values: Any) -> None:
    with pytest.raises(InvalidArgument):
        Parity(7).complete(values)


@pytest.mark.parametrize("bits", [0, 63])
def test_lengths_that_cannot_be(bits: int) -> None:
    with pytest.raises(InvalidArgument):
        Parity(bits)
