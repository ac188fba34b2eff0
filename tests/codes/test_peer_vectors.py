"""Words and decisions of other libraries, stored with the scripts that made them in `vectors`."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bruit.codes import Convolutional

VECTORS = Path(__file__).parent / "vectors"
KOMM = json.loads((VECTORS / "komm.json").read_text())
DECODED = [case for case in KOMM if "viterbi" in case]


def convolutional(case):
    return Convolutional(tuple(case["generators"]), case["k"], feedback=case["feedback"], ending=case["ending"])


@pytest.mark.parametrize("case", KOMM, ids=lambda case: f"{case['generators']} {case['ending']}")
def test_convolutional_words_are_those_of_komm(case):
    np.testing.assert_array_equal(convolutional(case).encode(case["messages"]), case["words"])


@pytest.mark.parametrize("case", DECODED, ids=lambda case: f"{case['generators']}")
def test_viterbi_decides_as_komm(case):
    np.testing.assert_array_equal(convolutional(case).decode(np.array(case["heard"])).message, case["viterbi"])


@pytest.mark.parametrize("case", DECODED, ids=lambda case: f"{case['generators']}")
def test_bcjr_believes_as_komm(case):
    code = replace(convolutional(case), decoder="bcjr")
    np.testing.assert_allclose(code.posterior(np.array(case["heard"])), case["bcjr"], rtol=1e-4, atol=1e-4)
