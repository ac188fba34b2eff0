"""The same answers from a processor without vectors of bytes: all kernels are compiled for the first 64-bit ones."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit.codes import (
    CcsdsTurbo,
    Convolutional,
    LteTurbo,
    RaptorQ,
    ReedSolomon,
    ccsds,
    golay,
    nr,
    nr_polar,
    polar,
    wifi,
)
from bruit.codes._vector_code import processor_has

BYTES = (ReedSolomon(255, 223), ccsds(), ReedSolomon(40, 8, bits=8))
OTHERS = (
    RaptorQ(10, 14),
    Convolutional((0o171, 0o133), 100),
    Convolutional((0o15,), 40, feedback=0o13, decoder="bcjr"),
    nr(60, 150),
    wifi(648, "5/6"),
    polar(64, 128, polynomial="NR 11"),
    nr_polar(20, 100),
    LteTurbo(40),
    CcsdsTurbo(1784),
    golay(),
)
PLAIN = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}


def fingerprints(codes: Any) -> list[str]:
    """One of each code's answers to 40 noisy words."""
    return [f"{code} {hashlib.sha256(b''.join(answers(code))).hexdigest()}" for code in codes]


def answers(code: Any) -> list[bytes]:
    rng = np.random.default_rng(3)
    words = code.encode(code.random_messages(40, rng))
    if code.soft:
        received = 8 * (1 - 2.0 * words + rng.normal(0, 0.5, words.shape))  # log-likelihoods, as CCSDS turbo needs them
    else:
        received = np.where(rng.random(words.shape) < 0.05, rng.integers(0, code.symbols, words.shape), words)
    found = code.decode(received)
    assert found.decoded.any()
    return [words.tobytes(), found.message.tobytes(), found.word.tobytes(), found.decoded.tobytes()]


def elsewhere(codes: str) -> list[str]:
    """The fingerprints from a process that compiles for a processor of 2003."""
    asked = f"import test_plain_processor as t; print(t.processor_has('avx2'), *t.fingerprints(t.{codes}), sep='\\n')"
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    settings = {**os.environ, **PLAIN, "PYTHONPATH": paths}
    ended = subprocess.run([sys.executable, "-c", asked], env=settings, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    first, *others = ended.stdout.splitlines()
    assert first == "False"
    return others


@pytest.mark.skipif(not processor_has("avx2"), reason="this processor has no vectors to do without")
def test_words_of_bytes_are_decoded_alike_without_vectors() -> None:
    assert elsewhere("BYTES") == fingerprints(BYTES)


@pytest.mark.stress
@pytest.mark.skipif(not processor_has("avx2"), reason="this processor has no vectors to do without")
def test_all_other_decoders_answer_alike_without_vectors() -> None:
    assert elsewhere("OTHERS") == fingerprints(OTHERS)
