import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner
from torch import nn

from bruit.apps.cli import main, memory


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, ["memory", *arguments])


def small_network() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(48, 10))


def test_s2_17_the_measured_row_of_the_document() -> None:
    done = run("--model", "vgg16-head", "--hidden-units", "26", "--batch-size", "4", "--reduction", "4", "--json")
    told = json.loads(done.output)
    assert told["plain"]["stages"][0]["allocated"] == 62_397_952
    assert told["private"]["peak"] > told["plain"]["peak"]
    assert told["largest_batch"] is None


def test_the_largest_batch_of_a_card_and_words_for_people() -> None:
    done = run("--model", "digits-cnn", "--batch-size", "64", "--memory", "0.6")
    assert done.exit_code == 0, done.output
    for part in ("model loaded", "gradients there", "Largest batch within 0.6 GiB"):
        assert part in done.output


def test_the_search_for_a_batch_tells_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    @contextmanager
    def listener(label: Any, *, quiet: Any) -> Iterator[Any]:
        yield lambda done, total: told.append((done, total))

    monkeypatch.setattr(memory, "progress", listener)
    own = f"{__name__}:small_network"
    for card in ((), ("--memory", "0.6")):
        told.clear()
        done = run("--model", own, "--input", "3,4,4", "--batch-size", "8", "--device", "cpu", *card, "--json")
        assert done.exit_code == 0, done.output
        assert [number for number, _ in told] == list(range(1, len(told) + 1))
        assert all(number <= total for number, total in told)
        assert (len(told) > 10) == bool(card)


def test_a_network_of_your_own() -> None:
    own = f"{__name__}:small_network"
    done = run("--model", own, "--input", "3,4,4", "--batch-size", "8", "--device", "cpu", "--json")
    assert json.loads(done.output)["plain"]["stages"][0]["allocated"] == 4 * (48 * 10 + 10)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["--model", "nothing"], "choose one of"),
        (["--model", "math:sin"], "give --input"),
        (["--model", "math:sin", "--input", "3,4"], "makes no network: TypeError"),
        (["--model", "os:getcwd", "--input", "3,4"], "makes no network but a str"),
        (["--model", "digits-cnn", "--hidden-units", "3"], "vgg16-head"),
        (["--model", "digits-cnn", "--input", "a"], "whole numbers"),
        (["--model", "digits-cnn", "--input", "1,0,3"], "at least 1"),
        (["--model", "digits-cnn", "--input", "1,3,3"], "shapes"),
    ],
)
def test_bad_input_is_a_sentence(asked: list[str], told: str) -> None:
    done = run(*asked, "--batch-size", "2")
    assert done.exit_code == 2, done.exception
    assert told in done.output
