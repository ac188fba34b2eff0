"""`bruit code simulate` as a person types it."""

import json

import pytest
from click.testing import CliRunner

from bruit.apps.cli import main


def run(*words):
    return CliRunner().invoke(main, ["code", "simulate", *words])


@pytest.mark.parametrize(
    ("code", "n", "k"),
    [
        ("repetition:3", 3, 1),
        ("hamming:3", 7, 4),
        ("rs:15,11", 15, 11),
        ("convolutional:171,133", 2012, 1000),
        ("turbo:40", 132, 40),
        ("nr:60,120", 120, 60),
        ("wifi:648,5/6", 648, 540),
        ("wimax:576,3/4A", 576, 432),
    ],
)
def test_every_kind_of_code_is_simulated(code, n, k):
    answer = run(code, "--levels", "6,40", "--words", "70", "--seed", "1", "--json")
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.output)
    assert (found["n"], found["k"]) == (n, k)
    assert [row["level"] for row in found["rows"]] == [6.0, 40.0]
    assert found["rows"][1]["word_errors"] == 0


def test_the_table_names_the_limit():
    answer = run("nr:60,120", "--levels", "5", "--words", "64", "--seed", "1")
    assert answer.exit_code == 0
    assert "shannon limit: 0.1871" in answer.output


@pytest.mark.parametrize(
    "words", [("magic:3", "--levels", "1"), ("hamming:3", "--levels", "much"), ("turbo:41", "--levels", "1")]
)
def test_bad_input_is_a_sentence_and_status_2(words):
    answer = run(*words)
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output
