"""Block codes and check digits beside galois, creedsolo, libfec, ISA-L, komm and stdnum."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter
from typing import Any

from benchmarks.case import Case, Peer, Prepare, Work
from benchmarks.codes.timing import rate

WORDS = 1000
PEER_WORDS = 200
SIDE_BY_SIDE = 4096  # words whose symbols stay in the caches
NUMBERS = 500_000
PEER_NUMBERS = 20_000
MEGA, GIGA = 1e6, 1e9


def damaged(words: Any, errors: int, erasures: int) -> tuple[Any, Any]:
    """So many wrong symbols in every row, and flags at so many other places."""
    import numpy as np

    rng = np.random.default_rng(2)
    places = rng.permuted(np.tile(np.arange(255), (len(words), 1)), axis=1)[:, : errors + erasures]
    noise, flags = np.zeros_like(words), np.zeros(words.shape, bool)
    np.put_along_axis(noise, places, rng.integers(1, 256, places.shape, dtype=np.uint8), axis=1)
    np.put_along_axis(flags, places[:, errors:], values=True, axis=1)
    return words ^ noise, flags


def messages(words: int) -> Any:
    import numpy as np

    return np.random.default_rng(1).integers(0, 256, (words, 223), dtype=np.uint8)


def reed_solomon(errors: int | None, erasures: int = 0) -> Prepare:
    """Ours; `errors` None times the encoder."""

    def prepare() -> Work:
        from bruit.codes import ReedSolomon

        code, sent = ReedSolomon(255, 223), messages(WORDS)
        if errors is None:
            return rate(lambda: code.encode(sent), sent.size / MEGA)
        received, flags = damaged(code.encode(sent), errors, erasures)
        return rate(lambda: code.decode(received, erasures=flags if erasures else None), sent.size / MEGA)

    return prepare


def galois_code(errors: int | None) -> Prepare:
    def prepare() -> Work:
        import galois
        import numpy as np

        field = galois.GF(256, irreducible_poly=0x11D)
        code, sent = galois.ReedSolomon(255, 223, field=field), messages(PEER_WORDS)
        if errors is None:
            return rate(lambda: code.encode(field(sent)), sent.size / MEGA)
        received, _ = damaged(np.asarray(code.encode(field(sent)), np.uint8), errors, 0)
        return rate(lambda: code.decode(field(received)), sent.size / MEGA)

    return prepare


def creedsolo() -> Any:
    """The compiled form of reedsolo, built once into the peers' environment: its wheel holds only the slow one."""
    try:
        return __import__("creedsolo")
    except ImportError:
        options = ["--no-cache-dir", "--no-binary=reedsolo", "--use-pep517", "--no-build-isolation"]
        build = ["--config-settings=--build-option=--cythonize", "reedsolo==1.7.0"]
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *options, *build], check=True)
        return __import__("creedsolo")


def creedsolo_code(errors: int | None, erasures: int = 0) -> Prepare:
    def prepare() -> Work:
        import numpy as np

        code, sent = creedsolo().RSCodec(32), messages(PEER_WORDS)
        rows = [bytearray(row.tobytes()) for row in sent]
        if errors is None:
            return rate(lambda: [code.encode(row) for row in rows], sent.size / MEGA)
        words = np.array([list(code.encode(row)) for row in rows], np.uint8)
        received, flags = damaged(words, errors, erasures)
        pairs = [
            (bytearray(word.tobytes()), np.flatnonzero(lost).tolist())
            for word, lost in zip(received, flags, strict=True)
        ]
        return rate(lambda: [code.decode(word, erase_pos=lost) for word, lost in pairs], sent.size / MEGA)

    return prepare


def libfec_code(errors: int | None, erasures: int = 0) -> Prepare:
    """In C, a word a call; words are copied afresh, since they are corrected in place."""

    def prepare() -> Work:
        from benchmarks.codes import native

        sent = messages(PEER_WORDS)
        if errors is None:
            return rate(native.libfec_encoder(sent), sent.size / MEGA)
        return rate(native.libfec_decoder(sent, lambda words: damaged(words, errors, erasures)), sent.size / MEGA)

    return prepare


def isal_code(sources: int, sums: int) -> Prepare:
    """In assembly; words already lie side by side, and erasures at the same places of all words."""

    def prepare() -> Work:
        from benchmarks.codes import native

        return rate(native.isal_products(sources, sums, SIDE_BY_SIDE), SIDE_BY_SIDE * 223 / MEGA)

    return prepare


def hamming() -> Work:
    import numpy as np

    from bruit.codes import Hamming

    code = Hamming(10)
    words = code.encode_packed(np.random.default_rng(1).integers(0, 256, (20_000, 127), dtype=np.uint8))
    words[np.arange(20_000), np.arange(20_000) % 127] ^= 16
    return rate(lambda: code.decode_packed(words), 20_000 * 1023 / GIGA)


def komm_hamming() -> Work:
    import komm
    import numpy as np

    code = komm.HammingCode(10)
    words = code.encode(np.random.default_rng(1).integers(0, 2, (PEER_WORDS, 1013)))
    words[:, 100] ^= 1
    decoder = komm.SyndromeTableDecoder(code)
    return rate(lambda: decoder.decode(words), PEER_WORDS * 1023 / GIGA)


def digits(width: int, count: int) -> Any:
    import numpy as np

    return np.random.default_rng(1).integers(48, 58, (count, width), dtype=np.uint8)


def check_digits(name: str, width: int, *, polars: bool) -> Prepare:
    def prepare() -> Work:
        import polars as pl

        from bruit import codes

        scheme, values = getattr(codes, name)(), digits(width, NUMBERS)
        column = pl.Series("n", values.view(f"S{width}").ravel().astype(str)) if polars else values
        return rate(lambda: scheme.valid(column), NUMBERS)

    return prepare


def stdnum(name: str, width: int) -> Prepare:
    def prepare() -> Work:
        from importlib import import_module

        module = import_module(f"stdnum.{name}")
        numbers = [row.tobytes().decode() for row in digits(width, PEER_NUMBERS)]
        return rate(lambda: [module.is_valid(number) for number in numbers], PEER_NUMBERS)

    return prepare


def two_threads() -> Work:
    """How many times as fast two threads decode twice as much."""
    from concurrent.futures import ThreadPoolExecutor

    from bruit.codes import ReedSolomon

    code = ReedSolomon(255, 223)
    received, _ = damaged(code.encode(messages(WORDS)), 8, 0)
    pool = ThreadPoolExecutor(2)

    def timed() -> float:
        began = perf_counter()
        code.decode(received)
        alone = perf_counter() - began
        began = perf_counter()
        list(pool.map(code.decode, [received, received]))
        return 2 * alone / (perf_counter() - began)

    return timed


ISAL = {
    "encode": Peer("ISA-L, words side by side", isal_code(223, 32)),
    "decode clean": Peer("ISA-L, the syndromes alone, words side by side", isal_code(255, 32)),
    "decode 16 erasures": Peer("ISA-L, the same places in all words", isal_code(223, 16)),
    "decode 32 erasures": Peer("ISA-L, the same places in all words", isal_code(223, 32)),
}
"""What a library for storage does of the work: sums of products, with nothing to be located."""


def words_case(name: str, errors: int | None, erasures: int, goal: float) -> Case:
    peers = [Peer("creedsolo", creedsolo_code(errors, erasures)), Peer("libfec", libfec_code(errors, erasures))]
    if not erasures:
        peers = [Peer("galois", galois_code(errors)), *peers]
    peers += [ISAL[name]] if name in ISAL else []
    return Case(
        f"RS(255,223) {name}", "MB/s", "higher", reed_solomon(errors, erasures), tuple(peers), goal=goal, returned=True
    )


def digits_case(name: str, module: str, width: int) -> list[Case]:
    peer = (Peer("stdnum", stdnum(module, width)),)
    bytes_, column = (check_digits(name, width, polars=polars) for polars in (False, True))
    return [
        Case(f"{name} on bytes", "values/s", "higher", bytes_, peer, goal=1e8, returned=True),
        Case(f"{name} from polars", "values/s", "higher", column, peer, goal=6e7, returned=True),
    ]


CASES = [
    words_case("encode", None, 0, 800),
    words_case("decode clean", 0, 0, 3000),
    words_case("decode 8 errors", 8, 0, 600),
    words_case("decode 16 errors", 16, 0, 350),
    words_case("decode 16 erasures", 0, 16, 90),
    words_case("decode 32 erasures", 0, 32, 50),
    Case("RS two threads", "times", "higher", two_threads, goal=1.8, returned=True, threads=None),
    Case(
        "Hamming(1023,1013) decode",
        "Gbit/s",
        "higher",
        hamming,
        (Peer("komm", komm_hamming),),
        goal=16,
        returned=True,
    ),
    *digits_case("Luhn", "luhn", 16),
    *digits_case("Nir", "fr.nir", 15),
]
