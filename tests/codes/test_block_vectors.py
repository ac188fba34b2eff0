"""Block codes beside words and decisions of komm, stored with the script that made them in `vectors`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit.codes import Bch, Code, Hamming, ReedSolomon

KOMM = json.loads((Path(__file__).parent / "vectors" / "block_codes.json").read_text())


def code_of(case: dict[str, Any]) -> Code:
    if case["family"] == "hamming":
        return Hamming(case["checks"], rows=tuple(case["rows"]), extended=case["extended"])
    kind = Bch if case["family"] == "bch" else ReedSolomon
    return kind(case["n"], case["k"], polynomial=case["polynomial"])


@pytest.mark.parametrize("case", KOMM, ids=lambda case: f"{case['family']}-{len(case['words'][0])}")
def test_words_and_corrections_are_those_of_komm(case: dict[str, Any]) -> None:
    code, words = code_of(case), np.array(case["words"])
    assert code.encode(words[:, : code.k]).tolist() == case["words"]
    assert case["received"] != case["words"]
    decoded = code.decode(case["received"])
    assert decoded.decoded.all()
    assert decoded.word.tolist() == case["decoded"] == case["words"]
