"""Writes sionna_rates.json: word error rates of sionna-no-rt 2.2.0, flooding sum-product, 20 iterations."""

import json
from pathlib import Path

import numpy as np
import torch
from sionna.phy.fec.ldpc import LDPC5GDecoder, LDPC5GEncoder

POINTS = [(500, 1000, 1.4), (1000, 1250, 3.0)]  # k, n, Eb/N0 in dB: base graphs 2 and 1
WORDS, BATCH = 2000, 100


def wrong_words(k: int, n: int, level: float) -> int:
    """Of WORDS random messages, how many come out wrong."""
    encoder = LDPC5GEncoder(k, n)
    decoder = LDPC5GDecoder(encoder, cn_update="boxplus", num_iter=20, hard_out=True)
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
        {"k": k, "n": n, "level": level, "words": WORDS, "wrong": wrong_words(k, n, level)} for k, n, level in POINTS
    ]
    Path(__file__).with_name("sionna_rates.json").write_text(json.dumps(rows, indent=1) + "\n")
