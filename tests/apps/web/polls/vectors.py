"""Test vectors that Python and the browser share: `python tests/apps/web/polls/vectors.py` writes vectors.json.

Each has a protocol, an answer, words of randomness as pairs of 32 bits (the low one first) and the report they lead to,
computed by the kernels of the protocol where one word is one draw, and bit by bit from its integer weights elsewhere.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bruit import local
from bruit.apps.web import Wire
from bruit.local.frequencies import bits as packed_bits

FILE = Path(__file__).with_suffix(".json")
TEXTS = ("", "a", "naïve café", "日本語", "🎲 dice", "half a pair \ud83c", "x" * 100)


def protocols() -> list[tuple[Any, list[Any]]]:
    """Every protocol that a poll can have, with answers."""
    colours = ["red", "green", "blue"]
    many = [f"choice {number}" for number in range(20)]
    return [
        (local.Warner(epsilon=1), ["no", "yes"]),
        (local.Warner(epsilon=Fraction(1, 10)), ["yes"]),
        (local.KRR(colours, epsilon=1), colours),
        (local.KRR(many, epsilon=5), [many[0], many[19]]),
        (local.OUE(many, epsilon=Fraction(1, 2)), [many[7]]),
        (local.LongitudinalKRR(("no", "yes"), epsilon=1, forever=2), ["no", "yes"]),
        (local.LongitudinalOUE(many, epsilon=1, forever=3), [many[3]]),
        (local.OneBitMean(0, 100, grid=1, epsilon=1), [0, 50, 100, 37, 0.5, 1.5, -5, 1000]),
        (local.OneBitMean("-2.5", "2.5", grid="0.25", epsilon=2), [-2.5, 0.1, 1.125, 2.4]),
        (local.Rappor(bits=128, hashes=1, cohorts=8, f="0.5"), list(TEXTS)),
        (local.Rappor(bits=100, hashes=3, cohorts=5, f="0.25", p="0.4", q="0.6"), list(TEXTS)),
    ]


def made() -> list[dict[str, Any]]:
    """All vectors, from fixed words."""
    rng = np.random.default_rng(20_240_601)
    found = []
    for protocol, answers in protocols():
        for answer in answers:
            words = rng.integers(0, 1 << 32, (300, 2), dtype=np.uint64)
            report, memory = expected(protocol, answer, (words[:, 1] << np.uint64(32)) | words[:, 0])
            drawn = words[: 2 * 128 + 8] if "bits" in protocol.to_json() or len(str(report)) > 3 else words[:2]
            line = {"protocol": protocol.to_json(), "answer": answer, "words": drawn.tolist(), "report": report}
            found.append({**line, "memory": memory})
    return found


def expected(protocol: Any, answer: Any, words: Any) -> tuple[Any, dict[str, Any]]:
    """The report that these words lead to, and what is memoised on the way."""
    drawn = iter(int(word) >> 12 for word in words)
    place = protocol.categories.indices([answer]) if hasattr(protocol, "categories") else None
    if isinstance(protocol, local.Warner | local.KRR):
        return sent(protocol.channel, place, words[:1]), {}
    if isinstance(protocol, local.LongitudinalKRR):
        kept = sent(protocol.permanent, place, words[:1])
        return sent(protocol.instantaneous, np.array([kept], np.int32), words[1:2]), {str(place[0]): kept}
    if isinstance(protocol, local.OneBitMean):
        return int(next(drawn) < int(protocol.weights(protocol._steps([answer]))[0])), {}
    if isinstance(protocol, local.OUE):
        return packed(
            [next(drawn) < protocol.weights[int(index != place[0])] for index in range(len(protocol.categories))]
        ), {}
    if isinstance(protocol, local.LongitudinalOUE):
        size, ones = len(protocol.categories), [int(row[1]) for row in protocol.instantaneous.weights]
        kept_bits = [next(drawn) < protocol.permanent[int(index != place[0])] for index in range(size)]
        return packed([next(drawn) < ones[bit] for bit in kept_bits]), {str(place[0]): packed(kept_bits)}
    return rappor(protocol, answer, drawn)


def rappor(protocol: Any, text: str, drawn: Any) -> tuple[Any, dict[str, Any]]:
    """The cohort, the permanent bits and the reported ones."""
    limit = (1 << 52) - (1 << 52) % protocol.cohorts
    cohort = next(u for u in drawn if u < limit) % protocol.cohorts
    row = protocol.filters([text], np.array([cohort], np.int32))
    bits = packed_bits.unpacked(row, protocol.bits)[0]
    permanent, fresh = (
        [int(line[1]) for line in channel.weights] for channel in (protocol.law.permanent, protocol.law.instantaneous)
    )
    kept = [next(drawn) < permanent[bit] for bit in bits]
    report = [next(drawn) < fresh[bit] for bit in kept]
    return [cohort, packed(report)], {"cohort": cohort, f"={text}": packed(kept)}


def sent(channel: Any, places: Any, words: Any) -> int:
    """A symbol through the kernel of a symmetric channel."""
    received = np.empty(1, np.int32)
    channel._send(np.asarray(places, np.int32), np.asarray(words, np.uint64), received)
    return int(received[0])


def packed(bits: list[bool]) -> str:
    """Bits as a report carries them."""
    return np.packbits(bits, bitorder="little").tobytes().hex()


def check_known(line: dict[str, Any]) -> None:
    """A vector's report is one that the collector takes."""
    Wire(local.protocol_from_json(line["protocol"])).read(line["report"])


if __name__ == "__main__":
    FILE.write_text("[\n" + ",\n".join(json.dumps(line) for line in made()) + "\n]\n")
