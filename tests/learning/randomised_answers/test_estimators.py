"""Learning from randomised answers: never under the noised majority, and close to the truth where little is noised."""

from functools import cache, partial
from typing import Any

import numpy as np
import polars
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from bruit.errors import InvalidArgument
from bruit.learning import ChannelLogistic, ChannelNaiveBayes, ChannelTree, Questionnaire, RandomisedForest
from bruit.learning.randomised_answers.association import Association
from bruit.learning.randomised_answers.tree import _keep_majority, _sides

AWARE = [ChannelNaiveBayes, ChannelLogistic, ChannelTree]
ALL = [*AWARE, RandomisedForest]
LABELS = ["none", "car", "bus"]
"""Not in the order of the alphabet, as `classes_` is."""


def asked(epsilon: float) -> Questionnaire:
    return Questionnaire({"town": ["a", "b", "c"], "rich": 2, "luck": 4, "way": LABELS}, label="way", epsilon=epsilon)


def people(rows: int, seed: int) -> polars.DataFrame:
    """The town tells the way four times out of five; luck tells nothing."""
    rng = np.random.default_rng(seed)
    town = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    way = np.where(rng.random(rows) < 0.8, town, rng.integers(0, 3, rows))
    rich, luck = (rng.random(rows) < 0.2 + 0.3 * (way == 1)).astype(int), rng.integers(0, 4, rows)
    return polars.DataFrame(
        {"town": np.array(["a", "b", "c"])[town], "rich": rich, "luck": luck, "way": np.array(LABELS)[way]}
    )


def sent(epsilon: float, rows: int, seed: int) -> tuple[Questionnaire, np.ndarray, np.ndarray]:
    protocol, table = asked(epsilon), people(rows, seed)
    rng = np.random.default_rng([seed, 1])  # not the stream that drew the people: noise must not follow them
    return protocol, protocol.randomise(table, rng=rng), protocol.randomise_label(table["way"], rng=rng)


@pytest.mark.parametrize("kind", ALL)
def test_answers_that_are_hardly_noised_are_learnt(kind: Any) -> None:
    protocol, X, y = sent(9, 4000, 1)
    test = people(2000, 2)
    model = kind(protocol).fit(X, y)
    told = model.predict(protocol.randomise(test, rng=np.random.default_rng(3)))
    assert (told == test["way"].to_numpy()).mean() > 0.8
    assert model.classes_.tolist() == sorted(LABELS)


@pytest.mark.parametrize("kind", [*AWARE, partial(ChannelNaiveBayes, inputs="true")])
@pytest.mark.parametrize("seed", range(5))
def test_where_noise_hides_all_the_noised_majority_is_told(kind: Any, seed: int) -> None:
    protocol, X, y = sent(0.05, 3000, seed)
    names, counts = np.unique(y, return_counts=True)
    assert set(kind(protocol).fit(X, y).predict(X)) == {names[counts.argmax()]}


@pytest.mark.parametrize("kind", AWARE)
def test_who_knows_the_channel_beats_the_majority_in_noise(kind: Any) -> None:
    protocol, X, y = sent(1.0, 20_000, 4)
    test = people(5000, 5)
    told = kind(protocol).fit(X, y).predict(protocol.randomise(test, rng=np.random.default_rng(6)))
    true = test["way"].to_numpy()
    assert (told == true).mean() > (true == "none").mean() + 0.02


@pytest.mark.parametrize("kind", AWARE)
def test_who_knows_the_channel_beats_the_forest_where_cells_are_many(kind: Any) -> None:
    """Few people share a combination of answers: the forest learns their noise. Where many do, it is as good."""
    protocol, reports, answers, true, naive = _learnt_naively()
    aware = kind(protocol).fit(*reports).predict(answers)
    assert (aware == true).mean() > naive + 0.02


@cache
def _learnt_naively() -> tuple[Questionnaire, tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray, float]:
    """A survey of many cells, questions with their true labels, and how often the forest is right."""
    table, test = (_with_many_cells(rows, seed) for rows, seed in ((20_000, 4), (5000, 5)))
    questions: dict[str, Any] = {"town": ["a", "b", "c"], "rich": 2, "luck": 4, "x": 40, "z": 40, "way": LABELS}
    protocol, rng = Questionnaire(questions, label="way", epsilon=1), np.random.default_rng(6)
    reports = protocol.randomise(table, rng=rng), protocol.randomise_label(table["way"], rng=rng)
    answers, true = protocol.randomise(test, rng=rng), test["way"].to_numpy()
    forest = RandomisedForest(protocol, n_estimators=50, random_state=0).fit(*reports)
    return protocol, reports, answers, true, float((forest.predict(answers) == true).mean())


def _with_many_cells(rows: int, seed: int) -> polars.DataFrame:
    rng = np.random.default_rng([seed, 2])
    return people(rows, seed).with_columns(x=rng.integers(0, 40, rows), z=rng.integers(0, 40, rows))


def test_a_split_by_chance_moves_no_share_by_more_than_a_noised_attribute_can() -> None:
    """A false alarm at a small ε, where unmixing blows its residual up, once told the wrong label to everybody."""
    shares = np.array([0.4, 0.35, 0.25])
    chance = Association(np.array([0.5, 0.5]), np.array([[-0.3, 0.4, -0.1], [0.3, -0.4, 0.1]]), certain=True)
    weights, sides = _sides(chance, np.array([True, False]), shares, 0.1)
    np.testing.assert_allclose(weights, 0.5)
    np.testing.assert_allclose(sides.sum(axis=1), 1)
    ratios = sides / shares
    assert (ratios.max(axis=1) / ratios.min(axis=1) <= np.exp(0.2) + 1e-12).all()


def test_another_label_leads_on_a_side_only_beyond_the_deviation_of_its_lead() -> None:
    """Of labels that are nearly as frequent noise picks either, and the wrong one costs what the right one gains."""
    _, X, y = sent(1.0, 10, 1)
    reports = ChannelTree(asked(1.0))._reports(X, y)
    shares, sides = np.array([0.4, 0.35, 0.25]), np.array([[0.36, 0.4, 0.24], [0.44, 0.3, 0.26]])
    few, many = (_keep_majority(sides, shares, np.full(2, people), reports) for people in (1000.0, 100_000.0))
    assert few.argmax(axis=1).tolist() == [0, 0]
    assert many.argmax(axis=1).tolist() == [1, 0]
    np.testing.assert_allclose(few[1], sides[1])
    np.testing.assert_allclose(few.sum(axis=1), 1)


@pytest.mark.parametrize("seed", range(3))
def test_attributes_that_tell_nothing_do_not_mislead_the_device(seed: int) -> None:
    """Noise of true attributes is divided by p - q twice: only those that are surely associated may speak."""
    questions: dict[str, Any] = {"town": ["a", "b", "c"], **{f"noise {place}": 40 for place in range(6)}, "way": LABELS}
    protocol, rng = Questionnaire(questions, label="way", epsilon=1), np.random.default_rng([seed, 3])
    table, test = people(20_000, seed), people(5000, seed + 10)
    told = {f"noise {place}": rng.integers(0, 40, 20_000) for place in range(6)}
    X = protocol.randomise({"town": table["town"], **told}, rng=rng)
    model = ChannelNaiveBayes(protocol, inputs="true").fit(X, protocol.randomise_label(table["way"], rng=rng))
    assert [bool(logs.any()) for logs in model._evidence] == [True] + [False] * 6
    asked_with = protocol.places({"town": test["town"], **{name: each[:5000] for name, each in told.items()}})
    assert (model.predict(asked_with) == test["way"].to_numpy()).mean() > 0.8


@pytest.mark.parametrize("kind", AWARE)
def test_chances_stand_in_the_order_of_the_classes(kind: Any) -> None:
    protocol, X, y = sent(4, 3000, 7)
    model = kind(protocol).fit(X, y)
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X))


def test_on_the_device_true_answers_are_worth_more() -> None:
    protocol, X, y = sent(1.0, 20_000, 8)
    test = people(5000, 9)
    device = ChannelNaiveBayes(protocol, inputs="true").fit(X, y).predict(protocol.places(test))
    told = ChannelNaiveBayes(protocol).fit(X, y).predict(protocol.randomise(test, rng=np.random.default_rng(10)))
    true = test["way"].to_numpy()
    assert (device == true).mean() > (told == true).mean() + 0.1


def test_without_noise_it_is_the_regression_of_scikit_learn() -> None:
    protocol, X, y = sent(30, 2000, 11)
    ours = ChannelLogistic(protocol, width=0.1).fit(X, y)
    indicators = ours._indicators(X.astype(np.int64)).toarray()
    theirs = LogisticRegression(C=(0.1 * 30) ** 2, max_iter=5000, tol=1e-8).fit(indicators, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(indicators), atol=5e-3)


@pytest.mark.parametrize("kind", ALL)
def test_rule_2_reports_that_nobody_can_have_sent_change_no_error(kind: Any) -> None:
    protocol, X, y = sent(5, 500, 12)
    strange = np.vstack([X, [[99, 0, 0], [-1, 0, 0], [0, 1, 2]]])
    labels = np.array([*y, "none", "none", "boat"], object)
    model = kind(protocol, **({"random_state": 0} if kind is RandomisedForest else {}))
    first, second = clone(model).fit(X, y), clone(model).fit(strange, labels)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    np.testing.assert_array_equal(first.predict([[99, 0, 0]]), first.predict([[0, 0, 0]]))


@pytest.mark.parametrize("kind", ALL)
def test_nobody_and_a_constant_answer_are_no_error(kind: Any) -> None:
    protocol, X, y = sent(5, 200, 13)
    assert kind(protocol).fit(X[:0], y[:0]).predict(X[:3]).shape == (3,)
    assert kind(protocol).fit(X, y).predict(X[:0]).shape == (0,)
    X[:, 0] = 1
    assert set(kind(protocol).fit(X, y).predict(X)) <= set(LABELS)


@pytest.mark.parametrize("kind", ALL)
def test_shapes_and_settings_are_checked(kind: Any) -> None:
    protocol, X, y = sent(5, 50, 14)
    for wrong in (X[:, :2], X.astype(float), X[0]):
        with pytest.raises(InvalidArgument, match="whole numbers, one column for each"):
            kind(protocol).fit(wrong, y)
    with pytest.raises(InvalidArgument, match="questionnaire="):
        kind().fit(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        kind(protocol).fit(X, y[:-1])


@pytest.mark.parametrize("kind", ALL)
def test_who_has_learnt_nothing_is_not_asked(kind: Any) -> None:
    for model in (kind(), kind(asked(1))):
        with pytest.raises(NotFittedError):
            model.predict([[0, 0, 0]])


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (ChannelNaiveBayes(asked(1), inputs="clear"), "inputs="),  # type: ignore[arg-type]
        (ChannelLogistic(asked(1), width=0), "width="),
        (ChannelLogistic(asked(1), width="wide"), "width="),  # type: ignore[arg-type]
        (ChannelTree(asked(1), max_depth=-1), "max_depth="),
    ],
)
def test_settings_out_of_range_are_refused(model: Any, said: str) -> None:
    _, X, y = sent(1, 20, 15)
    with pytest.raises(InvalidArgument, match=said):
        model.fit(X, y)
