"""What commands print."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from rich.console import Console

from bruit.apps.cli.terminal import output


def test_json_holds_plain_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"exact": Fraction(1, 4), "array": np.array([1, 2]), "number": np.float64(0.5), "text": "ε"})
    assert json.loads(capsys.readouterr().out) == {"exact": 0.25, "array": [1, 2], "number": 0.5, "text": "ε"}


def test_json_is_strict_null_stands_for_what_is_infinite_or_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"a": math.inf, "b": [-math.inf, (math.nan, 1.5)], "c": np.array([[np.inf, 2.0]]), "d": True})

    def refused(word: str) -> None:
        raise AssertionError(word)

    told = json.loads(capsys.readouterr().out, parse_constant=refused)
    assert told == {"a": None, "b": [None, [None, 1.5]], "c": [[None, 2.0]], "d": True}


def test_a_table_shows_every_cell() -> None:
    drawn = output.table("Counts", ["name", "value", "ok"], [["a", 0.123456, True], ["b", 7, False]])
    text = "".join(segment.text for segment in Console(width=80).render(drawn))
    assert all(cell in text for cell in ("Counts", "name", "0.1235", "yes", "no", "7"))


@pytest.mark.parametrize("quiet", [True, False])
def test_progress_is_silent_when_nobody_looks(capsys: pytest.CaptureFixture[str], quiet: bool) -> None:
    with output.progress("Working", quiet=quiet) as on_progress:
        on_progress(1, 2)
        on_progress(2, 2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_progress_draws_on_the_error_stream_of_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with output.progress("Working") as on_progress:
        on_progress(2, 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Working" in captured.err
