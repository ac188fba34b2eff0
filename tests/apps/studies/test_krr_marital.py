"""The study of randomised response on Adult: its dispersion is the theory's."""

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from click.testing import CliRunner
from scipy import stats

from bruit.apps import data
from bruit.apps.cli import main
from bruit.apps.studies import STUDIES, load
from bruit.apps.studies.surveys import krr_marital
from bruit.errors import InvalidArgument, MissingData
from bruit.local import KRR


@pytest.fixture(autouse=True)
def adult() -> None:
    try:
        data.adult("all")
    except MissingData as reason:
        pytest.skip(str(reason))


def test_the_study_writes_its_tables_and_figures_and_repeats_with_a_seed(tmp_path: Path) -> None:
    asked = ["study", "krr-marital", "--small", "--seed", "3", "--json", "--folder"]
    first, second = (CliRunner().invoke(main, [*asked, str(tmp_path / name)]) for name in "ab")
    assert (first.exit_code, second.exit_code) == (0, 0)
    found, again = (json.loads(done.stdout)["krr-marital"] for done in (first, second))
    assert found["figures"] == again["figures"]
    assert "48842 people" in found["summary"]
    written = {Path(path).name: Path(path).read_bytes() for path in found["files"]}
    assert set(written) == {"marital.csv", "repeats.csv", "shares.png", "dispersion.png"}
    assert all(written[name].startswith(b"\x89PNG") for name in ("shares.png", "dispersion.png"))


def test_the_dispersion_is_what_theory_says(tmp_path: Path) -> None:
    krr_marital.run(tmp_path, size="small", rng=np.random.default_rng(4))
    table = polars.read_csv(tmp_path / "marital.csv")
    freedom = krr_marital.REPEATS["small"] - 1
    low, high = np.sqrt(stats.chi2.ppf([1e-9 / 14, 1 - 1e-9 / 14], freedom) / freedom)
    ratio = (table["deviation"] / table["deviation_in_theory"]).to_numpy()
    assert ((low < ratio) & (ratio < high)).all()
    away = (table["mean_of_estimates"] - table["true_share"]) / table["deviation_in_theory"] * (freedom + 1) ** 0.5
    assert away.abs().max() < stats.norm.isf(1e-9 / 14)


def test_theory_is_the_variance_of_the_count_of_reports() -> None:
    share, answers = np.array([0.5, 0.3, 0.2]), 1000
    protocol = KRR(3, epsilon=0.7)
    keep, other = float(protocol.support.true), float(protocol.support.false)
    people = share * answers
    counts = people * keep * (1 - keep) + (answers - people) * other * (1 - other)
    expected = np.sqrt(counts) / (keep - other) / answers
    np.testing.assert_allclose(krr_marital.theory(0.7, share, answers), expected, rtol=1e-12)


def test_without_a_name_the_studies_are_listed() -> None:
    done = CliRunner().invoke(main, ["study", "--json"])
    assert json.loads(done.stdout) == {name: line for name, (_, line, _) in STUDIES.items()}
    assert "krr-marital" in CliRunner().invoke(main, ["study"]).stdout


def test_every_study_can_be_loaded_and_another_name_is_refused() -> None:
    assert all(callable(load(name)) for name in STUDIES)
    with pytest.raises(InvalidArgument, match="choose among"):
        load("nothing")
    assert CliRunner().invoke(main, ["study", "nothing"]).exit_code == 2
