"""The spelling alphabet: every letter becomes a word that is hard to mishear."""

import unicodedata

from bruit.core.arguments import text as checked_text
from bruit.errors import InvalidArgument

NAMES = """
Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo Sierra
Tango Uniform Victor Whiskey Xray Yankee Zulu
"""
WORDS = tuple(NAMES.split())
"""One word per letter, in the order of the letters. [ICAO Annex 10]"""

LETTERS = {word.lower(): word[0] for word in WORDS} | {
    "alpha": "A",
    "juliet": "J",
    "juliette": "J",
    "novembre": "N",
    "uniforme": "U",
    "x-ray": "X",
    "zoulou": "Z",
}
"""The letter of each word, as it is also written in French."""


def spell(text: str) -> str:
    """The text spelt in code words: ERREUR is Echo Romeo Romeo Echo Uniform Romeo."""
    checked_text(text, "text")
    wrong = next((letter for letter in text.upper() if not "A" <= letter <= "Z"), None)
    if wrong is not None or not text:
        raise InvalidArgument(f"{text!r} cannot be spelt: give letters A to Z, without accents or spaces")
    return " ".join(WORDS[ord(letter) - ord("A")] for letter in text.upper())


def unspell(words: str) -> str:
    """The letters of spelt words, with or without accents and commas; a word that is not in the alphabet is refused."""
    heard = checked_text(words, "words").replace(",", " ").split()
    wrong = next((word for word in heard if _plain(word) not in LETTERS), None)
    if wrong is not None or not heard:
        raise InvalidArgument(f"{wrong or words!r} is not in the spelling alphabet: {' '.join(WORDS)}")
    return "".join(LETTERS[_plain(word)] for word in heard)


def _plain(word: str) -> str:
    """A word in small letters without accents."""
    parts = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))
