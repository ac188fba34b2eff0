"""Any value at all for any argument of the package: what is asked for, or a refusal in one sentence."""

from inspect import signature
from typing import Any

import numpy as np
import pytest

from bruit import codes
from bruit.codes import Code
from bruit.errors import BruitError, InvalidArgument

CALLS: dict[str, dict[str, Any]] = {
    "Bch": {"n": 31, "k": 16},
    "CcsdsTurbo": {"k": 1784},
    "Convolutional": {"generators": (7, 5), "k": 10},
    "Crc": {"k": 10, "polynomial": "NR 6"},
    "Damm": {"digits": 8},
    "Ean": {},
    "Hamming": {"checks": 3},
    "Iban": {"country": "FR"},
    "Isbn": {},
    "LteTurbo": {"k": 40},
    "Luhn": {"digits": 16},
    "Nir": {},
    "Parity": {},
    "RaptorQ": {"k": 10, "n": 14},
    "RaptorQFile": {"size": 1000},
    "ReedSolomon": {"n": 15, "k": 11},
    "Repetition": {"times": 3},
    "Siren": {},
    "Siret": {},
    "Verhoeff": {"digits": 8},
    "ccsds": {},
    "checksum": {"content": b"123456789"},
    "dvb_s2": {"n": 16200, "rate": "1/2"},
    "envelope": {"payload": b"abc"},
    "finite_length_limit": {"n": 100, "k": 50, "word_errors": 0.01},
    "golay": {},
    "ldpc": {"matrix": [[1, 1, 0], [0, 1, 1]]},
    "linear": {"generator": [[1, 0, 1], [0, 1, 1]]},
    "nr": {"k": 60, "n": 150},
    "nr_polar": {"k": 64, "n": 150},
    "open_envelope": {"sealed": codes.envelope(b"abc")},
    "polar": {"k": 16, "n": 32},
    "polarise": {"loss": 0.5, "steps": 2},
    "qr": {"n": 26, "k": 19},
    "qr_symbol": {"content": b"abc"},
    "quadratic_residue": {"prime": 17},
    "read_qr_symbol": {"modules": codes.qr_symbol(b"abc")},
    "reed_muller": {"r": 1, "m": 4},
    "shannon_limit": {"rate": 0.5},
    "simulate": {"code": codes.Parity(), "channel": "symmetric", "levels": [0.1], "words": 10},
    "spell": {"text": "abc"},
    "unspell": {"words": "alfa"},
    "wifi": {"n": 648, "rate": "1/2"},
    "wimax": {"n": 576, "rate": "1/2"},
}
TYPES = {"Code", "Decoded", "Ldpc", "Linear", "Polar"}
"""Made by the functions of the same names, or by decoding."""

ODD: tuple[Any, ...] = (255.0, 2.5, np.float64(3), float("nan"), float("inf"), 1j, "40", "", b"1", None, True, -1, 0)
ODD += (1 << 100, [7], (), {}, object(), np.array(3), np.array([1, 2]), np.zeros((3, 3)))


def parameters(name: str) -> list[str]:
    every = signature(getattr(codes, name)).parameters
    return [each for each in every if each not in ("rng", "workers", "file", "on_progress")]


def test_every_name_of_the_package_is_called() -> None:
    assert set(CALLS) | TYPES == set(codes.__all__)


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, each) for name in CALLS for each in parameters(name)], ids=lambda text: text
)
def test_an_argument_is_taken_or_refused_in_one_sentence(name: str, parameter: str) -> None:
    refusals = [said for odd in ODD if (said := refusal(name, CALLS[name] | {parameter: odd}))]
    assert not [said for said in refusals if "\n" in said or not 20 < len(said) < 600]


def refusal(name: str, given: dict[str, Any]) -> str:
    """What the refusal says; nothing where a message goes through the code that was made."""
    try:
        made = getattr(codes, name)(**given)
        messages = made.random_messages(2, np.random.default_rng(1)) if isinstance(made, Code) else None
    except BruitError as refused:
        return str(refused)
    if messages is not None:
        np.testing.assert_array_equal(made.decode(made.encode(messages), raise_on_failure=True).message, messages)
    return ""


FILE = codes.RaptorQFile(100, symbol=8)
METHODS: dict[str, Any] = {
    "encode": codes.Hamming(3).encode,
    "decode": codes.Hamming(3).decode,
    "log-likelihoods": codes.golay().decode,
    "erasures": lambda odd: codes.ReedSolomon(15, 11).decode([0] * 15, erasures=odd),
    "miscorrection_bound": codes.ReedSolomon(15, 11).miscorrection_bound,
    "packed": codes.Hamming(3).decode_packed,
    "valid": codes.Luhn().valid,
    "complete": codes.Luhn().complete,
    "parity": codes.Parity().valid,
    "from_header": codes.RaptorQFile.from_header,
    "packets": lambda odd: FILE.packets(odd, repair=2),
    "repair": lambda odd: FILE.packets(bytes(100), repair=odd),
    "content": FILE.content,
    "content of a packet": lambda odd: FILE.content([odd]),
}


@pytest.mark.parametrize("name", METHODS)
def test_an_argument_of_a_method_is_taken_or_refused_in_one_sentence(name: str) -> None:
    refusals = []
    for odd in ODD:
        try:
            METHODS[name](odd)
        except BruitError as refused:
            refusals.append(str(refused))
    assert not [said for said in refusals if "\n" in said or not 20 < len(said) < 600]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: codes.ReedSolomon(255.0, 223), "n=255.0 must be a whole number"),  # type: ignore[arg-type]
        (lambda: codes.LteTurbo("40"), "k='40' must be a whole number"),  # type: ignore[arg-type]
        (lambda: codes.Parity(None), "bits=None must be a whole number"),  # type: ignore[arg-type]
        (lambda: codes.nr(60, 150, factor="0.8"), "factor='0.8' must be a number"),  # type: ignore[arg-type]
        (lambda: codes.Hamming(3, extended="no"), "extended='no' must be True or False"),  # type: ignore[arg-type]
        (lambda: codes.Iban(["FR"]), "country=\\['FR'\\]: give 'AD'"),  # type: ignore[arg-type]
        (lambda: codes.Convolutional(0o171, 10), "generators=121: give one to eight"),  # type: ignore[arg-type]
        (lambda: codes.envelope("abc"), "payload of type str: give bytes"),  # type: ignore[arg-type]
        (lambda: codes.simulate("golay", "gaussian", [1.0]), "code='golay' is no code"),  # type: ignore[arg-type]
        (lambda: codes.finite_length_limit(100, 1, word_errors=0.1), "no level from -20 to 30 is the limit"),
    ],
)
def test_the_sentence_names_the_argument_and_what_to_give(make: Any, sentence: str) -> None:
    with pytest.raises(InvalidArgument, match=sentence):
        make()
