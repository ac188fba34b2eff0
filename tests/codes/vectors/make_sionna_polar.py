"""Writes sionna_polar.json with sionna-no-rt 2.2.0 (pip install sionna-no-rt==2.2.0; python make_sionna_polar.py)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sionna.phy.fec.polar import Polar5GEncoder

UPLINK = [(20, 60), (30, 100), (64, 128), (100, 150), (100, 400), (200, 1000), (500, 1024), (500, 1087), (40, 1088)]
DOWNLINK = [(20, 108), (40, 108), (64, 216), (80, 432), (100, 200), (140, 576), (32, 500), (12, 216)]


def packed(bits: np.ndarray) -> str:
    """Bits as hexadecimal digits, the first bit highest."""
    return np.packbits(np.asarray(bits, np.uint8)).tobytes().hex()


def vector(k: int, n: int, link: str, message: np.ndarray) -> dict[str, Any]:
    encoder = Polar5GEncoder(k, n, channel_type=link)
    word = encoder(torch.tensor(message[None], dtype=torch.float32)).cpu().numpy()[0]
    return {"k": k, "n": n, "link": link, "message": packed(message), "word": packed(word)}


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    made = [vector(k, n, "uplink", rng.integers(0, 2, k)) for k, n in UPLINK]
    made += [vector(k, n, "downlink", rng.integers(0, 2, k)) for k, n in DOWNLINK]
    Path(__file__).with_name("sionna_polar.json").write_text(json.dumps(made, indent=1) + "\n")
