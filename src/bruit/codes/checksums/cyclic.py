"""Cyclic redundancy checks: the remainder of a message modulo a polynomial, which detects transmission errors."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.codes.checksums._kernels import run_bytes, sums_of_columns
from bruit.codes.word import Decoded, HardBits, Received, as_symbols, settle
from bruit.core.arguments import octets, one_of

POLYNOMIALS = {
    "NR 6": 0x61,
    "NR 11": 0xE21,
    "NR 16": 0x11021,
    "NR 24A": 0x1864CFB,
    "NR 24B": 0x1800063,
    "NR 24C": 0x1B2B117,
    "LTE 8": 0x19B,
    "CRC-16": 0x18005,
    "CRC-32": 0x104C11DB7,
    "CRC-32C": 0x11EDC6F41,
}
"""Polynomials by name, the highest power included.   [3GPP TS 38.212, Section 5.1; 36.212, Section 5.1.1; RFC 3385]"""

WIDEST = 63  # the sums are kept in 64 bits


@dataclass(frozen=True)
class Crc(HardBits):
    """k message bits followed by their remainder modulo a polynomial, the highest power first.   [Peterson 1961]

    `polynomial` is a name such as "NR 24A" or a number whose bits are the coefficients, the highest power included.
    Every burst no longer than the remainder is noticed, and what is random passes once in 2^(n − k).
    """

    k: int
    polynomial: str | int

    def __post_init__(self) -> None:
        settle(self, k=(1, None))
        if isinstance(self.polynomial, str):
            one_of(self.polynomial, "polynomial", POLYNOMIALS)
        else:
            settle(self, polynomial=(2, (2 << WIDEST) - 1))

    @property
    def coefficients(self) -> int:
        """The coefficients of the polynomial as the bits of one integer."""
        return self.polynomial if isinstance(self.polynomial, int) else POLYNOMIALS[self.polynomial]

    @property
    def checks(self) -> int:
        """The number of check bits (the remainder's length)."""
        return self.coefficients.bit_length() - 1

    @property
    def n(self) -> int:
        """The length of a codeword in bits."""
        return self.k + self.checks

    @cached_property
    def columns(self) -> NDArray[np.uint64]:
        """The contribution of each bit of a word to its remainder: its power of x modulo the polynomial."""
        columns, power = np.empty(self.n, np.uint64), 1
        for i in range(self.n - 1, -1, -1):
            columns[i] = power
            power <<= 1
            power ^= self.coefficients if power >> self.checks else 0
        return columns

    def encode(self, messages: Received) -> NDArray[np.uint8]:
        """The codewords: messages of k bits followed by their remainders."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        sums = self._sums(bits.reshape(-1, self.k), np.roll(self.columns, self.checks)[self.checks :])
        rest = (sums[:, None] >> np.arange(self.checks - 1, -1, -1, dtype=np.uint64)) & np.uint64(1)
        return np.concatenate([bits, rest.astype(np.uint8).reshape(*bits.shape[:-1], self.checks)], axis=-1)

    def decode(self, received: Received, *, raise_on_failure: bool = False) -> Decoded:
        """Words with the right remainder, as received; the others are failures, since nothing is corrected."""
        word = as_symbols(received, self.n, symbols=2, what="received words")
        batch = word.shape[:-1]
        good = (self._sums(word.reshape(-1, self.n), self.columns) == 0).reshape(batch)
        left = np.full(batch, self.checks)
        answer = Decoded(word[..., : self.k], word, word, np.zeros(batch, np.int64), np.asarray(good), left)
        return answer.raised(self) if raise_on_failure else answer

    @staticmethod
    def _sums(bits: NDArray[np.uint8], columns: NDArray[np.uint64]) -> NDArray[np.uint64]:
        sums = np.empty(bits.shape[0], np.uint64)
        sums_of_columns(np.ascontiguousarray(bits), np.ascontiguousarray(columns), sums)
        return sums


class Convention(NamedTuple):
    """The parameters of a named CRC of bytes: polynomial, initial and final register, and bit order."""

    polynomial: int
    start: int = 0
    end: int = 0
    reflected: bool = False


CHECKSUMS = {
    "CRC-8": Convention(0x107),
    "CRC-16/ARC": Convention(0x18005, reflected=True),
    "CRC-16/XMODEM": Convention(0x11021),
    "CRC-16/IBM-3740": Convention(0x11021, start=0xFFFF),
    "CRC-24/OPENPGP": Convention(0x1864CFB, start=0xB704CE),
    "CRC-24/LTE-A": Convention(0x1864CFB),
    "CRC-24/LTE-B": Convention(0x1800063),
    "CRC-32": Convention(0x104C11DB7, start=0xFFFFFFFF, end=0xFFFFFFFF, reflected=True),
    "CRC-32C": Convention(0x11EDC6F41, start=0xFFFFFFFF, end=0xFFFFFFFF, reflected=True),
    "CRC-32/BZIP2": Convention(0x104C11DB7, start=0xFFFFFFFF, end=0xFFFFFFFF),
}
"""Checksums of bytes by the names they have in catalogues, each with its own conventions.       [Williams 1993]"""


def checksum(content: bytes, name: str = "CRC-32") -> int:
    """The checksum of bytes by a named standard CRC.

    >>> hex(checksum(b"123456789"))
    '0xcbf43926'
    """
    how, content = CHECKSUMS[one_of(name, "name", CHECKSUMS)], octets(content, "content")
    width = how.polynomial.bit_length() - 1
    found = run_bytes(np.frombuffer(content, np.uint8), _byte_table(name), width, int(how.reflected), how.start)
    return found ^ how.end


@cache
def _byte_table(name: str) -> NDArray[np.uint64]:
    """The CRC table: the register after each of the 256 bytes, from an empty register."""
    how = CHECKSUMS[name]
    width = how.polynomial.bit_length() - 1
    table = []
    for byte in range(256):
        register = int(f"{byte:08b}"[::-1], 2) if how.reflected else byte
        register <<= width
        for bit in range(width + 7, width - 1, -1):
            register ^= how.polynomial << (bit - width) if register >> bit & 1 else 0
        table.append(int(f"{register:0{width}b}"[::-1], 2) if how.reflected else register)
    return np.array(table, np.uint64)
