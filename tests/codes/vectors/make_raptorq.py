"""Writes raptorq.json: digests of the packets of raptorq 2.0.0 (pip install raptorq==2.0.0; python make_raptorq.py)."""

import hashlib
import json
from pathlib import Path

import raptorq

CASES = [(1, 64, 5), (10, 64, 10), (1000, 64, 12), (5000, 72, 30), (123_457, 200, 90), (30_000, 28, 150)]
LARGE = (16_000_000, 1280, 3)  # one block in two sub-blocks


def content(size: int) -> bytes:
    """Bytes that the test makes again: a hash of the place, 32 at a time."""
    parts = (hashlib.sha256(at.to_bytes(4, "big")).digest() for at in range(size // 32 + 1))
    return b"".join(parts)[:size]


def digest(size: int, symbol: int, repair: int) -> str:
    """Over all packets in the order of their numbers."""
    made = raptorq.Encoder.with_defaults(content(size), symbol).get_encoded_packets(repair)
    return hashlib.sha256(b"".join(sorted(made))).hexdigest()


if __name__ == "__main__":
    vectors = [
        {"size": size, "symbol": symbol, "repair": repair, "digest": digest(size, symbol, repair)}
        for size, symbol, repair in [*CASES, LARGE]
    ]
    Path(__file__).with_name("raptorq.json").write_text(json.dumps(vectors, indent=1) + "\n")
