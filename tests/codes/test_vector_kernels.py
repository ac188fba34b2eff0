"""The vector kernels of Reed–Solomon beside the plain ones, symbol by symbol, below, at and beyond the limit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bruit.codes import ReedSolomon, ccsds, qr
from bruit.codes.reed_solomon import code as reed_solomon
from bruit.codes.reed_solomon.vector_tables import PROCESSOR, _image, _matrix, has_vectors

pytestmark = pytest.mark.skipif(not has_vectors(), reason="this processor multiplies no bytes of a field")

CODES = [
    ReedSolomon(255, 223),
    ReedSolomon(255, 224),
    ReedSolomon(255, 254),
    ReedSolomon(40, 8, bits=8),
    ReedSolomon(200, 170, first_root=0),
    ReedSolomon(100, 93, bits=8, first_root=7, step=2),
    ccsds(),
    qr(26, 19),
]


def both(
    code: ReedSolomon,
    received: NDArray[np.uint8],
    erasures: NDArray[np.bool_] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    found = []
    for vectors in (True, False):
        monkeypatch.setattr(reed_solomon, "has_vectors", lambda answer=vectors: answer)
        found.append(replace(code).decode(received, erasures=erasures))
    return found


def assert_same(found: Any) -> None:
    for name in ("word", "message", "decoded", "corrected", "checks"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))


@pytest.mark.parametrize("code", CODES, ids=str)
def test_errors_are_corrected_alike(code: ReedSolomon, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(code.n)
    words = code.encode(code.random_messages(61, rng))
    for errors in {0, 1, code.checks // 2, code.checks // 2 + 1, min(code.n, code.checks + 3)}:
        noise = np.zeros_like(words)
        for row in noise:
            row[rng.choice(code.n, errors, replace=False)] = rng.integers(1, 256, errors)
        found = both(code, words ^ noise, None, monkeypatch)
        assert_same(found)
        assert found[0].decoded.all() or errors > code.checks // 2


@settings(max_examples=60)
@given(st.sampled_from(CODES), st.data())
def test_errors_and_erasures_are_corrected_alike(code: ReedSolomon, data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    words = code.encode(code.random_messages(5, rng))
    erased = np.zeros(words.shape, bool)
    for row, flags in zip(words, erased, strict=True):
        lost = data.draw(st.integers(0, code.checks))
        wrong = data.draw(st.integers(0, code.checks // 2 + 1))
        places = rng.choice(code.n, min(code.n, lost + wrong), replace=False)
        row[places] ^= rng.integers(0, 256, places.size, dtype=np.uint8)
        flags[places[:lost]] = True
    with pytest.MonkeyPatch.context() as patch:
        assert_same(both(code, words, erased, patch))


@pytest.mark.parametrize("polynomial", [0x11D, 0x187, 0x12D, 0x1F5])
def test_the_change_of_basis_keeps_sums_and_products(polynomial: int) -> None:
    into, back = _image(polynomial)

    def times(a: Any, b: Any, modulus: Any) -> Any:
        total = 0
        for bit in range(8):
            total ^= a << bit if b >> bit & 1 else 0
        for bit in range(15, 7, -1):
            total ^= modulus << (bit - 8) if total >> bit & 1 else 0
        return total

    rng = np.random.default_rng(polynomial)
    for a, b in rng.integers(0, 256, (500, 2)).tolist():
        assert into[a ^ b] == into[a] ^ into[b]
        assert into[times(a, b, polynomial)] == times(int(into[a]), int(into[b]), PROCESSOR)
        assert back[into[a]] == a
    rows = [(_matrix(into) >> (8 * (7 - i))) & 255 for i in range(8)]
    for a in range(256):
        assert into[a] == sum(((rows[i] & a).bit_count() & 1) << i for i in range(8))
