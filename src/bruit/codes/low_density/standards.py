"""The LDPC codes of Wi-Fi, WiMAX, 5G New Radio and satellite television."""

from collections.abc import Iterator
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from bruit.codes.low_density.code import Ldpc, LdpcDecoder
from bruit.codes.low_density.parity_check import ParityChecks, circulants
from bruit.codes.word import LARGEST
from bruit.core.arguments import text, whole
from bruit.errors import InvalidArgument

COLUMNS = 24  # blocks of a Wi-Fi or WiMAX word
WIMAX_LENGTH = 2304
LIFTINGS = tuple(sorted(a << j for a in (2, 3, 5, 7, 9, 11, 13, 15) for j in range(8) if a << j <= 384))
MOST_INTERLEAVED = 10  # bits of a symbol of 1024-QAM
VERSION_STARTS = {1: (0, 17, 33, 56), 2: (0, 13, 25, 43)}
"""Where each redundancy version begins, in blocks of the whole buffer.          [3GPP TS 38.212, Table 5.4.2.1-2]"""

DVB_LONG = 64800
GROUP = 360  # message bits that share a line of addresses in DVB-S2

MOST = {1: 8448, 2: 3840}
"""The longest message of each base graph of New Radio."""


def lines_of(name: str) -> Iterator[list[str]]:
    """The fields of each line of a bundled table, without its heading."""
    text = (resources.files("bruit.codes") / "standards" / name).read_text(encoding="utf-8")
    return (line.split() for line in text.splitlines() if not line.startswith("#"))


@cache
def shift_tables(name: str) -> dict[tuple[int, str], NDArray[np.int64]]:
    """The shift tables of a bundled file by (length, rate), −1 for a zero block."""
    rows: dict[tuple[int, str], list[list[int]]] = {}
    for fields in lines_of(name):
        if fields[0] == "code":
            current = rows.setdefault((int(fields[1]), fields[2]), [])
        else:
            current.append([-1 if field == "-" else int(field) for field in fields])
    return {key: np.array(table) for key, table in rows.items()}


def _systematic(
    table: NDArray[np.int64], lifting: int, decoder: LdpcDecoder, iterations: int, factor: float | None, name: str
) -> Ldpc:
    """The LDPC code of a table of circulants whose last columns, one per row, are the parity."""
    rows, columns = table.shape
    every = np.arange(columns * lifting)
    message = every[: (columns - rows) * lifting]
    return Ldpc(circulants(table, lifting), message, every, every[:0], decoder, iterations, name, factor)


def wifi(
    n: int, rate: str, *, decoder: LdpcDecoder = "min-sum", iterations: int = 20, factor: float | None = None
) -> Ldpc:
    """The Wi-Fi code of 648, 1296 or 1944 bits and rate "1/2", "2/3", "3/4" or "5/6".   [IEEE 802.11n-2009, Annex R]"""
    tables = shift_tables("wifi.txt")
    if (whole(n, "n"), text(rate, "rate")) not in tables:
        raise InvalidArgument(f"wifi({n}, {rate!r}): lengths are 648, 1296, 1944 and rates '1/2', '2/3', '3/4', '5/6'")
    return _systematic(tables[n, rate], n // COLUMNS, decoder, iterations, factor, "wifi")


def wimax(
    n: int, rate: str, *, decoder: LdpcDecoder = "min-sum", iterations: int = 20, factor: float | None = None
) -> Ldpc:
    """The WiMAX code of 576, 672, … 2304 bits and rate "1/2", "2/3A", "2/3B", "3/4A", "3/4B" or "5/6".

    The shifts p stand for blocks of 96; a block of z takes ⌊p·z/96⌋, but p mod z at rate "2/3A".
                                                                    [IEEE 802.16e-2005, Section 8.4.9.2.5]
    """
    tables = shift_tables("wimax.txt")
    lifting = whole(n, "n") // COLUMNS
    if n not in range(576, WIMAX_LENGTH + 1, 96) or (WIMAX_LENGTH, text(rate, "rate")) not in tables:
        raise InvalidArgument(
            f"wimax({n}, {rate!r}): lengths are 576 to 2304 in steps of 96, rates {', '.join(r for _, r in tables)}"
        )
    full = tables[WIMAX_LENGTH, rate]
    scaled = full % lifting if rate == "2/3A" else full * n // WIMAX_LENGTH
    return _systematic(np.where(full < 0, -1, scaled), lifting, decoder, iterations, factor, "wimax")


@cache
def address_tables() -> dict[tuple[int, str], list[NDArray[np.int64]]]:
    """The parity addresses of DVB-S2 by (length, rate), one array a group of message bits."""
    groups: dict[tuple[int, str], list[NDArray[np.int64]]] = {}
    for fields in lines_of("dvb_s2.txt"):
        if fields[0] == "code":
            current = groups.setdefault((int(fields[1]), fields[2]), [])
        else:
            current.append(np.array([int(field) for field in fields]))
    return groups


def _accumulated(n: int, groups: list[NDArray[np.int64]]) -> ParityChecks:
    """The checks of message bits that enter parities by address, each parity adding the one before.

    Bit i of a group enters the addresses of its line moved on by i·q, where q = (n − k) / 360.
                                                                             [EN 302 307-1, Section 5.3.2.1]
    """
    k = GROUP * len(groups)
    parity, within = np.arange(n - k), np.arange(GROUP)
    moved = [(line + within[:, None] * ((n - k) // GROUP)) % (n - k) for line in groups]
    bits = [np.repeat(g * GROUP + within, line.size) for g, line in enumerate(groups)]
    check = np.concatenate([*(each.reshape(-1) for each in moved), parity, parity[1:]])
    column = np.concatenate([*bits, k + parity, k + parity[:-1]])
    start = np.concatenate([[0], np.cumsum(np.bincount(check))])
    column = column[np.lexsort((column, check))]
    return ParityChecks(start, column, np.zeros_like(column), n)


def dvb_s2(
    n: int,
    rate: str,
    *,
    decoder: LdpcDecoder = "layered sum-product",
    iterations: int = 50,
    factor: float | None = None,
) -> Ldpc:
    """The code of satellite television for frames of 16200 or 64800 bits.             [EN 302 307-1, Section 5.3.2]

    Rates are "1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6", "8/9" and, in the long frame, "9/10"; those
    of the short frame are the nominal ones: "1/2" carries 7200 bits. The decoder is by default the exact one, which the
    published thresholds are for; "min-sum" is several times as fast and loses most where the rate is low.
    """
    tables = address_tables()
    if (whole(n, "n"), text(rate, "rate")) not in tables:
        known = ", ".join(each for length, each in tables if length == DVB_LONG)
        raise InvalidArgument(f"dvb_s2({n}, {rate!r}): lengths are 16200 and 64800, rates {known} (9/10: 64800 only)")
    groups, every = tables[n, rate], np.arange(n)
    message = every[: GROUP * len(groups)]
    return Ldpc(_accumulated(n, groups), message, every, every[:0], decoder, iterations, "dvb_s2", factor)


@cache
def nr_table(base_graph: int, lifting: int) -> NDArray[np.int64]:
    """The shifts of a base graph for one lifting size, −1 for a zero block.     [3GPP TS 38.212, Section 5.3.2]"""
    odd = lifting
    while odd % 2 == 0 and odd > 2:
        odd //= 2
    chosen = (2, 3, 5, 7, 9, 11, 13, 15).index(odd)
    entries = np.array([[int(x) for x in fields] for fields in lines_of(f"nr_{base_graph}.txt")])
    table = np.full((entries[:, 0].max() + 1, entries[:, 1].max() + 1), -1)
    table[entries[:, 0], entries[:, 1]] = entries[:, 2 + chosen] % lifting
    return table


def nr_shape(k: int, n: int, base_graph: int | None) -> tuple[int, int]:
    """The base graph (chosen as in Section 7.2.2 unless given) and lifting size for k message bits in n sent bits."""
    whole(k, "k")
    if base_graph is None:
        base_graph = 2 if k <= 292 or (k <= 3824 and 3 * k <= 2 * n) or 4 * k <= n else 1
    whole(base_graph, "base_graph", most=2, why="New Radio has two")
    if not 1 <= k <= MOST[base_graph] or n <= k:
        raise InvalidArgument(
            f"nr({k}, {n}): base graph {base_graph} carries 1 to {MOST[base_graph]} message bits, and n is above k"
        )
    used = 22 if base_graph == 1 else 10 if k > 640 else 9 if k > 560 else 8 if k > 192 else 6
    return base_graph, next(z for z in LIFTINGS if used * z >= k)


def nr(
    k: int,
    n: int,
    *,
    base_graph: int | None = None,
    decoder: LdpcDecoder = "min-sum",
    iterations: int = 20,
    factor: float | None = None,
    version: int = 0,
    interleaved: int = 1,
) -> Ldpc:
    """The 5G LDPC code for k message bits in n sent bits.            [3GPP TS 38.212, Sections 5.3.2 and 5.4.2]

    The first 2Z bits are never sent and the places between k and the end of the message part are absent. A redundancy
    `version` from 0 to 3 says where in the rest the n bits begin; at its end they go on from the start. With more bits
    to a symbol of the modulation, `interleaved` of them, the first bits stand at the most protected places of symbols.
    Checks that only serve bits never sent are left out (version 0).
    """
    whole(version, "version", least=0, most=3)
    if whole(n, "n", least=2, most=LARGEST) % whole(interleaved, "interleaved", most=MOST_INTERLEAVED):
        raise InvalidArgument(f"n={n} is no whole number of symbols of interleaved={interleaved} bits")
    base_graph, lifting = nr_shape(k, n, base_graph)
    table = nr_table(base_graph, lifting)
    message_columns = table.shape[1] - table.shape[0]
    absent = np.arange(k, message_columns * lifting)
    start = VERSION_STARTS[base_graph][version] * lifting
    reach = n + 2 * lifting + absent.size
    rows = table.shape[0] if version else min(table.shape[0], max(4, -(-reach // lifting) - message_columns))
    table = table[:rows, : message_columns + rows]
    buffer = np.roll(np.arange(2 * lifting, table.shape[1] * lifting), -start)
    sent = np.resize(buffer[~np.isin(buffer, absent)], n).reshape(interleaved, -1).T.reshape(-1)
    graph = circulants(table, lifting)
    return Ldpc(graph, np.arange(k), sent, absent, decoder, iterations, "nr", factor)
