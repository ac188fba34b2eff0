"""QR symbols: those of two other programs, and what damage each level survives."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import segno
from numpy.typing import NDArray

from bruit.codes import qr_symbol, read_qr_symbol
from bruit.errors import DecodingFailure, InvalidArgument

VECTORS = json.loads((Path(__file__).parent / "vectors" / "qrcode.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['level']} {vector['mask']}")
def test_symbols_are_those_of_another_program(vector: dict[str, Any]) -> None:
    size = len(vector["rows"])
    expected = [[int(bit) for bit in f"{int(row, 16):0{size}b}"] for row in vector["rows"]]
    made = qr_symbol(vector["text"].encode(), level=vector["level"], mask=vector["mask"])
    np.testing.assert_array_equal(made, np.array(expected, bool))


@pytest.mark.parametrize("level", "LMQH")
@pytest.mark.parametrize("mask", range(8))
def test_symbols_of_a_third_program_are_read(level: str, mask: int) -> None:
    for text in (b"bruit", b"noise is a channel", b"a longer text of 32 plain bytes."):
        made = segno.make(text, error=level, mode="byte", mask=mask, boost_error=False, micro=False)
        modules = np.array([list(row) for row in made.matrix], bool)
        found = read_qr_symbol(modules)
        assert (found.content, found.corrected) == (text, 0)
        np.testing.assert_array_equal(found.modules, modules)


def scratched(modules: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """A symbol whose lower right corner was turned round over so many modules a side."""
    hurt = modules.copy()
    hurt[-width:, -width:] ^= True
    return hurt


@pytest.mark.parametrize(("level", "survives"), [("L", 3), ("M", 5), ("Q", 8), ("H", 8)])
def test_damage_is_repaired_up_to_the_level(level: str, survives: int) -> None:
    sent = qr_symbol(b"noise is a channel", level=level)
    hurt = scratched(sent, survives)
    hurt[8, 0:3] ^= True  # three bits of one copy of the format
    found = read_qr_symbol(hurt)
    assert found.content == b"noise is a channel"
    assert found.corrected > 0
    np.testing.assert_array_equal(found.modules, sent)
    with pytest.raises(DecodingFailure):
        read_qr_symbol(scratched(sent, 16))


def test_what_cannot_be_written_or_read_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="holds 34 at level H"):
        qr_symbol(bytes(35), level="H")
    with pytest.raises(InvalidArgument, match="'L', 'M', 'Q' or 'H'"):
        qr_symbol(b"bruit", level="X")
    with pytest.raises(InvalidArgument, match="mask"):
        qr_symbol(b"bruit", mask=8)
    with pytest.raises(InvalidArgument, match="21, 25, 29 or 33"):
        read_qr_symbol(np.zeros((20, 20), bool))
    numbers = segno.make("12345678", mode="numeric", micro=False, version=1)
    with pytest.raises(DecodingFailure, match="plain bytes"):
        read_qr_symbol(np.array([list(row) for row in numbers.matrix], bool))
    ruined = qr_symbol(b"bruit")
    ruined[8, ::2] ^= True
    ruined[:, 8] ^= True
    with pytest.raises(DecodingFailure):
        read_qr_symbol(ruined)
