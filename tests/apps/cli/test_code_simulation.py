"""`bruit code simulate` as a person types it."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from bruit.apps.cli import main
from bruit.apps.cli.code.simulation import code_named
from bruit.codes import Convolutional, LteTurbo, ReedSolomon


def run(*words: Any) -> Any:
    return CliRunner().invoke(main, ["code", "simulate", *words])


@pytest.mark.parametrize(
    ("code", "n", "k"),
    [
        ("repetition:3", 3, 1),
        ("hamming:3", 7, 4),
        ("rs:15,11", 15, 11),
        ("ccsds", 255, 223),
        ("qr:44,16", 44, 16),
        ("convolutional:171,133", 2012, 1000),
        ("turbo:40", 132, 40),
        ("turbo:40,100", 100, 40),
        ("ccsds_turbo:1784,1/2", 3576, 1784),
        ("dvb_s2:16200,8/9", 16200, 14400),
        ("raptorq:10,14", 14, 10),
        ("nr:60,120", 120, 60),
        ("wifi:648,5/6", 648, 540),
        ("wimax:576,3/4A", 576, 432),
        ("polar:16,32", 32, 16),
        ("nr_polar:64,150", 150, 64),
        ("nr_polar:40,108,link=downlink", 108, 40),
        ("quadratic_residue:23", 24, 12),
        ("convolutional:0o171,0o133,k=20,ending=open", 40, 20),
        ("convolutional:33,k=20,feedback=23", 48, 20),
        ("turbo:40,iterations=2", 132, 40),
        ("polar:16,32,polynomial=0x61,paths=2", 32, 16),
        ("wifi:648,5/6,decoder=layered sum-product,factor=0.8", 648, 540),
        ("crc:100,NR 24A", 124, 100),
        ("golay", 24, 12),
        ("reed_muller:1,5", 32, 6),
    ],
)
def test_every_kind_of_code_is_simulated(code: str, n: int, k: int) -> None:
    answer = run(code, "--levels", "6,40", "--words", "70", "--seed", "1", "--json")
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.output)
    assert (found["n"], found["k"]) == (n, k)
    assert [row["level"] for row in found["rows"]] == [6.0, 40.0]
    assert found["rows"][1]["word_errors"] == 0


@pytest.mark.parametrize(
    ("code", "n", "k"),
    [("parity:7", 8, 7), ("luhn:16", 16, 15), ("siren", 9, 8), ("siret", 14, 12), ("nir", 15, 13), ("iban:FR", 27, 25),
     ("verhoeff:8", 8, 7), ("damm:8", 8, 7), ("ean:13", 13, 12), ("isbn:10", 10, 9), ("bch:31,16", 31, 16)],
)  # fmt: skip
def test_check_digits_are_simulated_over_wrong_symbols(code: str, n: int, k: int) -> None:
    answer = run(code, "--channel", "symmetric", "--levels", "0.0001,0.2", "--words", "64", "--seed", "1", "--json")
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.output)
    assert (found["n"], found["k"]) == (n, k)
    assert found["rows"][1]["word_errors"] > found["rows"][0]["word_errors"]


def test_generators_are_octal_and_options_are_those_of_python() -> None:
    assert code_named("convolutional:171,133") == code_named("convolutional:0o171,0o133")
    assert code_named("convolutional:171,133") == Convolutional((0o171, 0o133), 1000)
    assert code_named("turbo:40,100,iterations=2,version=1") == LteTurbo(40, iterations=2, length=100, version=1)
    assert code_named("rs:15,11,polynomial=0x13,first_root=0") == ReedSolomon(15, 11, polynomial=0x13, first_root=0)


def test_the_table_names_the_limit() -> None:
    answer = run("nr:60,120", "--levels", "5", "--words", "64", "--seed", "1")
    assert answer.exit_code == 0
    assert "shannon limit: 0.1871" in answer.output


@pytest.mark.parametrize(
    "words",
    [
        ("magic:3", "--levels", "1"),
        ("hamming:3", "--levels", "much"),
        ("turbo:41", "--levels", "1"),
        ("alist:gone", "--levels", "1"),
        ("polar:512,1024,pahts=1", "--levels", "1"),
        ("polar:512,1024,paths=1.5", "--levels", "1"),
        ("rs:255.0,223", "--levels", "1"),
        ("rs:255", "--levels", "1"),
        ("siren:3", "--levels", "1"),
        ("convolutional:189", "--levels", "1"),
    ],
)
def test_bad_input_is_a_sentence_and_status_2(words: tuple[str, ...]) -> None:
    answer = run(*words)
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output
