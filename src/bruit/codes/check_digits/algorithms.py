"""Check-digit schemes of cards, companies, social security and bank accounts.

Each scheme says of one text, or of a whole column, whether it is `valid`, and can `complete` it. Spaces, hyphens and
dots do not count, nor do small letters. What comes out is of the kind that went in: a str gives a bool or a str, a
list a list, a NumPy array an array, a polars series a series (nulls stay null).
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from string import ascii_uppercase
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bruit.codes.check_digits import _kernels as kernels
from bruit.codes.check_digits.column import Column, column
from bruit.codes.check_digits.iban import FORMS, form_row
from bruit.codes.check_digits.words import DIGITS, CheckWords
from bruit.codes.word import settle
from bruit.core.arguments import one_of
from bruit.errors import InvalidArgument

SEPARATORS = str.maketrans("", "", " -.")


class CheckDigits(CheckWords):
    """The base class of check-digit schemes: validates and completes single values and whole columns."""

    digits_added: int = 1
    key_characters: str = DIGITS
    key_at: int | None = None  # None: at the end

    @abstractmethod
    def _judge(self, values: Column) -> NDArray[np.uint8]:
        """What the kernel says of each value: right, wrong or unreadable."""

    @abstractmethod
    def _keys(self, values: Column) -> NDArray[np.int64]:
        """The check digits of each value as one number; negative where it cannot be read."""

    def valid(self, values: Any) -> Any:
        """Whether each value has valid check digits; False for a value that cannot be read."""
        verdict = self._judge(column(values)) == kernels.RIGHT
        if isinstance(values, str | bytes):
            return bool(verdict[0])
        if isinstance(values, pl.Series):
            answer = pl.Series(values.name, verdict)
            return answer.set(values.is_null(), None) if values.null_count() else answer
        return verdict if isinstance(values, np.ndarray) else verdict.tolist()

    def complete(self, values: Any) -> Any:
        """Each value with its check digits inserted; an unreadable value raises if alone, and is missing in a column.

        A list holds None and a series null in its place, an array of bytes holds b"".
        """
        keys = self._keys(column(values))
        if isinstance(values, str | bytes):
            if keys[0] < 0:
                name = type(self).__name__
                raise InvalidArgument(f"{name} cannot complete this text: its length or its characters do not fit")
            return self._put(values, int(keys[0]))
        if isinstance(values, pl.Series):
            return self._complete_series(values, keys)
        if isinstance(values, np.ndarray) and values.dtype.kind == "u":
            return self._complete_matrix(values, keys)
        texts = [self._put(value, key) if key >= 0 else None for value, key in zip(values, keys.tolist(), strict=True)]
        if isinstance(values, np.ndarray):
            blank = b"" if values.dtype.kind == "S" else ""
            return np.array([blank if text is None else text for text in texts])
        return texts

    def _put(self, value: str | bytes, key: int) -> Any:
        text = (value.decode() if isinstance(value, bytes) else str(value)).translate(SEPARATORS).upper()
        at = len(text) if self.key_at is None else self.key_at
        whole = f"{text[:at]}{self._key_text(key)}{text[at:]}"
        return whole.encode() if isinstance(value, bytes) else whole

    def _key_text(self, key: int) -> str:
        return self.key_characters[key] if self.digits_added == 1 else f"{key:0{self.digits_added}d}"

    def _complete_series(self, values: pl.Series, keys: NDArray[np.int64]) -> pl.Series:
        clean = values.cast(pl.String).str.replace_all(r"[ \-.]", "").str.to_uppercase()
        texts = pl.Series([self._key_text(key) for key in range(max(1, int(keys.max(initial=0)) + 1))])
        key = texts.gather(np.maximum(keys, 0)).set(pl.Series(keys < 0), None)
        if self.key_at is None:
            return (clean + key).rename(values.name)
        return (clean.str.slice(0, self.key_at) + key + clean.str.slice(self.key_at)).rename(values.name)

    def _complete_matrix(self, values: NDArray[np.uint8], keys: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Rows of character codes; a row that cannot be completed holds zeros."""
        texts = [self._key_text(key).encode() for key in range(max(1, int(keys.max(initial=0)) + 1))]
        digits = np.array(texts).view(np.uint8).reshape(-1, self.digits_added)[np.maximum(keys, 0)]
        at = values.shape[1] if self.key_at is None else self.key_at
        return np.where(keys[:, None] >= 0, np.hstack([values[:, :at], digits, values[:, at:]]), np.uint8(0))


@dataclass(frozen=True)
class Luhn(CheckDigits):
    """Luhn's check digit (bank cards, SIREN, SIRET), for numbers of `digits` digits, or any length when None.

    From the right, every second digit is doubled (minus 9 from 10 on); the sum of all must end in 0.   [Luhn 1960]
    It notices every wrong digit and every swap of neighbours but 09 ↔ 90.
    """

    digits: int | None = None

    def __post_init__(self) -> None:
        settle(self, digits=(2, None))

    @property
    def n(self) -> int:
        """The length of a number in digits, check digit included."""
        if self.digits is None:
            raise InvalidArgument("the rate of Luhn's digit depends on the length, which must be stated here: Luhn(16)")
        return self.digits

    @property
    def check_places(self) -> tuple[int, ...]:
        """The index of the check digit: the last place."""
        return (self.n - 1,)

    @property
    def chance(self) -> Fraction:
        """The probability that random digits pass the check."""
        return Fraction(1, 10)

    def _judge(self, values: Column) -> NDArray[np.uint8]:
        return values.ask(kernels.luhn, 2, np.uint8, self.digits or 0)

    def _keys(self, values: Column) -> NDArray[np.int64]:
        return values.ask(kernels.luhn_key, -1, np.int64, self.digits or 0)


@dataclass(frozen=True)
class Siren(Luhn):
    """The nine-digit SIREN number of a French company, by Luhn's check."""

    digits: int | None = field(default=9, init=False)


@dataclass(frozen=True)
class Siret(CheckDigits):
    """The fourteen-digit SIRET number of a French establishment: SIREN and five digits, all under Luhn's check.

    Establishments of La Poste (356 000 000, head office aside) instead have a digit sum divisible by five; two digits
    complete such a number and `complete` takes the smaller.                                        [INSEE Sirene]
    """

    @property
    def n(self) -> int:
        """The length of a number in digits."""
        return 14

    @property
    def check_places(self) -> tuple[int, ...]:
        """The indices of the check digits: the last place, and that of the SIREN inside the number."""
        return (8, 13)

    def _complete_rows(self, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.asarray(self.complete(np.hstack([Siren().complete(rows[:, :8]), rows[:, 8:]])))

    @property
    def chance(self) -> Fraction:
        """The probability that fourteen random digits pass the check, La Poste's own rule included."""
        return Fraction((10**8 - 1) * 10**4 + 20_001, 10**14)

    def _judge(self, values: Column) -> NDArray[np.uint8]:
        return values.ask(kernels.siret, 2, np.uint8)

    def _keys(self, values: Column) -> NDArray[np.int64]:
        return values.ask(kernels.siret_key, -1, np.int64)


@dataclass(frozen=True)
class Nir(CheckDigits):
    """The French social-security number (NIR): thirteen digits and the key 97 − (number mod 97).

    Corsican departments 2A and 2B are read as 19 and 18. Since 97 is prime and
    10 generates its whole group, every wrong digit and every swap of neighbours is noticed.         [INSEE NIR]
    """

    digits_added = 2

    @property
    def n(self) -> int:
        """The length of a number in digits."""
        return 15

    @property
    def check_places(self) -> tuple[int, ...]:
        """The indices of the two-digit key: the last two places."""
        return (13, 14)

    @property
    def chance(self) -> Fraction:
        """The probability that a random number passes the check: one key in a hundred is right."""
        return Fraction(1, 100)

    def _judge(self, values: Column) -> NDArray[np.uint8]:
        return values.ask(kernels.nir, 2, np.uint8)

    def _keys(self, values: Column) -> NDArray[np.int64]:
        return values.ask(kernels.nir_key, -1, np.int64)


@dataclass(frozen=True)
class Iban(CheckDigits):
    """The IBAN (international bank account number): country, two check digits, account in the country's format.

    With letters read as 10…35 and the first four characters moved to the end, the number is 1 mod 97.
    Check digits 00, 01 and 99 are never issued and never valid.                 [ISO 13616-1; ISO/IEC 7064]
    To complete one, leave its check digits out: country and account.
    """

    country: str | None = None
    digits_added = 2
    key_at = 2
    alphabet = DIGITS + ascii_uppercase

    def __post_init__(self) -> None:
        if self.country is not None:
            one_of(self.country, "country", FORMS)

    @property
    def _form(self) -> str:
        if self.country is None:
            raise InvalidArgument("the rate of an IBAN depends on the country, as does its length: ask Iban('FR')")
        return FORMS[self.country]

    @property
    def n(self) -> int:
        """The length of an IBAN in characters: country, check digits and account."""
        return len(self._form) + 4

    @property
    def check_places(self) -> tuple[int, ...]:
        """The indices of the two check digits, which follow the country code."""
        return (2, 3)

    def random_messages(self, words: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Random messages: the country code with uniformly random accounts in its format."""
        country = [self.alphabet.index(letter) for letter in self.country or ""]
        low = np.array(country + [{"n": 0, "a": 10, "c": 0}[kind] for kind in self._form])
        high = np.array([letter + 1 for letter in country] + [{"n": 10, "a": 36, "c": 36}[kind] for kind in self._form])
        return rng.integers(low, high, (words, self.k)).astype(np.uint8)

    @property
    def chance(self) -> Fraction:
        """The probability that a random IBAN in the country's format passes the check: one in a hundred."""
        return Fraction(1, 100)

    def _ask(self, values: Column, kernel: Callable[..., None], unknown: int, kind: type) -> NDArray[Any]:
        row = -1 if self.country is None else form_row(self.country)
        return values.ask(kernel, unknown, kind, TABLE, row)

    def _judge(self, values: Column) -> NDArray[np.uint8]:
        return self._ask(values, kernels.iban, 2, np.uint8)

    def _keys(self, values: Column) -> NDArray[np.int64]:
        return self._ask(values, kernels.iban_key, -1, np.int64)


def _form_table() -> NDArray[np.uint8]:
    """A row for every pair of letters: 1 digit, 2 letter, 3 either, 0 past the end of the account."""
    table = np.zeros((26 * 26, 33), np.uint8)
    for country, form in FORMS.items():
        table[form_row(country), : len(form)] = ["nac".index(kind) + 1 for kind in form]
    return table


TABLE = _form_table()
