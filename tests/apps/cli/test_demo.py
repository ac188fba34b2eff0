"""The tour: every stop says what is true."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bruit.apps import plots
from bruit.apps.cli import main
from bruit.apps.data import magazine


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("demo")
    done = CliRunner().invoke(main, ["demo", "--json", "--seed", "1", "--folder", str(folder)])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_the_survey_holds_the_truth_in_its_interval(seen: dict) -> None:
    survey = seen["survey"]
    assert (survey["people"], round(survey["truth"], 4)) == (6366, 0.3225)
    assert survey["low"] <= survey["truth"] <= survey["high"]
    assert survey["low"] < survey["estimate"] < survey["high"]
    assert abs(survey["received"] - survey["truth"]) > 0.05, "what is received is not what is estimated"
    assert survey["guarantee"].startswith("ε = 1 for one respondent")


def test_beliefs_are_moved_by_the_odds_e_to_the_epsilon(seen: dict) -> None:
    for row in seen["beliefs"]:
        odds = row["high"] / (1 - row["high"]) / (row["prior"] / (1 - row["prior"]))
        assert odds == pytest.approx(2.718281828, rel=1e-9)


def test_the_count_is_paid_and_the_second_is_refused(seen: dict) -> None:
    count = seen["count"]
    assert count["low"] <= count["truth"] <= count["high"]
    assert (count["truth"], count["spent"], count["remaining"]) == (2053, 0.6, 0.4)
    assert "nothing was charged" in count["refusal"]


def test_both_pass_their_audit_and_the_cheat_does_not(seen: dict) -> None:
    assert [row["name"] for row in seen["audits"]] == ["local.KRR", "central.count", "central.count"]
    assert all(row["verdict"] == "passes" and row["lower_bound"] > 0.9 for row in seen["audits"])
    assert (seen["caught"]["verdict"], seen["caught"]["claimed"]) == ("fails", 1.0)


def test_the_word_arrives_only_with_a_code(seen: dict) -> None:
    assert seen["word"]["repeated"] == seen["word"]["text"] != seen["word"]["once"]
    assert Path(seen["figure"]).read_bytes().startswith(b"\x89PNG")


def test_a_person_reads_the_same_numbers(seen: dict, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["demo", "--seed", "1", "--folder", str(tmp_path)])
    assert done.exit_code == 0
    told = " ".join(done.stdout.split())
    survey = seen["survey"]
    for text in (
        "6366",
        f"{survey['estimate']:.1%}",
        f"{survey['low']:.1%} to {survey['high']:.1%}",
        "passes",
        "fails",
    ):
        assert text in told
    assert str(seen["count"]["value"]) in told


def test_a_missing_extra_is_told_as_a_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(magazine, "find_spec", lambda name: None)
    done = CliRunner().invoke(main, ["demo"])
    assert done.exit_code == 2
    assert done.stderr == "bruit: the survey of the demo needs an optional part: pip install 'bruit[demo]'\n"


def test_without_matplotlib_the_tour_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plots, "available", lambda: False)
    done = CliRunner().invoke(main, ["demo", "--folder", str(tmp_path)])
    assert done.exit_code == 0
    assert "pip install 'bruit[plot]'" in done.stdout
    assert list(tmp_path.iterdir()) == []
