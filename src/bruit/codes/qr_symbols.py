"""QR symbols of up to 33 × 33 modules, written and read: Reed–Solomon words laid out in a square.

A symbol of version v has 17 + 4v modules a side. What is no pattern holds codewords, the highest bit first, in pairs of
columns from the right, upwards and downwards in turn; every second, third … module is flipped by a mask, so that no
large areas come out alike.                                                                       [ISO/IEC 18004]
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bruit.codes.block.bch import Bch
from bruit.codes.reed_solomon.code import qr
from bruit.core.arguments import octets, one_of, whole
from bruit.errors import DecodingFailure, InvalidArgument

Modules = NDArray[np.bool_]

BLOCKS = {
    1: {"L": (1, 19), "M": (1, 16), "Q": (1, 13), "H": (1, 9)},
    2: {"L": (1, 34), "M": (1, 28), "Q": (1, 22), "H": (1, 16)},
    3: {"L": (1, 55), "M": (1, 44), "Q": (2, 17), "H": (2, 13)},
    4: {"L": (1, 80), "M": (2, 32), "Q": (2, 24), "H": (4, 9)},
}
"""How many blocks, and how many codewords of content in each, by version and level.     [ISO/IEC 18004, Table 9]"""

CODEWORDS = {1: 26, 2: 44, 3: 70, 4: 100}
LEVELS = {"L": 0b01, "M": 0b00, "Q": 0b11, "H": 0b10}
FORMAT_MASK = 0x5412
BYTES, END, PADDING = 0b0100, 0b0000, (0xEC, 0x11)
"""The mode of plain bytes, the end of the content, and what fills the rest."""


@dataclass(frozen=True, eq=False)
class QrReading:
    """What a symbol says, the symbol as it should be, and how many codewords were wrong."""

    content: bytes
    modules: Modules
    corrected: int


def qr_symbol(content: bytes, *, level: str = "M", mask: int = 0) -> Modules:
    """The smallest symbol that holds so many bytes, True where a module is dark; up to 78 bytes at level "L".

    Levels "L", "M", "Q" and "H" repair about 7, 15, 25 and 30 % of the codewords.

    >>> qr_symbol(b"bruit", level="H").shape
    (21, 21)
    """
    one_of(level, "level", LEVELS)
    content = octets(content, "content")
    whole(mask, "mask", least=0, most=7)
    fitting = (version for version in BLOCKS if len(content) + 2 <= np.prod(BLOCKS[version][level]))
    version = next(fitting, None)
    if version is None:
        most = int(np.prod(BLOCKS[4][level])) - 2
        raise InvalidArgument(
            f"{len(content)} bytes: a symbol of at most 33 × 33 modules holds {most} at level {level}"
        )
    return _lay_out(_codewords(content, version, level), version, level, mask)


def read_qr_symbol(modules: Modules) -> QrReading:
    """What a symbol in plain bytes says, repaired; a `DecodingFailure` where more is wrong than its level repairs."""
    modules = np.asarray(modules, bool)
    version = (modules.shape[0] - 17) // 4 if modules.ndim == 2 else 0
    if version not in BLOCKS or modules.shape != (17 + 4 * version,) * 2:
        raise InvalidArgument(f"modules of shape {modules.shape}: symbols are squares of 21, 25, 29 or 33")
    level, mask = _read_format(modules)
    bits = modules[_path(version)] ^ _mask(version, mask)[_path(version)]
    words = np.packbits(bits[: 8 * CODEWORDS[version]])
    blocks, k = BLOCKS[version][level]
    rows = np.ascontiguousarray(words.reshape(-1, blocks).T)
    found = qr(rows.shape[1], k).decode(rows, raise_on_failure=True)
    right = np.ascontiguousarray(found.word.T).reshape(-1)
    return QrReading(_content(found.message), _lay_out(right, version, level, mask), int(found.corrected.sum()))


def _codewords(content: bytes, version: int, level: str) -> NDArray[np.uint8]:
    """Mode, length, content, end and padding in blocks, each with its checks, one codeword of each in turn."""
    blocks, k = BLOCKS[version][level]
    number = (BYTES << 8 | len(content)) << 8 * len(content) | int.from_bytes(content, "big")
    head = (number << 4 | END).to_bytes(len(content) + 2, "big")
    filling = bytes(PADDING[at % 2] for at in range(blocks * k - len(head)))
    rows = np.frombuffer(head + filling, np.uint8).reshape(blocks, k)
    words = qr(CODEWORDS[version] // blocks, k).encode(rows)
    return np.ascontiguousarray(words.T).reshape(-1)


def _content(message: NDArray[np.uint8]) -> bytes:
    octets = message.tobytes()
    number = int.from_bytes(octets, "big")
    mode, length = octets[0] >> 4, (octets[0] & 15) << 4 | octets[1] >> 4
    if mode != BYTES or length + 2 > len(octets):
        raise DecodingFailure("the symbol was repaired but is not written in plain bytes; read it with another reader")
    return (number >> 8 * (len(octets) - length - 2) + 4 & (1 << 8 * length) - 1).to_bytes(length, "big")


@cache
def _patterns(version: int) -> tuple[Modules, Modules]:
    """Finders, timing and alignment: which modules are dark, and which hold no codewords."""
    size = 17 + 4 * version
    dark, taken = np.zeros((2, size, size), bool)
    dark[6, ::2] = dark[::2, 6] = taken[6] = taken[:, 6] = True
    ring = np.abs(np.arange(-4, 5))
    finder = np.isin(np.maximum(ring[:, None], ring), (0, 1, 3))
    for row, column in ((3, 3), (3, size - 4), (size - 4, 3)):
        rows, columns = (np.arange(max(0, at - 4), min(size, at + 5)) for at in (row, column))
        dark[np.ix_(rows, columns)] = finder[np.ix_(rows - row + 4, columns - column + 4)]
    if version > 1:
        centre = slice(size - 9, size - 4)
        dark[centre, centre] = np.maximum(ring[2:7, None], ring[2:7]) != 1
        taken[centre, centre] = True
    taken[:9, :9] = taken[:9, -8:] = taken[-8:, :9] = True
    dark[size - 8, 8] = True
    return dark, taken


@cache
def _path(version: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows and columns of the modules that hold codewords, in order."""
    _, taken = _patterns(version)
    size = taken.shape[0]
    places, upwards = [], True
    for right in (*range(size - 1, 6, -2), *range(5, 0, -2)):
        rows = range(size - 1, -1, -1) if upwards else range(size)
        places += [(row, column) for row in rows for column in (right, right - 1) if not taken[row, column]]
        upwards = not upwards
    rows_, columns = np.array(places).T
    return rows_, columns


def _mask(version: int, mask: int) -> Modules:
    """Which modules the mask flips.                                                   [ISO/IEC 18004, Table 10]"""
    i, j = np.indices((17 + 4 * version,) * 2)
    both = i * j
    rules = (i + j, i, j * 2, (i + j) * 2, i // 2 + j // 3, both % 2 + both % 3, both % 2 + both % 3, i + j + both % 3)
    of = (2, 2, 6, 6, 2, 6, 2, 2)
    return np.asarray(rules[mask] % of[mask] == 0)


def _format_places(size: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where the 15 bits of the format stand twice, the highest first."""
    first = [(8, at) for at in (0, 1, 2, 3, 4, 5, 7, 8)] + [(at, 8) for at in (7, 5, 4, 3, 2, 1, 0)]
    second = [(size - 1 - at, 8) for at in range(7)] + [(8, size - 8 + at) for at in range(8)]
    return first, second


def _format_flips() -> NDArray[np.uint8]:
    return np.array([FORMAT_MASK >> at & 1 for at in range(14, -1, -1)], np.uint8)


def _read_format(modules: Modules) -> tuple[str, int]:
    """Level and mask, from whichever copy has fewer errors; the BCH code of 15 bits corrects three."""
    copies = np.array([[modules[at] for at in places] for places in _format_places(modules.shape[0])], np.uint8)
    found = Bch(15, 5).decode(copies ^ _format_flips())
    if not found.decoded.any():
        raise DecodingFailure("both copies of the symbol's format are damaged beyond repair")
    best = int(np.argmin(np.where(found.decoded, found.corrected, 15)))
    number = int("".join(map(str, found.message[best])), 2)
    return next(level for level, bits in LEVELS.items() if bits == number >> 3), number & 7


def _lay_out(words: NDArray[np.uint8], version: int, level: str, mask: int) -> Modules:
    """The symbol of these codewords."""
    modules, path = _patterns(version)[0].copy(), _path(version)
    bits = np.zeros(path[0].size, bool)
    bits[: 8 * words.size] = np.unpackbits(words)
    modules[path] = bits ^ _mask(version, mask)[path]
    numbers = [(LEVELS[level] << 3 | mask) >> at & 1 for at in range(4, -1, -1)]
    said = Bch(15, 5).encode(numbers) ^ _format_flips()
    for places in _format_places(modules.shape[0]):
        for place, bit in zip(places, said, strict=True):
            modules[place] = bool(bit)
    modules[modules.shape[0] - 8, 8] = True
    return modules
