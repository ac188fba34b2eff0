"""The tour: every stop says what is true."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from bruit.apps import plots
from bruit.apps.cli import main
from bruit.apps.data import magazine, people
from bruit.apps.languages import LANGUAGES
from bruit.apps.tour import tour
from bruit.apps.tour.page import plot_stops
from bruit.apps.tour.stops import STOPS, Words, stops
from bruit.apps.tour.tour import Tour


@pytest.fixture(scope="module")
def toured() -> Tour:
    return tour.run(rng=np.random.default_rng(1))


@pytest.fixture
def run_once(toured: Tour, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a command show the tour that was run already."""
    monkeypatch.setattr(tour, "run", lambda **_asked: toured)


@pytest.fixture(scope="module")
def seen(toured: Tour, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("demo")
    done = CliRunner().invoke(main, ["demo", "--json", "--seed", "1", "--folder", str(folder)])
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told == {**json.loads(json.dumps(toured.to_json())), "page": str(folder / "index.html")}
    return told


def test_the_survey_holds_the_truth_in_its_interval(seen: dict[str, Any]) -> None:
    survey = seen["survey"]
    assert (survey["people"], round(survey["truth"], 4)) == (6366, 0.3225)
    assert survey["low"] <= survey["truth"] <= survey["high"]
    assert survey["low"] < survey["estimate"] < survey["high"]
    assert abs(survey["received"] - survey["truth"]) > 0.05, "what is received is not what is estimated"
    assert survey["guarantee"].startswith("ε = 1 for one respondent")


def test_beliefs_are_moved_by_the_odds_e_to_the_epsilon(seen: dict[str, Any]) -> None:
    for row in seen["beliefs"]:
        odds = row["high"] / (1 - row["high"]) / (row["prior"] / (1 - row["prior"]))
        assert odds == pytest.approx(2.718281828, rel=1e-9)


def test_the_raw_table_gives_people_away(seen: dict[str, Any]) -> None:
    assert (seen["gives"]["rows"], seen["gives"]["uniques"], seen["gives"]["smallest"]) == (6366, 1097, 1)


def test_the_deciles_are_paid_and_the_next_are_refused(seen: dict[str, Any]) -> None:
    deciles = seen["deciles"]
    assert deciles["value"] == sorted(deciles["value"])
    incomes = people()["income"].sort().to_numpy()
    ranks = np.searchsorted(incomes, deciles["value"]) - np.searchsorted(incomes, deciles["truth"])
    assert np.abs(ranks).max() < 100
    assert (deciles["spent"], deciles["remaining"]) == (0.6, 0.4)
    assert "nothing was charged" in deciles["refusal"]


def test_the_model_learns_more_with_more_to_spend(seen: dict[str, Any]) -> None:
    model = seen["model"]
    assert 0.5 < model["scores"][0] < model["scores"][-1] < model["exact"] + 0.01
    assert model["exact"] > 0.7


def test_both_pass_their_audit_and_the_cheat_does_not(seen: dict[str, Any]) -> None:
    assert [row["name"] for row in seen["audits"]] == ["local.KRR", "central.count", "central.count"]
    assert all(row["verdict"] == "passes" and row["lower_bound"] > 0.9 for row in seen["audits"])
    assert (seen["caught"]["verdict"], seen["caught"]["claimed"]) == ("fails", 1.0)


def test_the_word_arrives_only_with_a_code(seen: dict[str, Any]) -> None:
    assert seen["word"]["read"] == seen["word"]["text"] != seen["word"]["received"]


def test_the_page_holds_every_stop_and_its_figures(seen: dict[str, Any]) -> None:
    page = Path(seen["page"]).read_text()
    assert page.count("<section") == len(STOPS)
    assert page.count("data:image/png;base64,") == 3
    assert seen["word"]["read"] in page


@pytest.mark.usefixtures("run_once")
@pytest.mark.parametrize(
    ("environment", "more", "shares", "verdicts"),
    [
        ({"LANG": "en_GB.UTF-8"}, [], "{estimate:.1%}|{low:.1%} to {high:.1%}", ("passes", "fails")),
        ({"LANG": "fr_CH.UTF-8"}, [], "{estimate:.1%}|de {low:.1%} à {high:.1%}", ("tient", "échoue")),
        ({"LANG": "fr_FR", "LC_ALL": "C"}, [], "{low:.1%} to {high:.1%}", ("passes", "fails")),
        ({"LANG": "C"}, ["--language", "fr"], "de {low:.1%} à {high:.1%}", ("tient", "échoue")),
    ],
)
def test_a_person_reads_the_same_numbers_in_her_language(
    environment: dict[str, str],
    more: list[str],
    shares: str,
    verdicts: tuple[str, str],
    seen: dict[str, Any],
    tmp_path: Path,
) -> None:
    environment = {"LC_ALL": "", "LC_MESSAGES": "", **environment}
    done = CliRunner().invoke(main, ["demo", "--seed", "1", "--folder", str(tmp_path), *more], env=environment)
    assert done.exit_code == 0, done.stderr
    told = " ".join(done.stdout.split())
    wanted = shares.format(**seen["survey"])
    if verdicts[0] == "tient":
        wanted = wanted.replace(".", ",").replace("%", " %")
    for text in ("6366", *wanted.split("|"), *verdicts, f"{seen['deciles']['value'][4]:.0f}"):
        assert text in told
    language = "fr" if verdicts[0] == "tient" else "en"
    assert f'<html lang="{language}">' in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_the_tour_has_the_same_stops_in_both_languages(toured: Tour) -> None:
    english, french = (stops(toured, Words(language)) for language in LANGUAGES)
    for name in STOPS:
        assert english[name].title != french[name].title
        assert len(english[name].table) == len(french[name].table)


def test_the_french_page_has_french_names_of_columns_and_decimal_commas(
    toured: Tour, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = stops(toured, Words("fr"))["gives"].told
    assert "années de mariage" in told
    assert not [column for column in toured.gives.columns if column not in ("age", "occupation") and column in told]
    asked: list[bool] = []
    for kind in ("bars", "curves"):
        monkeypatch.setattr(plots, kind, lambda path, *_, commas, **__: asked.append(commas))
    for language in LANGUAGES:
        plot_stops(toured, tmp_path, Words(language))
    assert asked == [False, False, False, True, True, True]


def test_a_missing_extra_is_told_as_a_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(magazine, "find_spec", lambda name: None)
    done = CliRunner().invoke(main, ["demo"])
    assert done.exit_code == 2
    assert done.stderr == "bruit: the survey of the demo needs an optional part: pip install 'bruit[demo]'\n"


@pytest.mark.usefixtures("run_once")
def test_without_matplotlib_the_tour_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plots, "available", lambda: False)
    done = CliRunner().invoke(main, ["demo", "--folder", str(tmp_path)])
    assert done.exit_code == 0
    assert "pip install 'bruit[plot]'" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
