"""The studies of trees: the lecture's example on wine, and income on Adult."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bruit.apps import data
from bruit.apps.cli import main
from bruit.apps.plots.trees import _squared_errors
from bruit.apps.plots.trees import tree as draw_tree
from bruit.apps.studies import boosting, income, trees
from bruit.errors import MissingData
from bruit.learning import DecisionTree
from bruit.ledger import WITHOUT_PRIVACY
from bruit.tables import among, within


def test_the_lecture_on_wine(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["study", "trees", "--small", "--seed", "3", "--json", "--folder", str(tmp_path)])
    assert done.exit_code == 0
    found = json.loads(done.stdout)["trees"]
    figures = found["figures"]
    assert figures["scikit_learn_accuracy"] == pytest.approx(0.922, abs=5e-4)
    assert figures["scikit_learn_deviation"] == pytest.approx(0.037, abs=5e-4)
    assert figures["entropy_4_10"] == pytest.approx(0.863, abs=5e-4)
    assert figures["least_over_tree_seeds"] <= figures["largest_over_tree_seeds"]
    assert figures["row_10_predicted"] == figures["row_10_true"] == 0
    assert {Path(path).name for path in found["files"]} == {"depths.csv", "repeats.csv", "depths.png", "tree.png"}


def test_a_seed_repeats_the_tree_of_the_lecture() -> None:
    assert trees.lecture(7) == trees.lecture(7)


def test_boosting_beats_one_tree_and_keeps_up_with_scikit_learn(tmp_path: Path) -> None:
    found = boosting.run(tmp_path, size="small", rng=np.random.default_rng(1)).figures
    assert found["boosting: error"] < found["one tree: error"] + 3
    assert found["boosting: error"] == pytest.approx(found["scikit-learn: error"], rel=0.06)


def test_one_tree_is_as_good_as_theirs_over_many_shuffles() -> None:
    """Five shuffles of 36 wines decide little: ties are broken otherwise."""
    from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    X, y, *_ = trees.wine()
    shuffles = StratifiedShuffleSplit(n_splits=60, test_size=0.2, random_state=0)
    other = DecisionTreeClassifier(criterion="entropy", max_depth=5, random_state=0)
    ours, theirs = (
        cross_val_score(each, X, y, cv=shuffles).mean() for each in (trees.exact_tree("entropy", 5, 0), other)
    )
    assert ours > theirs - 0.02


def test_income_against_epsilon(tmp_path: Path) -> None:
    try:
        data.adult("all")
    except MissingData as reason:
        pytest.skip(str(reason))
    found = income.run(tmp_path, size="small", rng=np.random.default_rng(2))
    assert found.figures["AdditiveModel_1"] > 0.86
    assert found.figures["BoostedTrees_1"] > 0.86
    assert {path.name for path in found.files} == {"income.csv", "repeats.csv", "income.png"}


def test_trees_of_categories_and_of_numbers_are_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.choice(list("abcdef"), 200), rng.integers(0, 9, 200)]).astype(object)
    y = np.isin(X[:, 0], ["a", "c", "e", "f"]) * 2.0 + X[:, 1].astype(float)
    domain = [among(["a", "b", "c", "d", "e", "f"]), within(0, 9, grid=1)]
    model = DecisionTree(criterion="squared_error", max_depth=2, domain=domain, budget=WITHOUT_PRIVACY).fit(X, y)
    path = draw_tree(tmp_path / "tree.png", model, names=["letter", "number"], title="Numbers", seen=(X, y))
    errors, leaves = _squared_errors(model, X, y), model.tree_.left < 0
    assert errors[0] == pytest.approx(y.var())
    left = (errors * model.tree_.sums[:, 1])[leaves].sum() / len(y)
    assert left == pytest.approx(((y - model.predict(X)) ** 2).mean())
    assert path.read_bytes().startswith(b"\x89PNG")
