"""The spelling alphabet: every letter becomes a word that is hard to mishear."""

from bruit.errors import InvalidArgument

NAMES = """
Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo Sierra
Tango Uniform Victor Whiskey Xray Yankee Zulu
"""
WORDS = tuple(NAMES.split())
"""One word per letter, in the order of the letters. [ICAO Annex 10]"""

LETTERS = {word.lower(): word[0] for word in WORDS} | {"alpha": "A", "juliet": "J", "x-ray": "X"}


def spell(text: str) -> str:
    """The text spelt in code words: ERREUR is Echo Romeo Romeo Echo Uniform Romeo."""
    wrong = next((letter for letter in text.upper() if not "A" <= letter <= "Z"), None)
    if wrong is not None or not text:
        raise InvalidArgument(f"{text!r} cannot be spelt: give letters A to Z, without accents or spaces")
    return " ".join(WORDS[ord(letter) - ord("A")] for letter in text.upper())


def unspell(words: str) -> str:
    """The text from spelt code words; refuses a word that is not in the alphabet."""
    wrong = next((word for word in words.split() if word.lower() not in LETTERS), None)
    if wrong is not None or not words.split():
        raise InvalidArgument(f"{wrong or words!r} is not in the spelling alphabet: {' '.join(WORDS)}")
    return "".join(LETTERS[word.lower()] for word in words.split())
