"""Libraries in C through ctypes, as peers of `codes`: libfec, ISA-L and VOLK. Part of `codes`."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKS = 32
PRIMITIVE = 0x11D  # x^8 + x^4 + x^3 + x^2 + 1, in which ISA-L computes


def debian_library(package: str, name: str) -> ctypes.CDLL:
    """A shared library of the system, or of Debian's package, unpacked once into the peers' environment."""
    try:
        return ctypes.CDLL(name)
    except OSError:
        folder = Path(sys.prefix) / "debian"
    if not any(folder.rglob(name)):
        folder.mkdir(exist_ok=True)
        subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)
        for archive in folder.glob(f"{package}_*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(archive), str(folder)], check=True)
    return ctypes.CDLL(str(next(folder.rglob(name))))


def address(array: Any) -> Any:
    """Where an array begins; the array lives as long as this does."""
    return array.ctypes.data_as(ctypes.c_void_p)


# ------------------------------------------------------------ libfec: one word a call
def libfec() -> Any:
    """The library of P. Karn that most radio software decodes with."""
    library = debian_library("libfec0", "libfec.so.0")
    library.init_rs_char.restype = ctypes.c_void_p
    return library


def libfec_words(sent: Any) -> tuple[Any, ctypes.c_void_p, Any]:
    """The library, its RS(255, 223) and the words of messages (words, 223)."""
    import numpy as np

    library = libfec()
    code = ctypes.c_void_p(library.init_rs_char(8, PRIMITIVE, 1, 1, CHECKS, 0))
    words = np.zeros((len(sent), 255), np.uint8)
    words[:, :223] = sent
    for row in words:
        library.encode_rs_char(code, address(row), address(row[223:]))
    return library, code, words


def libfec_encoder(sent: Any) -> Callable[[], object]:
    library, code, words = libfec_words(sent)
    rows = [(address(row), address(row[223:])) for row in words]
    return lambda: [library.encode_rs_char(code, row, checks) for row, checks in rows]


def libfec_decoder(sent: Any, damage: Callable[[Any], tuple[Any, Any]]) -> Callable[[], object]:
    """`damage` gives the received words and flags of the lost symbols; each call begins with those words again."""
    import numpy as np

    library, code, words = libfec_words(sent)
    received, flags = damage(words)
    room, places = received.copy(), [np.flatnonzero(row).astype(np.int32) for row in flags]
    lost = np.zeros((len(words), CHECKS), np.int32)
    rows = [(address(row), address(at), where, where.size) for row, at, where in zip(room, lost, places, strict=True)]

    def decode() -> None:
        room[:] = received
        for row, at, where, count in rows:
            if count:
                lost[0, :count] = where
                at = address(lost)
            library.decode_rs_char(code, row, at, count)

    decode()
    if not (room == words).all():
        raise AssertionError("libfec did not find the words that were sent")
    return decode


# ------------------------------------------------------------ ISA-L: symbols of many words side by side
def isal_products(sources: int, sums: int, words: int) -> Callable[[], object]:
    """So many sums of products of all symbols: what encoding, syndromes and filling in the same places come down to."""
    import numpy as np

    library = ctypes.CDLL(str(next((Path(sys.prefix) / "lib").rglob("libisal-pyeclib.so*"))))
    rng = np.random.default_rng(1)
    factors = rng.integers(1, 256, (sums, sources), dtype=np.uint8)
    tables = np.zeros(32 * sums * sources, np.uint8)
    library.ec_init_tables(sources, sums, address(factors), address(tables))
    symbols, results = rng.integers(0, 256, (sources, words), dtype=np.uint8), np.zeros((sums, words), np.uint8)
    kept = [[address(row) for row in rows] for rows in (symbols, results)]
    given, found = ((ctypes.c_void_p * len(rows))(*(row.value for row in rows)) for rows in kept)

    def multiply() -> Any:
        library.ec_encode_data(words, sources, sums, address(tables), given, found)
        return kept

    return multiply


# ------------------------------------------------------------ Viterbi, K = 7, rate 1/2: VOLK of GNU Radio
TAPS = (0o117, 0o155)  # the oldest bit highest: 0o171, 0o133 read from the other end


def flushed_words(messages: Any) -> Any:
    """The words of messages (words, bits) by the register of seven bits, which six zeros empty."""
    import numpy as np

    fed = np.pad(messages, ((0, 0), (6, 6)))
    steps = messages.shape[1] + 6
    outputs = [
        np.bitwise_xor.reduce([fed[:, 6 - age : 6 - age + steps] for age in range(7) if taps >> age & 1])
        for taps in TAPS
    ]
    return np.stack(outputs, axis=2).reshape(len(messages), 2 * steps)


def volk_viterbi(messages: Any, values: Any) -> Callable[[], object]:
    """`values` (words, 2 (bits + 6)) uint8, 255 a sure 1: what was heard of the words of `messages`."""
    import numpy as np

    ctypes.CDLL(debian_library("liborc-0.4-0", "liborc-0.4.so.0")._name, mode=ctypes.RTLD_GLOBAL)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
    library = debian_library("libvolk2.5", "libvolk.so.2.5")
    viterbi = kind.in_dll(library, "volk_8u_conv_k7_r2puppet_8u")
    found = np.zeros(values.shape, np.uint8)
    rows = [(address(row), address(message)) for row, message in zip(values, found, strict=True)]

    def decode() -> None:
        for row, message in rows:
            viterbi(row, message, values.shape[1])

    decode()
    if not (found[:, : messages.shape[1]] == messages).all():
        raise AssertionError("VOLK did not find the words that were sent")
    return decode
