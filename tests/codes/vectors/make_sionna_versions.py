"""Writes sionna_versions.json: all redundancy versions by sionna-no-rt 2.2.0 (pip install sionna-no-rt==2.2.0)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sionna.phy.fec.ldpc import LDPC5GEncoder

SIZES = [(100, 300), (300, 660), (500, 720), (972, 1944), (4224, 6000)]
SYMBOL_BITS = [1, 2, 6]


def packed(bits: np.ndarray) -> str:
    """Bits as hexadecimal digits, the first bit highest."""
    return np.packbits(np.asarray(bits, np.uint8)).tobytes().hex()


def vectors(k: int, n: int, symbol_bits: int, message: np.ndarray) -> list[dict[str, Any]]:
    encoder = LDPC5GEncoder(k, n, num_bits_per_symbol=symbol_bits)
    words = encoder(torch.tensor(message[None], dtype=torch.float32), rv=[0, 1, 2, 3]).cpu().numpy()[0]
    common = {"k": k, "n": n, "interleaved": symbol_bits, "message": packed(message)}
    return [common | {"version": version, "word": packed(word)} for version, word in enumerate(words)]


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    made = [v for k, n in SIZES for bits in SYMBOL_BITS for v in vectors(k, n, bits, rng.integers(0, 2, k))]
    Path(__file__).with_name("sionna_versions.json").write_text(json.dumps(made, indent=1) + "\n")
