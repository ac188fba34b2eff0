"""Every code is a `Code`: the same questions, the same answers, the same refusals."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit.codes import (
    Bch,
    CcsdsTurbo,
    Convolutional,
    Crc,
    Damm,
    Ean,
    Hamming,
    Iban,
    Isbn,
    LteTurbo,
    Luhn,
    Nir,
    Parity,
    RaptorQ,
    RaptorQFile,
    ReedSolomon,
    Repetition,
    Siren,
    Siret,
    Verhoeff,
    ccsds,
    dvb_s2,
    finite_length_limit,
    golay,
    ldpc,
    nr,
    nr_polar,
    polar,
    qr,
    quadratic_residue,
    reed_muller,
    simulate,
    wifi,
    wimax,
)
from bruit.errors import BadFile, DecodingFailure, InvalidArgument

CODES = [
    Parity(7),
    Luhn(16),
    Siren(),
    Siret(),
    Nir(),
    Iban("FR"),
    Iban("GB"),
    Verhoeff(8),
    Damm(8),
    Ean(13),
    Ean(8),
    Isbn(10),
    Isbn(13),
    Crc(40, "NR 24A"),
    golay(),
    golay(extended=False),
    reed_muller(2, 5),
    quadratic_residue(17),
    polar(16, 32),
    nr_polar(64, 150),
    nr_polar(40, 108, link="downlink"),
    Repetition(3, k=4),
    Repetition(3, k=4, symbols=5),
    Hamming(3),
    Hamming(3, extended=True),
    Bch(31, 16),
    ReedSolomon(15, 11),
    ReedSolomon(300, 280),
    ccsds(),
    qr(26, 19),
    RaptorQ(10, 14),
    Convolutional((0o171, 0o133), 40),
    LteTurbo(40),
    LteTurbo(40, length=100, version=1),
    CcsdsTurbo(1784),
    nr(60, 150),
    wifi(648, "1/2"),
    wimax(576, "3/4A"),
]
DETECTORS = [code for code in CODES if hasattr(code, "valid")]
every_code = pytest.mark.parametrize("code", CODES, ids=str)


@every_code
def test_a_clean_word_comes_back(code: Any) -> None:
    messages = code.random_messages(20, np.random.default_rng(1))
    words = code.encode(messages)
    assert messages.shape == (20, code.k)
    assert words.shape == (20, code.n)
    assert words.max() < code.symbols
    found = code.decode(words, raise_on_failure=True)
    np.testing.assert_array_equal(found.message, messages)
    np.testing.assert_array_equal(found.word, words)
    assert found.decoded.all()
    assert not found.corrected.any()
    assert code.rate == pytest.approx(code.k / code.n)
    single = code.decode(words[0])
    assert single.message.tolist() == messages[0].tolist()
    assert bool(single.decoded)


@every_code
@pytest.mark.parametrize("kind", ["u1", "i1", "i4", ">i4", "u8"])
def test_any_integers_in_any_order_of_memory_are_read_alike(code: Any, kind: str) -> None:
    messages = code.random_messages(6, np.random.default_rng(5))
    words = code.encode(messages)
    if code.symbols - 1 > np.iinfo(kind).max:
        return
    for given in (words.astype(kind), np.asfortranarray(words, kind), np.repeat(words.astype(kind), 2, axis=1)[:, ::2]):
        given.flags.writeable = False
        for shape in ((6,), (2, 3), (1, 6, 1)):
            found = code.decode(given.reshape(*shape, code.n))
            assert found.decoded.shape == found.corrected.shape == shape
            np.testing.assert_array_equal(found.message, messages.reshape(*shape, code.k))
        np.testing.assert_array_equal(given, words)


@every_code
def test_errors_are_corrected_to_a_word_or_left_alone(code: Any) -> None:
    """Whatever is decoded is a word of the code, whatever is not comes back as received, and changes are counted."""
    rng = np.random.default_rng(6)
    words = code.encode(code.random_messages(40, rng))
    wrong = rng.random(words.shape) < rng.choice([0.01, 0.1, 0.5, 1], (40, 1))
    received = np.where(wrong, (words + rng.integers(1, code.symbols, words.shape)) % code.symbols, words)
    found = code.decode(received)
    changed = (found.word != received).sum(axis=1)
    np.testing.assert_array_equal(found.corrected, changed)
    assert not changed[~found.decoded].any()
    if found.decoded.any():
        good = found.decoded
        np.testing.assert_array_equal(code.encode(found.message[good]), found.word[good])


WRONG: dict[str, Callable[[int, Any], Any]] = {
    "no word": lambda length, _: np.zeros((0, length), np.uint8),
    "no symbol": lambda _, code: np.zeros((3, 0), np.uint8),
    "too short": lambda length, _: np.zeros((3, length - 1), np.uint8),
    "too long": lambda length, _: bytes(length + 1),
    "one number": lambda _, code: 3,
    "nothing": lambda _, code: None,
    "a text": lambda length, _: "0" * length,
    "texts": lambda length, _: ["0"] * length,
    "unequal rows": lambda _, code: [[1], [1, 2]],
    "negative": lambda length, _: np.full(length, -1),
    "too large": lambda length, code: np.full(length, code.symbols),
    "huge": lambda length, _: np.full(length, 2**63, np.uint64),
    "larger than any": lambda length, _: [2**70] * length,
    "complex": lambda length, _: np.zeros(length, complex),
    "dates": lambda length, _: np.zeros(length, "M8[s]"),
    "not a number": lambda length, _: np.full(length, np.nan),
}


@every_code
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_what_is_no_word_is_refused_in_a_sentence(code: Any, wrong: Any) -> None:
    for function, length in ((code.decode, code.n), (code.encode, code.k)):
        with pytest.raises(InvalidArgument) as refused:
            function(wrong(length, code))
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) > 20


@every_code
def test_every_code_is_simulated(code: Any) -> None:
    frame = simulate(code, "symmetric", [0.0005], words=64, rng=np.random.default_rng(2))
    assert frame["words"][0] == 64
    assert frame["word_errors"][0] <= 20


@every_code
def test_erasures_are_filled_or_refused(code: Any) -> None:
    if code.soft or code.fills_erasures:
        frame = simulate(code, "erasure", [0.001], words=64, rng=np.random.default_rng(3))
        assert frame["word_errors"][0] <= 20
    else:
        with pytest.raises(InvalidArgument, match="erasures"):
            simulate(code, "erasure", [0.001], words=64)


@pytest.mark.parametrize("code", DETECTORS, ids=str)
def test_check_digits_notice_one_wrong_symbol_and_repair_none(code: Any) -> None:
    rng = np.random.default_rng(4)
    words = code.encode(code.random_messages(300, rng))
    places = rng.integers(0, code.n, 300)
    wrong = words.copy()
    wrong[np.arange(300), places] = (words[np.arange(300), places] + rng.integers(1, code.symbols, 300)) % code.symbols
    found = code.decode(wrong)
    changed_kind = (words > 9) != (wrong > 9)  # a digit for a letter moves all digits after it in an IBAN
    assert not found.decoded[~changed_kind.any(axis=1)].any()
    np.testing.assert_array_equal(found.word, wrong)
    with pytest.raises(DecodingFailure):
        code.decode(wrong, raise_on_failure=True)


def test_digits_are_no_bits_on_a_gaussian_line() -> None:
    with pytest.raises(InvalidArgument, match="symmetric"):
        simulate(Luhn(16), "gaussian", [3.0], words=10)


def test_an_account_in_another_form_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no such place"):
        Iban("DE").encode(np.full(20, 35))
    with pytest.raises(InvalidArgument, match="must be stated"):
        Luhn().encode([1, 2])
    with pytest.raises(InvalidArgument, match="depends on the country"):
        _ = Iban().n


MAKERS = {
    "Parity": lambda n: Parity(n),
    "Luhn": lambda n: Luhn(n),
    "Verhoeff": lambda n: Verhoeff(n),
    "Ean": lambda n: Ean(n),
    "Isbn": lambda n: Isbn(n),
    "Repetition": lambda n: Repetition(n),
    "Hamming": lambda n: Hamming(n),
    "Bch n": lambda n: Bch(n, 1),
    "Bch k": lambda n: Bch(1023, n),
    "ReedSolomon n": lambda n: ReedSolomon(n, 2),
    "ReedSolomon k": lambda n: ReedSolomon(1000, n),
    "ReedSolomon bits": lambda n: ReedSolomon(3, 1, bits=n),
    "ReedSolomon step": lambda n: ReedSolomon(3, 1, step=n),
    "RaptorQ k": lambda n: RaptorQ(n, 300),
    "RaptorQ n": lambda n: RaptorQ(1, n),
    "RaptorQFile": lambda n: RaptorQFile(n),
    "Convolutional k": lambda n: Convolutional((7, 5), n),
    "Convolutional generators": lambda n: Convolutional((n, 5), 10),
    "LteTurbo": lambda n: LteTurbo(n),
    "LteTurbo iterations": lambda n: LteTurbo(40, iterations=n),
    "LteTurbo length": lambda n: LteTurbo(40, length=n),
    "CcsdsTurbo": lambda n: CcsdsTurbo(n),
    "nr k": lambda n: nr(n, 1000),
    "nr n": lambda n: nr(20, n),
    "Crc": lambda n: Crc(n, "NR 6"),
    "reed_muller": lambda n: reed_muller(1, n),
    "quadratic_residue": lambda n: quadratic_residue(n),
    "polar k": lambda n: polar(n, 512),
    "polar n": lambda n: polar(1, n),
    "polar paths": lambda n: polar(1, 8, paths=n),
    "nr_polar k": lambda n: nr_polar(n, 1000),
    "dvb_s2": lambda n: dvb_s2(n, "1/2"),
    "wifi": lambda n: wifi(n, "1/2"),
    "wimax": lambda n: wimax(n, "1/2"),
    "iterations": lambda n: ldpc([[1, 1, 0], [0, 1, 1]], iterations=n),
    "limit": lambda n: finite_length_limit(n, 10, word_errors=0.1),
    "words": lambda n: simulate(Parity(7), "symmetric", [0.1], words=n),
    "word_errors": lambda n: simulate(Parity(7), "symmetric", [0.1], word_errors=n, words=5),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
@pytest.mark.parametrize("value", [255.0, "40", True, 0, -3, [7]], ids=repr)
def test_what_is_no_whole_number_is_one_sentence_everywhere(make: Callable[..., Any], value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"whole number|positive numbers"):
        make(value)


def test_numpy_integers_are_whole_numbers() -> None:
    code = ReedSolomon(np.int64(15), np.int16(11))
    assert code == ReedSolomon(15, 11)
    assert type(code.n) is int
    assert replace(code, k=np.int8(9)).k == 9


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"gone\.alist cannot be read as an alist file: No such file"):
        ldpc(tmp_path / "gone.alist")
    with pytest.raises(BadFile, match="cannot be read"):
        ldpc(tmp_path)
