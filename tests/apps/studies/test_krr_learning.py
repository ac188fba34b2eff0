"""The study of learning from randomised answers: who knows the channel is never under the noised majority."""

from pathlib import Path

import numpy as np
import polars
import pytest

from bruit.apps import data
from bruit.apps.data.census_categories import CATEGORIES
from bruit.apps.studies.surveys import krr_learning
from bruit.errors import MissingData

AWARE = ("naive_bayes", "logistic", "tree")


@pytest.fixture(autouse=True)
def adult() -> None:
    try:
        data.adult("all")
    except MissingData as reason:
        pytest.skip(str(reason))


def test_the_study_writes_its_tables_and_figures(tmp_path: Path) -> None:
    found = krr_learning.run(tmp_path, size="small", rng=np.random.default_rng(1))
    names = {path.name for path in found.files}
    assert names == {"accuracy.csv", "repeats.csv", "prices.csv", "same_reports.png", "same_total.png"}
    prices = polars.read_csv(tmp_path / "prices.csv").sort("epsilon")
    np.testing.assert_allclose(prices["training_person"], 8 * prices["epsilon"], rtol=1e-9)
    np.testing.assert_allclose(prices["test_person"], 7 * prices["epsilon"], rtol=1e-9)
    assert found.figures["majority"] == pytest.approx(0.4547, abs=1e-4)
    assert "8 for a training person, 7 for a test person" in found.summary


def test_the_listed_answers_are_those_of_the_document() -> None:
    sizes = [len(CATEGORIES[name]) for name in (*krr_learning.ATTRIBUTES, krr_learning.LABEL)]
    assert sizes == [9, 16, 15, 6, 5, 2, 42, 7]
    everybody = data.adult("all")
    assert all(set(everybody[name]) == set(listed) for name, listed in CATEGORIES.items())


@pytest.mark.parametrize(("epsilon", "least"), [(1.0, 0.485), (5.0, 0.77)])
def test_who_knows_the_channel_reaches_the_goal(epsilon: float, least: float) -> None:
    """One survey each: the goal of ε = 5 is for the mean of many, .78, from which one strays."""
    found = krr_learning.learn_once(rng=np.random.default_rng(5), epsilon=epsilon, people=None, trees=1)
    assert max(found[name] for name in AWARE) >= least


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5])
def test_nobody_who_knows_the_channel_is_under_the_noised_majority(epsilon: float) -> None:
    found = krr_learning.learn_once(rng=np.random.default_rng(6), epsilon=epsilon, people=None, trees=1)
    assert min(found[name] for name in AWARE) >= found["noised_majority"]
