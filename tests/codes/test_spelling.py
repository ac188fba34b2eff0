"""The spelling alphabet of S1.3."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.codes import spell, unspell
from bruit.errors import InvalidArgument


def test_the_lecture_s_word() -> None:
    assert spell("ERREUR") == "Echo Romeo Romeo Echo Uniform Romeo"
    assert unspell("Echo Romeo Romeo Echo Uniform Romeo") == "ERREUR"


def test_the_lecture_s_riddle_as_it_prints_it() -> None:
    assert unspell("Écho, Roméo, Roméo, Écho, Uniforme, Roméo") == "ERREUR"


@given(st.text(string.ascii_uppercase, min_size=1))
def test_there_and_back(text: str) -> None:
    assert unspell(spell(text)) == text


@pytest.mark.parametrize("text", ["", "É", "A B", "1"])
def test_what_cannot_be_spelt(text: str) -> None:
    with pytest.raises(InvalidArgument):
        spell(text)


@pytest.mark.parametrize("words", ["", "Anna", "Echo Rome"])
def test_words_that_are_not_in_the_alphabet(words: str) -> None:
    with pytest.raises(InvalidArgument):
        unspell(words)
