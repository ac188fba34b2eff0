"""Writes sionna_polar_rates.json: word error rates of sionna-no-rt 2.2.0, eight paths and the checksum."""

import json
from pathlib import Path

import numpy as np
import torch
from sionna.phy.fec.polar import Polar5GDecoder, Polar5GEncoder

POINTS = [(64, 128, "uplink", 2.0), (100, 400, "uplink", 0.5), (40, 108, "downlink", 3.0)]  # the last one Eb/N0 in dB
WORDS, BATCH = 2000, 500


def wrong_words(k: int, n: int, link: str, level: float) -> int:
    """Of WORDS random messages, how many come out wrong."""
    encoder = Polar5GEncoder(k, n, channel_type=link)
    decoder = Polar5GDecoder(encoder, dec_type="SCL", list_size=8)
    deviation = (2 * k / n * 10 ** (level / 10)) ** -0.5
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(WORDS // BATCH):
        message = rng.integers(0, 2, (BATCH, k))
        sent = encoder(torch.tensor(message, dtype=torch.float32)).cpu().numpy()
        heard = 2 / deviation**2 * (1 - 2 * sent + rng.normal(0, deviation, sent.shape))
        found = decoder(torch.tensor(-heard, dtype=torch.float32)).cpu().numpy()  # its sign is log p(1)/p(0)
        wrong += int((found != message).any(axis=1).sum())
    return wrong


if __name__ == "__main__":
    torch.set_num_threads(1)
    rows = [
        {"k": k, "n": n, "link": link, "level": level, "words": WORDS, "wrong": wrong_words(k, n, link, level)}
        for k, n, link, level in POINTS
    ]
    Path(__file__).with_name("sionna_polar_rates.json").write_text(json.dumps(rows, indent=1) + "\n")
