"""RaptorQ beside the Rust implementation `raptorq`: 1000 symbols of 1280 bytes, a tenth lost. Part of `codes`."""

from __future__ import annotations

from typing import Any

from benchmarks.case import Case, Peer, Work
from benchmarks.codes.timing import rate

SYMBOLS, SYMBOL = 1000, 1280
REPAIR = 100
ARRIVED = SYMBOLS + 2
MEGABYTES = SYMBOLS * SYMBOL / 1e6


def content() -> bytes:
    import random

    return random.Random(1).randbytes(SYMBOLS * SYMBOL)


def some_of(packets: Any) -> list[Any]:
    """The packets that arrive: enough, out of order."""
    import random

    return random.Random(2).sample(list(packets), ARRIVED)


def encode() -> Work:
    from bruit.codes import RaptorQFile

    payload = content()
    file = RaptorQFile(len(payload), symbol=SYMBOL)
    return rate(lambda: file.packets(payload, repair=REPAIR), MEGABYTES)


def decode() -> Work:
    import numpy as np

    from bruit.codes import RaptorQFile

    payload = content()
    file = RaptorQFile(len(payload), symbol=SYMBOL)
    arrived = np.array(some_of(file.packets(payload, repair=REPAIR)))
    return rate(lambda: file.content(arrived), MEGABYTES)


def encode_peer() -> Work:
    import raptorq

    payload = content()
    return rate(lambda: raptorq.Encoder.with_defaults(payload, SYMBOL).get_encoded_packets(REPAIR), MEGABYTES)


def decode_peer() -> Work:
    import raptorq

    payload = content()
    arrived = some_of(raptorq.Encoder.with_defaults(payload, SYMBOL).get_encoded_packets(REPAIR))

    def work() -> object:
        decoder = raptorq.Decoder.with_defaults(len(payload), SYMBOL)
        return next(found for packet in arrived if (found := decoder.decode(packet)) is not None)

    return rate(work, MEGABYTES)


CASES = [
    Case(
        "RaptorQ K=1000, 1280 bytes: encode, 100 repair",
        "MB/s",
        "higher",
        encode,
        (Peer("raptorq", encode_peer),),
        goal=200,
        returned=True,
    ),
    Case(
        "RaptorQ K=1000, 1280 bytes: decode, a tenth lost",
        "MB/s",
        "higher",
        decode,
        (Peer("raptorq", decode_peer),),
        goal=200,
        returned=True,
    ),
]
