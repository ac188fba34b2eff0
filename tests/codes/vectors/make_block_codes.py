"""Writes block_codes.json: words and decisions of komm 0.37.0 (pip install komm==0.37.0, then run this file)."""

import json
from pathlib import Path
from typing import Any

import komm
import numpy as np

WORDS = 6


def modulus(mu: int) -> int:
    """The polynomial that komm takes for the field of 2^mu elements."""
    return int(komm.BCHCode(mu, 3).generator_polynomial)


def noisy(words: np.ndarray, errors: int, rng: np.random.Generator) -> np.ndarray:
    received = words.copy()
    for row in received:
        row[rng.choice(row.size, errors, replace=False)] ^= 1
    return received


def bch(mu: int, delta: int, rng: np.random.Generator) -> dict[str, Any]:
    """Komm writes the lowest degree first, so everything is turned round."""
    code = komm.BCHCode(mu, delta)
    words = code.encode(rng.integers(0, 2, (WORDS, code.dimension)))
    received = noisy(words, (delta - 1) // 2, rng)
    decoded = code.encode(komm.BerlekampDecoder(code).decode(received))
    rows = {"words": words, "received": received, "decoded": decoded}
    case = {"family": "bch", "n": code.length, "k": code.dimension, "polynomial": modulus(mu)}
    return case | {name: np.asarray(value)[:, ::-1].tolist() for name, value in rows.items()}


def symbols(bits: np.ndarray, mu: int) -> list[Any]:
    """Symbols, highest degree first, from bits that stand lowest first."""
    grouped = np.asarray(bits).reshape(len(bits), -1, mu)
    return (grouped @ (1 << np.arange(mu)))[:, ::-1].tolist()


def reed_solomon(mu: int, delta: int, rng: np.random.Generator) -> dict[str, Any]:
    code = komm.ReedSolomonCode(mu, delta)
    words = code.encode(rng.integers(0, 2, (WORDS, code.dimension)))
    received = noisy(words, (delta - 1) // 2, rng)
    decoded = code.encode(komm.BerlekampDecoder(code).decode(received))
    rows = {"words": words, "received": received, "decoded": decoded}
    case = {"family": "rs", "n": 2**mu - 1, "k": 2**mu - delta, "polynomial": modulus(mu)}
    return case | {name: symbols(value, mu) for name, value in rows.items()}


def hamming(mu: int, *, extended: bool, rng: np.random.Generator) -> dict[str, Any]:
    code = komm.HammingCode(mu, extended=extended)
    words = code.encode(rng.integers(0, 2, (WORDS, code.dimension)))
    received = noisy(words, 1, rng)
    decoded = code.encode(komm.SyndromeTableDecoder(code).decode(received))
    parity = code.generator_matrix[:, code.dimension :][:, :mu]
    rows = {"rows": ["".join(map(str, row)) for row in np.asarray(parity).tolist()], "checks": mu, "extended": extended}
    case = {"family": "hamming", **rows, "words": np.asarray(words).tolist(), "received": np.asarray(received).tolist()}
    return case | {"decoded": np.asarray(decoded).tolist()}


def main() -> None:
    rng = np.random.default_rng(1)
    cases = [bch(mu, delta, rng) for mu, delta in [(4, 5), (4, 7), (5, 7), (6, 7)]]
    cases += [reed_solomon(mu, delta, rng) for mu, delta in [(3, 5), (4, 7), (5, 9)]]
    cases += [hamming(mu, extended=extended, rng=rng) for mu in (3, 4, 5) for extended in (False, True)]
    Path(__file__).with_name("block_codes.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
