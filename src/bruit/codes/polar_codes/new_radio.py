"""The polar codes of 5G New Radio: sizes, rate matching and interleaving."""

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bruit.codes.checksums.cyclic import Crc
from bruit.codes.low_density.standards import lines_of
from bruit.codes.polar_codes.code import Polar
from bruit.codes.polar_codes.construction import nr_sequence
from bruit.core.arguments import one_of, whole
from bruit.errors import InvalidArgument

Link = Literal["uplink", "downlink"]

SUB_BLOCKS = np.array(
    [
        0,
        1,
        2,
        4,
        3,
        5,
        6,
        7,
        8,
        16,
        9,
        17,
        10,
        18,
        11,
        19,
        12,
        20,
        13,
        21,
        14,
        22,
        15,
        23,
        24,
        25,
        26,
        28,
        27,
        29,
        30,
        31,
    ]
)
"""The order in which thirty-two parts of a word are sent.                     [3GPP TS 38.212, Table 5.4.1.1-1]"""

LARGEST_EXPONENT = {"uplink": 10, "downlink": 9}
POLYNOMIAL = {"uplink": "NR 11", "downlink": "NR 24C"}
FEWEST = {"uplink": 20, "downlink": 1}
"""Fewer uplink bits need three bits of parity inside the code, or a code of their own."""

MOST = {"uplink": 1012, "downlink": 140}
"""Longer uplink messages are cut into two; the interleaver of the downlink ends at 164 bits with their checksum."""


def nr_polar(k: int, n: int, *, link: Link = "uplink", paths: int = 8) -> Polar:
    """The 5G control-channel polar code for k message bits in n sent bits.        [3GPP TS 38.212, Section 5.3.1]

    The uplink has a checksum of 11 bits and interleaves what it sends, the downlink one of 24 bits, spread over the
    message so that a decoder could stop early. Lengths between powers of two are punctured, shortened or repeated.
    """
    one_of(link, "link", POLYNOMIAL)
    whole(k, "k", least=FEWEST[link], most=MOST[link], why=f"that is what one block of the {link} holds")
    checks = Crc(k, POLYNOMIAL[link])
    whole(n, "n", least=checks.n, most=8192, why="message and checksum must fit")
    length = 1 << _exponent(checks.n, n, LARGEST_EXPONENT[link])
    if checks.n > length:
        raise InvalidArgument(f"nr_polar({k}, {n}, link={link!r}): at most {length - checks.checks} bits fit")
    sent, unsent, known = _sent_places(length, checks.n, n)
    places = _message_places(length, checks.n, n, unsent)
    if link == "uplink":
        sent = sent[triangle(n)]
    else:
        places = places[np.argsort(_downlink_order(checks.n))]
    return Polar(length, places, sent, known, checks, paths, name=f"nr_polar {link}")


def _exponent(carried: int, sent: int, largest: int) -> int:
    """The exponent of the code's length.                                       [3GPP TS 38.212, Section 5.3.1]"""
    above = (sent - 1).bit_length()
    near = 8 * sent <= 9 * (1 << (above - 1)) and 16 * carried < 9 * sent  # little is lost by the shorter code
    return max(min(above - near, (8 * carried - 1).bit_length(), largest), 5)


def _sent_places(length: int, carried: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The coded bits sent in order, those left out, and among them the ones known to be 0.   [Section 5.4.1.2]"""
    part = length // SUB_BLOCKS.size
    order = (SUB_BLOCKS[:, None] * part + np.arange(part)).reshape(-1)
    if n >= length:
        return np.resize(order, n), order[:0], order[:0]
    if 16 * carried <= 7 * n:
        return order[length - n :], order[: length - n], order[:0]
    return order[:n], order[n:], order[n:]


def _message_places(length: int, carried: int, n: int, unsent: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most reliable places that rate matching leaves usable, in their order in the word.   [Section 5.4.1.1]"""
    useless = np.zeros(length, bool)
    useless[unsent] = True
    if n < length and 16 * carried <= 7 * n:  # punctured: the first places hear too little
        limit = -(-(3 * length - 2 * n) // 4) if 4 * n >= 3 * length else -(-(9 * length - 4 * n) // 16)
        useless[: max(0, limit)] = True
    sequence = nr_sequence()
    order = sequence[sequence < length]
    return np.sort(order[~useless[order]][-carried:])


def triangle(size: int) -> NDArray[np.int64]:
    """The order of an interleaver that writes rows of a triangle and reads its columns.        [Section 5.4.1.3]"""
    side = int(np.ceil((np.sqrt(8 * size + 1) - 1) / 2))
    rows, columns = np.divmod(np.arange(side * side), side)
    inside = rows + columns < side
    written = np.flatnonzero(inside)[:size]
    where = np.full(side * side, -1)
    where[written] = np.arange(size)
    read = where.reshape(side, side).T.reshape(-1)
    return read[read >= 0]


@cache
def _downlink_table() -> NDArray[np.int64]:
    return np.array([int(field) for fields in lines_of("nr_polar_interleaver.txt") for field in fields])


def _downlink_order(carried: int) -> NDArray[np.int64]:
    """The order in which message and checksum enter the downlink code.                         [Section 5.3.1.1]"""
    table = _downlink_table()
    return table[table >= table.size - carried] - (table.size - carried)
