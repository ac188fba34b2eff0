"""Writes sionna.json: words of sionna-no-rt 2.2.0 (pip install sionna-no-rt==2.2.0; python make_sionna.py)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sionna.phy.fec.ldpc import LDPC5GEncoder
from sionna.phy.fec.turbo import TurboEncoder

NR = [(20, 60), (100, 300), (292, 400), (500, 1100), (600, 1200), (972, 1944), (4224, 6000)]
TURBO = [40, 512, 1024]


def packed(bits: np.ndarray) -> str:
    """Bits as hexadecimal digits, the first bit highest."""
    return np.packbits(np.asarray(bits, np.uint8)).tobytes().hex()


def encoded(encoder: object, message: np.ndarray) -> np.ndarray:
    sent = encoder(torch.tensor(message[None], dtype=torch.float32))
    return sent.cpu().numpy()[0].astype(np.uint8)


def vector(encoder: object, message: np.ndarray) -> dict[str, Any]:
    word = encoded(encoder, message)
    return {"k": message.size, "n": word.size, "message": packed(message), "word": packed(word)}


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    made = {
        "nr": [vector(LDPC5GEncoder(k, n), rng.integers(0, 2, k)) for k, n in NR],
        "turbo": [
            vector(TurboEncoder(constraint_length=4, rate=1 / 3, terminate=True), rng.integers(0, 2, k)) for k in TURBO
        ],
    }
    Path(__file__).with_name("sionna.json").write_text(json.dumps(made, indent=1) + "\n")
