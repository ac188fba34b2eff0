"""`bruit code` as a person types it: the lecture's examples, every step, JSON, refusals."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from bruit.apps.cli import main


def bruit(text: str) -> Result:
    return CliRunner().invoke(main, ["code", *text.split()])


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("hamming encode 1011", "1011010"),
        ("hamming decode 1001010", "1011"),
        ("hamming encode 1011 --rows 111,110,101,011", "1011001"),
        ("hamming encode 1011 --extended", "10110100"),
        ("repetition encode 011010", "000111111000111000"),
        ("repetition decode 100111110001110000", "011010"),
        ("rs encode 3 --n 3", "3 3 3"),
        ("rs decode 1 3 3 --k 1", "3"),
        ("rs decode 0 0 3 --k 1 --erasures 0,1", "3"),
        ("luhn check 972-487-086", "valid"),
        ("luhn complete 972-487-08", "972487086"),
        ("siren check 732829320", "valid"),
        ("siret check 35600000000048", "valid"),
        ("nir complete 253072B073004", "253072B07300470"),
        ("iban complete FR20041010050500013M02606", "FR1420041010050500013M02606"),
        ("verhoeff complete 236", "2363"),
        ("damm check 5724", "valid"),
        ("ean complete 400638133393", "4006381333931"),
        ("isbn complete 0-8044-2957", "080442957X"),
        ("isbn check 9780306406157", "valid"),
        ("parity complete 1000001", "10000010"),
        ("parity check 11000011", "valid"),
        ("spell ERREUR", "Echo Romeo Romeo Echo Uniform Romeo"),
        ("spell --back Echo Romeo Romeo Echo Uniform Romeo", "ERREUR"),
    ],
)
def test_the_lecture_s_examples(typed: str, said: str) -> None:
    done = bruit(typed)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == said


def test_every_step_of_the_reed_solomon_example() -> None:
    assert bruit("rs decode 1 3 3 --k 1 --explain").output.splitlines() == [
        "received   x^2 + 3x + 3",
        "syndromes  1 3",
        "locator    1 + 3x",
        "roots      2",
        "places     2",
        "values     2",
        "corrected  3x^2 + 3x + 3",
        "3",
    ]


def test_every_step_of_a_table_of_states() -> None:
    assert bruit("isbn check 080442957X --explain").output.splitlines() == [
        "read       10 7 5 9 2 4 4 0 8 0  (from the right)",
        "states     10 2 6 9 8 10 5 5 0 0",
        "last       0, which is right",
        "valid",
    ]


def test_every_step_of_the_hamming_example() -> None:
    assert bruit("hamming decode 1001010 --explain").output.splitlines() == [
        "received   1001010",
        "syndrome   011",
        "row of H   3: bit 3 is turned over",
        "corrected  1011010",
        "1011",
    ]


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("luhn check 927-487-086 --explain", "sum        54, which does not end in 0"),
        ("luhn check 972-487-086 --explain", "sum        50, which ends in 0"),
        ("nir check 253072B07300471 --explain", "received   71, which is wrong"),
        ("nir complete 253072B073004 --explain", "number     2530718073004  (2B read as 18)"),
        ("iban check FR1420041010050500013M02606 --explain", "remainder"),
        ("parity check 10000011 --explain", "ones       3, which is odd"),
        ("repetition decode 0011 --times 4 --explain", "as many copies say one thing as another: failure"),
        ("hamming decode 11000000 --extended --explain", "no row of H is the syndrome"),
        ("hamming decode 0000000 --explain", "the syndrome is 0"),
        ("rs decode 1 2 3 4 5 6 0 --k 3 --explain", "no word of the code is near enough"),
        ("rs decode 0 5 0 0 0 0 0 --k 3 --erasures 1 --explain", "erased     x^5"),
    ],
)
def test_steps_in_sentences(typed: str, line: str) -> None:
    assert any(said.startswith(line) for said in bruit(typed).output.splitlines()), bruit(typed).output


def test_json_for_machines() -> None:
    found = json.loads(bruit("hamming decode 1001010 --json").output)
    assert found["message"] == [1, 0, 1, 1]
    assert found["positions"] == [2]
    assert found["decoded"] is True
    assert json.loads(bruit("luhn check 18 --json").output) == {"number": "18", "valid": True, "chance": "1/10"}
    assert json.loads(bruit("rs encode 3 --n 3 --json").output)["word"] == [3, 3, 3]
    steps = json.loads(bruit("rs decode 1 3 3 --k 1 --json --explain").output)["steps"]
    assert steps[1] == "syndromes  1 3"


@pytest.mark.parametrize(
    "typed",
    [
        "luhn check 927-487-086",
        "rs decode 1 2 3 4 5 6 0 --k 3",
        "rs decode 1 3 3 --k 1 --erasures 0,1,2",
        "iban check FR00",
        "nir check 1",
    ],
)
def test_what_is_wrong_ends_with_one(typed: str) -> None:
    done = bruit(typed)
    assert done.exit_code == 1
    assert "not" in done.output


@pytest.mark.parametrize(
    "typed",
    [
        "hamming encode 10x1",
        "hamming encode 10110",
        "hamming decode 1011 --rows 110,11",
        "rs encode 9 --n 3",
        "rs encode 3",
        "rs decode 1 3 3",
        "rs decode 1 3 3 --k 1 --erasures a",
        "repetition decode 1011",
        "luhn complete 12a4",
        "luhn check 12a4 --explain",
        "nir check 12 --explain",
        "iban check ? --explain",
        "spell É",
        "spell --back Rome",
        "parity check 102",
    ],
)
def test_bad_input_is_a_sentence_and_two(typed: str) -> None:
    done = bruit(typed)
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_a_torn_symbol_is_read_and_drawn(tmp_path: Path) -> None:
    torn = tmp_path / "torn.svg"
    words = [
        "code",
        "qr",
        "noise is a channel",
        "--level",
        "H",
        "--damage",
        "8",
        "--seed",
        "1",
        "--svg",
        str(torn),
        "--json",
    ]
    said = json.loads(CliRunner().invoke(main, words).output)
    assert said["text"] == "noise is a channel"
    assert said["codewords_corrected"] > 0
    drawn = ElementTree.fromstring(torn.read_text())
    names = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert names == ["sent", "received", "repaired"]
    assert (
        CliRunner().invoke(main, ["code", "qr", "noise is a channel", "--damage", "20", "--seed", "1"]).exit_code == 2
    )


def test_a_file_survives_lost_packets(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_bytes(b'{"answer": 3}' * 40)
    sent = bruit(f"raptorq send {report} {tmp_path}/packets --repair 4 --symbol 64 --json")
    assert json.loads(sent.output) == {"packets": 13, "needed": 9, "bytes_written": 896}
    assert bruit(f"raptorq receive {tmp_path}/packets {tmp_path}/back --lost 0,3,8").exit_code == 0
    assert (tmp_path / "back").read_bytes() == report.read_bytes()
    refused = bruit(f"raptorq receive {tmp_path}/packets {tmp_path}/back --lost 0,1,2,3,4")
    assert refused.exit_code == 2
    assert "send more" in refused.output
    assert "such as 0,3" in bruit(f"raptorq receive {tmp_path}/packets {tmp_path}/back --lost 99").output
    (tmp_path / "packets").write_bytes((tmp_path / "packets").read_bytes()[:-1])
    assert "ends within a packet" in bruit(f"raptorq receive {tmp_path}/packets {tmp_path}/back").output


def test_a_file_is_sealed_damaged_and_opened(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_bytes(b'{"answer": 3}' * 40)
    assert bruit(f"envelope seal {report} {tmp_path}/sealed").exit_code == 0
    sealed = bytearray((tmp_path / "sealed").read_bytes())
    sealed[10:40] = bytes(30)
    (tmp_path / "sealed").write_bytes(sealed)
    assert bruit(f"envelope open {tmp_path}/sealed {tmp_path}/opened --json").exit_code == 0
    assert (tmp_path / "opened").read_bytes() == report.read_bytes()
    sealed[10:400] = bytes(390)
    (tmp_path / "sealed").write_bytes(sealed)
    refused = bruit(f"envelope open {tmp_path}/sealed {tmp_path}/opened")
    assert refused.exit_code == 2
    assert "beyond" in refused.output
