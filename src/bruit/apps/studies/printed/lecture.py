"""The worked examples of the lecture (S1): entropies, codes, two coins, two months' salaries."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from bruit.apps.studies.printed.rows import GIVEN, Printed, spaced
from bruit.apps.studies.trees import entropies
from bruit.codes import Hamming, Luhn, Nir, Parity, ReedSolomon, Repetition, unspell
from bruit.codes.reed_solomon.worked_example import explain, polynomial
from bruit.local import two_coins

LETTERS = (
    ("A", "65", "10000010", "The lecture calls it B (erratum E5)."),
    ("B", "66", "10000100", "The lecture calls it C (erratum E5)."),
    ("a", "97", "11000011", ""),
)
YES = 1
"""The place of yes among the answers."""

JANUARY, FEBRUARY = (100, 55_000), (101, 56_000)
NOISED_JANUARY, NOISED_FEBRUARY = (102, 55_551), (97, 55_975)
"""Employees and mean salary of two months, exact and noised."""


def rows() -> Iterator[Printed]:
    """Every number of the lecture."""
    yield from tree_rows()
    yield from detecting_rows()
    yield from repetition_rows()
    yield from hamming_rows()
    yield from reed_solomon_rows()
    yield from privacy_rows()


def tree_rows() -> Iterator[Printed]:
    """Two patients, and the entropies of three vectors of counts."""
    shown = "6, 148, 72, 35, 0, 33.6, 0.627, 50, 1 and 1, 85, 66, 29, 0, 26.6, 0.351, 31, 0"
    why = "They show what a row is; the study learns from 442 patients that come with scikit-learn."
    yield Printed("S1.1", "two patients of the table of diabetics", shown, GIVEN, why, "boosting")
    rounded = "Rounded in the lecture, whose program adds 1e-9 inside the logarithm (erratum E4)."
    for (name, value), theirs in zip(entropies().items(), ("1", "0.86", "0"), strict=True):
        counts = name.removeprefix("entropy_").replace("_", ", ")
        yield Printed("S1.1", f"entropy of ({counts})", theirs, f"{value:.3g}", rounded if theirs == "0.86" else "")


def detecting_rows() -> Iterator[Printed]:
    """Parity, Luhn's formula, the social-security number, the riddle."""
    for letter, number, word, why in LETTERS:
        ours = Parity().complete(f"{int(number):07b}")
        yield Printed("S1.3", f"parity of {number}, the letter {letter}", word, ours, why)
    why = "The lecture leaves it to the reader."
    yield Printed("S1.3", "bits of a character from 0 to 127", "a question", f"{(127).bit_length()}", why)
    answers = ", ".join("yes" if each else "no" for each in parity_answers())
    yield Printed("S1.3", "parity: is one error corrected, are two detected", "a question", answers, why)
    for number in ("972-487-086", "927-487-086"):
        said = "right" if Luhn().valid(number) else "wrong"
        yield Printed("S1.3", f"{number} by Luhn's formula", "a question", said, "The lecture leaves it to the reader.")
    riddle = "Écho, Roméo, Roméo, Écho, Uniforme, Roméo"
    yield Printed("S1.3", riddle, "a question", unspell(riddle), "The lecture leaves it to the reader.")
    rates = (
        ("parity", "87.5 %", Parity().rate),
        ("Luhn's digit of a card", "93.8 %", Luhn(16).rate),
        ("the social-security key", "86.7 %", Nir().rate),
    )
    for name, theirs, rate in rates:
        yield Printed("S1.3", f"rate of {name}", theirs, f"{float(rate):.1%}".replace("%", " %"))


def parity_answers() -> tuple[bool, bool]:
    """Whether parity corrects one wrong bit, and whether it notices two, of the word of an A."""
    word = np.array(_bits(Parity().complete("1000001")))
    once, twice = word.copy(), word.copy()
    once[0] ^= 1
    twice[:2] ^= 1
    return bool(Parity().decode(once).decoded), not Parity().valid(_text(twice))


def repetition_rows() -> Iterator[Printed]:
    """The repetition code, and the error ratios of three media."""
    code = Repetition(3, k=6)
    sent = _in_threes(code.encode(_bits("011010")))
    yield Printed("S1.4", "011010 sent three times", "000.111.111.000.111.000", sent)
    heard = _bits("100111110001110000")
    said = "".join(map(str, code.decode(heard).message.tolist()))
    why = "The lecture leaves it to the reader."
    yield Printed("S1.4", "100.111.110.001.110.000 decoded", "a question", said, why)
    yield Printed("S1.4", "rate of the repetition code", "33.3 %", f"{code.rate:.1%}".replace("%", " %"))
    why = "Orders of magnitude that the lecture quotes; the study tells what each code makes of them."
    for medium, ratio in (("optical discs", "1e-5"), ("telephone lines", "1e-6"), ("fibres", "1e-9")):
        yield Printed("S1.4", f"bit error ratio of {medium}", ratio, GIVEN, why, "codes")


def hamming_rows() -> Iterator[Printed]:
    """The word 1011 through the Hamming code of the lecture."""
    code = Hamming(3, rows=("110", "101", "011", "111"))
    sent, heard = code.encode(_bits("1011")), _bits("1001010")
    yield Printed("S1.5", "code word of 1011", "1011010", _text(sent))
    yield Printed("S1.5", "syndrome of that word", "000", _text(code.syndromes(sent)))
    yield Printed("S1.5", "syndrome of 1001010", "011", _text(code.syndromes(heard)))
    yield Printed("S1.5", "1001010 corrected", "1011010", _text(code.decode(heard).word))
    why = "The lecture's second print of H leaves the last row out (erratum E9)."
    yield Printed("S1.5", "last row of the check matrix", "001", _text(code.check_matrix[-1]), why)


def reed_solomon_rows() -> Iterator[Printed]:
    """The message 3 through RS(3, 1), one symbol wrong."""
    code = ReedSolomon(3, 1)
    field, steps = code.field, explain(code, [1, 3, 3])
    assert steps.word is not None
    table = " ".join("".join(str(int(field.multiply(a, b))) for b in range(4)) for a in range(4))
    yield Printed("S1.6", "products in the field of four, row by row", "0000 0123 0231 0312", table)
    sums = " ".join("".join(str(int(field.evaluate([1, b], a))) for b in range(4)) for a in range(4))
    yield Printed("S1.6", "sums in the field of four, row by row", "0123 1032 2301 3210", sums)
    powers = ", ".join(str(int(field.power(each))) for each in (1, 2, 3))
    yield Printed(
        "S1.6", "powers of 2 in the field of four, all but 0", "1, 2, 3", powers, "In the order of the powers."
    )
    yield Printed("S1.6", "generator", "x^2 + x + 1", polynomial(code.generator))
    yield Printed("S1.6", "code word of 3", "3x^2 + 3x + 3", polynomial(code.encode([3])))
    yield Printed("S1.6", "syndromes of x^2 + 3x + 3", "1, 3", ", ".join(map(str, steps.syndromes)))
    yield Printed("S1.6", "locator", "1 + 3x", polynomial(steps.locator[::-1], rising=True))
    yield Printed("S1.6", "its root", "2", str(steps.roots[0]))
    yield Printed("S1.6", "place and value of the error", "2, 2", f"{steps.places[0]}, {steps.values[0]}")
    yield Printed("S1.6", "corrected", "3x^2 + 3x + 3", polynomial(steps.word))


def privacy_rows() -> Iterator[Printed]:
    """Two coins, what two months' means give away, and Chrome's reports."""
    given_yes, given_no = (Fraction(float(np.asarray(each)[YES])) for each in unmixing())
    yield Printed("S1.8", "chance of a yes given yes and given no", "3/4, 1/4", f"{given_yes}, {given_no}")
    slope = 1 / (given_yes - given_no)
    yield Printed("S1.8", "share of yes from the share r of reports", "2r − 1/2", f"{slope}r − {slope * given_no}")
    ratio = f"{given_yes / given_no}"
    yield Printed("S1.8", "largest ratio of chances", "3", ratio, "Printed with OUI twice (erratum E10).")
    exact, noised = (_difference(*months) for months in ((JANUARY, FEBRUARY), (NOISED_JANUARY, NOISED_FEBRUARY)))
    yield Printed("S1.9", "salary from (100, 55000) and (101, 56000)", "156000", f"{exact}")
    why = "The lecture leaves it to the reader: the noise hides the salary."
    yield Printed("S1.9", "salary from (102, 55551) and (97, 55975)", "a question", spaced(noised), why, "noise")
    why = "Quoted from others; the thesis says a dozen million, and the study draws 13 million."
    yield Printed("S1.10", "reports of Chrome homepages", "14 million", GIVEN, why, "rappor")


def unmixing() -> tuple[Any, Any]:
    """The chance that a report supports each answer, of those who have it and of the others."""
    support = two_coins().support
    return support.true, support.false


def _difference(before: tuple[int, int], after: tuple[int, int]) -> int:
    """The sum of all salaries after less that before, from counts and means."""
    return after[0] * after[1] - before[0] * before[1]


def _bits(text: str) -> list[int]:
    return [int(letter) for letter in text]


def _text(bits: Any) -> str:
    return "".join(map(str, np.asarray(bits).tolist()))


def _in_threes(bits: Any) -> str:
    text = _text(bits)
    return ".".join(text[at : at + 3] for at in range(0, len(text), 3))
