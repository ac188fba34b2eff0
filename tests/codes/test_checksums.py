"""Cyclic redundancy checks: the check values of the catalogue, zlib, and what they always notice."""

import binascii
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.codes import Crc, checksum
from bruit.codes.checksums.cyclic import CHECKSUMS, POLYNOMIALS
from bruit.errors import InvalidArgument

CATALOGUE = {  # of b"123456789", from Greg Cook's catalogue of parametrised algorithms
    "CRC-8": 0xF4,
    "CRC-16/ARC": 0xBB3D,
    "CRC-16/XMODEM": 0x31C3,
    "CRC-16/IBM-3740": 0x29B1,
    "CRC-24/OPENPGP": 0x21CF02,
    "CRC-24/LTE-A": 0xCDE703,
    "CRC-24/LTE-B": 0x23EF52,
    "CRC-32": 0xCBF43926,
    "CRC-32C": 0xE3069283,
    "CRC-32/BZIP2": 0xFC891918,
}


def test_every_checksum_has_the_value_of_the_catalogue() -> None:
    assert {name: checksum(b"123456789", name) for name in CHECKSUMS} == CATALOGUE


@given(st.binary(max_size=300))
def test_the_standard_library_agrees(content: bytes) -> None:
    assert checksum(content) == zlib.crc32(content)
    assert checksum(content, "CRC-16/XMODEM") == binascii.crc_hqx(content, 0)


@pytest.mark.parametrize(
    ("bits", "bytes_"), [("NR 24A", "CRC-24/LTE-A"), ("NR 24B", "CRC-24/LTE-B"), ("NR 16", "CRC-16/XMODEM")]
)
def test_bits_and_bytes_agree(bits: str, bytes_: str) -> None:
    word = Crc(72, bits).encode(np.unpackbits(np.frombuffer(b"123456789", np.uint8)))
    assert int("".join(map(str, word[72:])), 2) == CATALOGUE[bytes_]


def divided(word: list[int], polynomial: int) -> int:
    """The remainder by long division, bit by bit."""
    value = int("".join(map(str, word)), 2)
    while value.bit_length() >= polynomial.bit_length():
        value ^= polynomial << (value.bit_length() - polynomial.bit_length())
    return value


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_words_are_multiples_of_the_polynomial(name: str) -> None:
    code = Crc(50, name)
    words = code.encode(code.random_messages(30, np.random.default_rng(1)))
    assert [divided(word.tolist(), POLYNOMIALS[name]) for word in words] == [0] * 30
    assert Crc(50, POLYNOMIALS[name]).n == code.n


@given(st.sampled_from(sorted(POLYNOMIALS)), st.data())
def test_every_burst_no_longer_than_the_remainder_is_noticed(name: str, data: Any) -> None:
    code = Crc(60, name)
    word = code.encode(np.zeros(60, np.uint8))
    size = data.draw(st.integers(1, code.checks))
    first = data.draw(st.integers(0, code.n - size))
    burst = np.array(data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)), np.uint8)
    burst[0] = burst[-1] = 1
    word[first : first + size] ^= burst
    assert not code.decode(word).decoded


@pytest.mark.parametrize(
    "wrong", [lambda: Crc(10, "NR 7"), lambda: Crc(10, 1), lambda: checksum(b"", "CRC"), lambda: checksum("text")]
)
def test_what_is_no_checksum_is_refused(wrong: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        wrong()
