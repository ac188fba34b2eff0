"""From a question to its protocol: the least error within the ε that was chosen, and nothing chosen for anybody."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bruit import local
from bruit.apps.web import Wire
from bruit.apps.web.polls import plain_words, results
from bruit.apps.web.polls.question import PollQuestion, definition, from_definition, protocol

BASE: dict[str, Any] = {"question": "?", "forever": None, "results": "admin", "epsilon": "1"}


def asked(kind: Any, **more: Any) -> Any:
    needed: dict[str, Any] = {
        "choices": {"choices": ["a", "b", "c"]},
        "text": {"choices": ["a", "b"]},
        "number": {"low": "0", "high": "10", "grid": "0.5"},
    }
    return PollQuestion(kind=kind, **(BASE | needed.get(kind, {}) | more))


@pytest.mark.parametrize(("written", "read"), [("ln 3", "1.098612"), ("ln(3)", "1.098612"), ("1/3", "0.333333")])
def test_an_epsilon_may_be_a_logarithm_or_a_fraction_and_is_never_read_as_more(written: str, read: str) -> None:
    assert asked("yes-no", epsilon=written).epsilon == read
    assert asked("yes-no", epsilon="0.1", forever=written).forever == read


@pytest.mark.parametrize("written", ["ln 0", "1/0", "ln", "3 ln", "-1/3"])
def test_an_epsilon_that_is_no_number_is_refused(written: str) -> None:
    with pytest.raises(ValidationError):
        asked("yes-no", epsilon=written)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        (asked("yes-no"), local.Warner),
        (asked("yes-no", forever="2"), local.LongitudinalKRR),
        (asked("choices"), local.KRR),
        (asked("choices", choices=[str(place) for place in range(40)]), local.OUE),
        (asked("choices", forever="2"), local.LongitudinalKRR),
        (asked("choices", choices=[str(place) for place in range(40)], forever="2"), local.LongitudinalOUE),
        (asked("number"), local.OneBitMean),
        (asked("text"), local.Rappor),
        (asked("text", forever="2"), local.Rappor),
    ],
)
def test_each_kind_has_its_protocol_and_comes_back_from_what_is_kept(question: PollQuestion, kind: Any) -> None:
    made = protocol(question)
    assert type(made) is kind
    again, law = from_definition(definition(question))
    assert (again.model_dump(), law.to_json()) == (question.model_dump(), made.to_json())


decimals = st.integers(1, 999).map(lambda hundredths: f"{hundredths / 100:.2f}")


@settings(max_examples=50)
@given(decimals, st.sampled_from(["yes-no", "choices", "number", "text"]))
def test_rule_11_no_report_costs_more_than_was_chosen(epsilon: str, kind: str) -> None:
    made = protocol(asked(kind, epsilon=epsilon))
    assert made.epsilon <= Fraction(epsilon)
    assert made.privacy().epsilon <= Fraction(epsilon)


@settings(max_examples=30)
@given(st.integers(10, 400), st.integers(1, 400), st.sampled_from(["yes-no", "choices", "text"]))
def test_rule_11_all_reports_of_one_answer_cost_no_more_than_was_chosen(once: int, more: int, kind: str) -> None:
    question = asked(kind, epsilon=f"{once / 100:.2f}", forever=f"{(once + more) / 100:.2f}")
    made = protocol(question)
    law = made.law if isinstance(made, local.Rappor) else made
    assert made.epsilon <= Fraction(once, 100)
    assert law.forever <= Fraction(once + more, 100)


@pytest.mark.parametrize("name", ["kind", "question", "epsilon", "forever", "results"])
def test_rule_1_nothing_private_has_a_default(name: Any) -> None:
    whole: dict[str, Any] = BASE | {"kind": "yes-no"}
    with pytest.raises(ValidationError):
        PollQuestion(**{key: value for key, value in whole.items() if key != name})


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "choices", "choices": ["a"]},
        {"kind": "choices", "choices": ["a", "a"]},
        {"kind": "number", "low": "5", "high": "1", "grid": "1"},
        {"kind": "number", "low": "0", "high": "1", "grid": "0.3"},
        {"kind": "number", "low": "0", "high": "1"},
        {"kind": "number", "low": "0", "high": "9000000", "grid": "1"},
        {"kind": "number", "low": "0", "high": "10", "grid": "1", "forever": "2"},
        {"kind": "yes-no", "forever": "1"},
        {"kind": "yes-no", "epsilon": "0"},
        {"kind": "yes-no", "epsilon": "10.5"},
        {"kind": "yes-no", "extra": 1},
    ],
)
def test_a_question_without_a_protocol_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PollQuestion(**(BASE | wrong))


def test_plain_words_say_what_the_law_says() -> None:
    question = asked("yes-no", epsilon="1.0986")
    said = " ".join(plain_words.meaning(question))
    assert "75.0% sure" in said
    assert "at most 3 times" in said
    assert "about 75 send their true answer" in plain_words.noise(Wire(protocol(question)))


@pytest.mark.parametrize("kind", ["yes-no", "choices", "number", "text"])
def test_the_error_before_publishing_falls_with_the_number_of_answers(kind: str) -> None:
    question = asked(kind)
    errors = [error for _, error in results.error_table(question, Wire(protocol(question)))]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 2 * errors[-1]


def test_a_summary_is_plain_json_whatever_was_sent() -> None:
    for kind in ("yes-no", "choices", "number", "text"):
        question = asked(kind)
        wire = Wire(protocol(question))
        answers = {"yes-no": "no", "number": 5}.get(kind, "a")
        kept = [wire.read(one) for one in wire.to_wire(wire.protocol.randomise([answers] * 12))]
        for size in (0, 1, 9, 12):
            told = results.summary(question, wire, size, wire.count(b"", kept[:size]) if size else b"")
            assert json.loads(json.dumps(told)) == told
            assert told["answers"] == size
            enough = size >= (results.FEWEST_TO_DECODE if kind == "text" else 1)
            assert told["error"] == (results.error_at(question, wire, size) if enough else None)
