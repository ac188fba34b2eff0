"""What each person pays, and what they send."""

from fractions import Fraction
from typing import Any

import numpy as np
import polars
import pytest
from laws import assert_law

from bruit.channels import ONE
from bruit.errors import InvalidArgument
from bruit.learning import Questionnaire
from bruit.privacy import LOCAL

QUESTIONS = {"sex": ["f", "m"], "city": ["a", "b", "c", "d"], "status": ["single", "married", "widowed"]}


def asked(**price: Any) -> Questionnaire:
    return Questionnaire(QUESTIONS, label="status", **(price or {"epsilon": 1}))


def test_a_training_person_pays_for_the_label_too() -> None:
    seven = {f"attribute {number}": number + 2 for number in range(7)}
    protocol = Questionnaire({**seven, "label": 7}, label="label", epsilon="0.5")
    assert 4 - Fraction(1, 10**9) < protocol.training_epsilon <= 4
    assert Fraction(7, 2) - Fraction(1, 10**9) < protocol.test_epsilon <= Fraction(7, 2)
    assert (protocol.privacy().epsilon, protocol.privacy().neighbours) == (protocol.training_epsilon, LOCAL)
    assert protocol.costs()["epsilon"][-2:].to_list() == pytest.approx([4, 3.5])


@pytest.mark.parametrize("split", ["equal", "sizes", {"sex": 1, "city": 2, "status": 5}])
def test_a_split_total_is_never_passed(split: Any) -> None:
    protocol = asked(total=3, split=split)
    assert 3 - Fraction(1, 10**9) < protocol.training_epsilon <= 3


def test_sizes_share_by_the_logarithm_of_the_answers() -> None:
    epsilons = dict(asked(total=3, split="sizes").costs().select("question", "epsilon").iter_rows())
    assert epsilons["city"] == pytest.approx(2 * epsilons["sex"], rel=1e-3)


def test_a_question_without_a_share_is_not_asked() -> None:
    protocol = asked(total=2, split={"status": 1, "city": 1})
    assert protocol.attributes == ("city",)
    assert protocol.randomise({"city": ["a", "b"]}).shape == (2, 1)


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ({"epsilon": 1, "total": 2}, "either epsilon="),
        ({"total": 0}, "above zero"),
        ({"epsilon": 1, "split": "sizes"}, "shares a total"),
        ({"total": 1, "split": {"age": 1}}, "a weight for each question"),
        ({"total": 1, "split": {"status": -1, "sex": 1}}, "not be negative"),
        ({"total": 1, "split": {"sex": 1, "city": 1}}, "need a share"),
    ],
)
def test_what_cannot_be_asked_is_refused(price: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        asked(**price)


def test_the_label_is_one_of_the_questions_and_a_column_must_be_there() -> None:
    with pytest.raises(InvalidArgument, match="name the label"):
        Questionnaire(QUESTIONS, label="age", epsilon=1)
    with pytest.raises(InvalidArgument, match="no column 'city'"):
        asked().randomise(polars.DataFrame({"sex": ["f"]}))


@pytest.mark.parametrize("answers", ["yes", None, 2.5, 1, []])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"total": 1, "split": "sizes"}])
def test_answers_are_a_list_of_at_least_two_or_their_number(answers: Any, price: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="allowed answers"):
        Questionnaire({"sex": answers, "city": 4, "status": 3}, label="status", **price)


def test_columns_of_different_lengths_are_refused() -> None:
    for ask in (asked().randomise, asked().places):
        with pytest.raises(InvalidArgument, match="differ in length"):
            ask({"sex": ["f", "m"], "city": ["a"]})


def test_reports_follow_the_channel() -> None:
    protocol, people = asked(), 100_000
    sent = protocol.randomise({"sex": ["m"] * people, "city": ["c"] * people}, rng=np.random.default_rng(1))
    keep, other = protocol.channels[1].keep / ONE, protocol.channels[1].other / ONE
    assert_law(np.bincount(sent[:, 1], minlength=4), [other, other, keep, other])
    labels = protocol.randomise_label(["widowed"] * people, rng=np.random.default_rng(2))
    keep, other = protocol.label_channel.keep / ONE, protocol.label_channel.other / ONE
    assert_law([int((labels == each).sum()) for each in QUESTIONS["status"]], [other, other, keep])


@pytest.mark.parametrize("answer", ["Paris", None, 3, ""])
def test_rule_2_an_unlisted_answer_is_sent_as_a_uniform_one(answer: Any) -> None:
    people = 50_000
    sent = asked().randomise({"sex": ["f"] * people, "city": [answer] * people}, rng=np.random.default_rng(3))
    assert_law(np.bincount(sent[:, 1], minlength=4), [0.25] * 4)
    assert asked().places({"sex": ["f"], "city": [answer]}).tolist() == [[0, 0]]
