"""Words and decisions of other libraries, stored with the scripts that made them in `vectors`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bruit.codes import Convolutional, LteTurbo, nr

VECTORS = Path(__file__).parent / "vectors"
KOMM = json.loads((VECTORS / "komm.json").read_text())
SIONNA = json.loads((VECTORS / "sionna.json").read_text())
DECODED = [case for case in KOMM if "viterbi" in case]


def convolutional(case: dict[str, Any]) -> Convolutional:
    return Convolutional(tuple(case["generators"]), case["k"], feedback=case["feedback"], ending=case["ending"])


@pytest.mark.parametrize("case", KOMM, ids=lambda case: f"{case['generators']} {case['ending']}")
def test_convolutional_words_are_those_of_komm(case: dict[str, Any]) -> None:
    np.testing.assert_array_equal(convolutional(case).encode(case["messages"]), case["words"])


@pytest.mark.parametrize("case", DECODED, ids=lambda case: f"{case['generators']}")
def test_viterbi_decides_as_komm(case: dict[str, Any]) -> None:
    np.testing.assert_array_equal(convolutional(case).decode(np.array(case["heard"])).message, case["viterbi"])


@pytest.mark.parametrize("case", DECODED, ids=lambda case: f"{case['generators']}")
def test_bcjr_believes_as_komm(case: dict[str, Any]) -> None:
    code = replace(convolutional(case), decoder="bcjr")
    np.testing.assert_allclose(code.posterior(np.array(case["heard"])), case["bcjr"], rtol=1e-4, atol=1e-4)


def unpacked(text: str, size: int) -> NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8), count=size)


@pytest.mark.parametrize("case", SIONNA["nr"], ids=lambda case: f"{case['k']} {case['n']}")
def test_new_radio_words_are_those_of_sionna(case: dict[str, Any]) -> None:
    k, n = case["k"], case["n"]
    np.testing.assert_array_equal(nr(k, n).encode(unpacked(case["message"], k)), unpacked(case["word"], n))


@pytest.mark.parametrize("case", SIONNA["turbo"], ids=lambda case: str(case["k"]))
def test_turbo_words_are_those_of_sionna(case: dict[str, Any]) -> None:
    k, n = case["k"], case["n"]
    streams = LteTurbo(k).encode(unpacked(case["message"], k)).reshape(3, k + 4)
    np.testing.assert_array_equal(streams.T.reshape(-1), unpacked(case["word"], n))  # it sends the streams in turns
