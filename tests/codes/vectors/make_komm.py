"""Writes komm.json: words and decisions of komm 0.37.0 (pip install komm==0.37.0; python make_komm.py)."""

import json
from pathlib import Path
from typing import Any

import komm
import numpy as np

MODES = {"zero": "zero-termination", "open": "direct-truncation", "bitten": "tail-biting"}
CASES = [
    {"generators": [0o171, 0o133], "feedback": 0, "ending": "zero", "k": 40},
    {"generators": [0o171, 0o133], "feedback": 0, "ending": "bitten", "k": 40},
    {"generators": [0o7, 0o5], "feedback": 0, "ending": "open", "k": 30},
    {"generators": [0o133, 0o171, 0o165], "feedback": 0, "ending": "zero", "k": 30},
    {"generators": [0o15], "feedback": 0o13, "ending": "zero", "k": 40},
]


def turned(generator: int, length: int) -> int:
    """Komm writes the newest bit's tap lowest, the literature highest."""
    return int(f"{generator:0{length}b}"[::-1], 2)


def vector(case: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    length = max(g.bit_length() for g in case["generators"])
    taps = [turned(g, length) for g in case["generators"]]
    if case["feedback"]:
        back = turned(case["feedback"], length)
        inner = komm.ConvolutionalCode([[back, *taps]], [back])
    else:
        inner = komm.ConvolutionalCode([taps])
    code = komm.TerminatedConvolutionalCode(inner, case["k"], MODES[case["ending"]])
    messages = rng.integers(0, 2, (4, case["k"]))
    words = np.array([code.encode(message) for message in messages])
    heard = np.round(2.0 * (1 - 2 * words) + rng.normal(0, 2.0, words.shape), 2)
    found = {"messages": messages.tolist(), "words": words.tolist(), "heard": heard.tolist()}
    if case["ending"] != "bitten":  # komm decodes no bitten tail
        viterbi = komm.ViterbiDecoder(code, input_type="soft")
        found["viterbi"] = [np.asarray(viterbi.decode(row)).tolist() for row in heard]
        bcjr = komm.BCJRDecoder(code, output_type="soft")
        found["bcjr"] = [np.round(np.asarray(bcjr.decode(row)), 6).tolist() for row in heard]
    return case | found


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    Path(__file__).with_name("komm.json").write_text(json.dumps([vector(case, rng) for case in CASES]) + "\n")
