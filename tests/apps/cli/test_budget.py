import json
from typing import Any

import pytest
from click.testing import CliRunner

from bruit.apps.cli import main

CASE = ["budget", "--dataset-size", "60000", "--batch-size", "64", "--epochs", "15", "--delta", "1e-5"]
CASE += ["--neighbours", "add or remove one"]


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(main, arguments)


def test_s2_11_the_reference_case_for_machines() -> None:
    found = run(*CASE, "--noise", "1.0", "--by", "rdp-simple", "--json")
    told = json.loads(found.output)
    assert (told["steps"], told["order"], round(told["epsilon"], 2)) == (14070, 13, 1.17)
    assert told["weak"]
    assert told["assumes"] == ["idealised arithmetic", "public size"]


def test_the_reference_case_for_people() -> None:
    found = run(*CASE, "--noise", "1.0")
    assert found.exit_code == 0
    for part in ("14070", "0.107 %", "0.6112", "weak", "such as 1e-6"):
        assert part in found.output


def test_a_target_and_own_orders() -> None:
    told = json.loads(run(*CASE[:-1], "replace one", "--target-epsilon", "1", "--by", "rdp", "--json").output)
    assert 0.99 <= told["epsilon"] <= 1
    own = json.loads(run(*CASE, "--noise", "1", "--by", "rdp", "--orders", "4,8", "--json").output)
    assert own["order"] in (4, 8)
    fine = json.loads(run(*CASE, "--noise", "1", "--by", "rdp", "--orders", "fine", "--json").output)
    assert fine["epsilon"] < own["epsilon"]


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        (["--noise", "0"], "above zero"),
        (["--noise", "much"], "not a number"),
        (["--noise", "1", "--batch-size", "70000"], "at most 60000"),
        (["--noise", "1", "--delta", "0.001"], "such as 1e-6"),
        (["--noise", "1", "--epochs", "0"], "at least 1"),
        (["--noise", "1", "--orders", "a,b"], "numbers above 1"),
        (["--noise", "1", "--target-epsilon", "1"], "one of the two"),
        ([], "one of the two"),
        (["--noise", "1", "--scheme", "shuffled"], "shuffled sampling for add or remove one"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_status_2(change: list[str], advice: str) -> None:
    stated = dict(zip(CASE[1::2], CASE[2::2], strict=True)) | dict(zip(change[::2], change[1::2], strict=True))
    found = run("budget", *(part for option in stated.items() for part in option))
    assert found.exit_code == 2
    assert advice in found.output
    assert "Traceback" not in found.output


def test_the_help_has_an_example() -> None:
    assert "For example:" in run("budget", "--help").output


def test_nobody_is_told_who_the_neighbours_are_unasked() -> None:
    found = run(*CASE[:-2], "--noise", "1")
    assert found.exit_code == 2
    assert "--neighbours" in found.output
