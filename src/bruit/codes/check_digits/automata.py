"""Table-driven check digits: Verhoeff and Damm, which detect every adjacent swap, and those of EAN and ISBN."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.codes.check_digits import _automaton_kernels as kernels
from bruit.codes.check_digits.algorithms import CheckDigits
from bruit.codes.check_digits.column import Column
from bruit.codes.check_digits.words import DIGITS
from bruit.codes.word import settle
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument

EAN_LENGTHS = (8, 12, 13, 14)
ISBN_LENGTHS = (10, 13)


def _verhoeff_moves() -> NDArray[np.uint8]:
    """Products in the group of symmetries of a pentagon, digits permuted by powers of one permutation."""
    a, b = np.arange(10)[:, None], np.arange(10)[None, :]
    turned = np.where(a < 5, a + b, a - b) % 5  # a reflection turns round what follows it
    product = turned + 5 * ((a < 5) != (b < 5))
    permutation = np.array([1, 5, 7, 6, 2, 8, 3, 0, 9, 4])  # [Verhoeff 1969, p. 95]
    powers = [np.arange(10)]
    for _ in range(7):  # its eighth power changes nothing
        powers.append(permutation[powers[-1]])
    return np.stack([product[:, power] for power in powers]).astype(np.uint8)


DAMM = "0317598642 7092154863 4206871359 1750983426 6123045978 3674209581 5869720134 8945362017 9438617205 2581436790"
"""A weakly totally anti-symmetric quasigroup of ten elements.                                  [Damm 2004, p. 111]"""


def _damm_moves() -> NDArray[np.uint8]:
    return np.array([[[int(digit) for digit in row] for row in DAMM.split()]], np.uint8)


def _weighted_moves(weights: list[int], modulus: int) -> NDArray[np.uint8]:
    """State + weight · character, modulo a number of states; characters up to ten where there are eleven states."""
    state, character = np.arange(modulus)[:, None], np.arange(11 if modulus == 11 else 10)[None, :]
    return np.stack([(state + weight * character) % modulus for weight in weights]).astype(np.uint8)


VERHOEFF_MOVES, DAMM_MOVES = _verhoeff_moves(), _damm_moves()
EAN_MOVES, ISBN_10_MOVES = _weighted_moves([1, 3], 10), _weighted_moves(list(range(1, 11)), 11)


class AutomatonDigits(CheckDigits):
    """The base class of check digits computed by a finite automaton, which must end in state 0."""

    digits: int | None
    moves: NDArray[np.uint8]
    backwards: bool = True

    @property
    def n(self) -> int:
        """The length of a number in characters, check digit included."""
        if self.digits is None:
            raise InvalidArgument(f"the length of a word must be stated here: {type(self).__name__}(8)")
        return self.digits

    @property
    def check_places(self) -> tuple[int, ...]:
        """The index of the check digit: the last place."""
        return (self.n - 1,)

    @property
    def chance(self) -> Fraction:
        """The probability that a random number passes the check."""
        return Fraction(1, self.moves.shape[2])

    def _judge(self, values: Column) -> NDArray[np.uint8]:
        return values.ask(kernels.judge, 2, np.uint8, self.moves, int(self.backwards), self.digits or 0)

    def _keys(self, values: Column) -> NDArray[np.int64]:
        return values.ask(kernels.find_key, -1, np.int64, self.moves, int(self.backwards), self.digits or 0)


@dataclass(frozen=True)
class Verhoeff(AutomatonDigits):
    """Verhoeff's check digit, which detects every wrong digit and adjacent swap, by the dihedral group D5.

    From the right, digit i is permuted i times and multiplied in; the product must be 0.            [Verhoeff 1969]
    """

    digits: int | None = None
    moves = VERHOEFF_MOVES

    def __post_init__(self) -> None:
        settle(self, digits=(2, None))


@dataclass(frozen=True)
class Damm(AutomatonDigits):
    """Damm's check digit, which detects every wrong digit and adjacent swap, by a quasigroup of order ten. [Damm 2004]

    From the left, the entry at (what was found so far, digit) is found; the last must be 0.
    """

    digits: int | None = None
    moves = DAMM_MOVES
    backwards = False

    def __post_init__(self) -> None:
        settle(self, digits=(2, None))


@dataclass(frozen=True)
class Ean(AutomatonDigits):
    """The EAN bar-code number of 8, 12 (UPC), 13 or 14 (GTIN) digits.               [GS1 General Specifications]

    From the right, digits count once and three times in turn; the sum must end in 0. Every wrong digit is noticed,
    and every swap of neighbours that differ by anything but 5.
    """

    digits: int = 13
    moves = EAN_MOVES

    def __post_init__(self) -> None:
        if whole(self.digits, "digits") not in EAN_LENGTHS:
            raise InvalidArgument(f"digits={self.digits}: article numbers have {', '.join(map(str, EAN_LENGTHS))}")


@dataclass(frozen=True)
class Isbn(AutomatonDigits):
    """The ISBN of a book: thirteen digits starting with 978 or 979 (an `Ean`), or the older ten.       [ISO 2108]

    Of ten, digit i from the right counts i times and the sum must be divisible by 11; the last may be X, which is
    10. Since 11 is prime every wrong digit and every swap of any two digits is noticed.
    """

    digits: int = 13

    def __post_init__(self) -> None:
        if whole(self.digits, "digits") not in ISBN_LENGTHS:
            raise InvalidArgument(f"digits={self.digits}: a book's number has 10 or 13")

    @property
    def moves(self) -> NDArray[np.uint8]:  # type: ignore[override]
        """The transition table for numbers of this length."""
        return ISBN_10_MOVES if self.digits == 10 else EAN_MOVES

    @property
    def alphabet(self) -> str:  # type: ignore[override]
        """The digits, and X for ten-character ISBNs."""
        return f"{DIGITS}X" if self.digits == 10 else DIGITS

    key_characters = f"{DIGITS}X"

    @property
    def chance(self) -> Fraction:
        """The probability that a random number passes the check (and, for ISBN-13, has a valid prefix)."""
        return Fraction(1, 11) if self.digits == 10 else Fraction(2, 1000) * Fraction(1, 10)

    def random_messages(self, words: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Uniformly random ISBN messages, with a valid prefix for ISBN-13."""
        digits = rng.integers(0, 10, (words, self.k), np.uint8)
        if self.digits == 13:
            digits[:, :2] = (9, 7)
            digits[:, 2] = rng.integers(8, 10, words)
        return digits

    def _judge(self, values: Column) -> NDArray[np.uint8]:
        verdict = super()._judge(values)
        return verdict if self.digits == 10 else np.where(self._are_books(values), verdict, kernels.WRONG)

    def _keys(self, values: Column) -> NDArray[np.int64]:
        keys = super()._keys(values)
        return keys if self.digits == 10 else np.where(self._are_books(values), keys, kernels.UNREADABLE_KEY)

    @staticmethod
    def _are_books(values: Column) -> NDArray[np.bool_]:
        """Which values start with 978 or 979, separators aside."""
        plain = values.compacted(np.arange(values.size))
        found = np.zeros(values.size, bool)
        long = np.flatnonzero(plain.stops - plain.starts >= 3)
        head = plain.text[plain.starts[long][:, None] + np.arange(3)] - np.uint8(ord("0"))
        found[long] = (head[:, 0] == 9) & (head[:, 1] == 7) & ((head[:, 2] == 8) | (head[:, 2] == 9))
        return found
