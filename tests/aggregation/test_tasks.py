"""Tasks: one text, one name, every parameter bound."""

import hashlib
import json
from typing import Any

import pytest
from aggregation.polls import KEY, make_task

from bruit.aggregation import CountCircuit, HistogramCircuit, Party, Task, fingerprint, key_hash, task_from_text
from bruit.errors import InvalidArgument

TASK = make_task(HistogramCircuit(length=3, chunk=2), epsilon="1/3")


def test_a_text_is_read_back_and_its_name_is_its_hash() -> None:
    assert task_from_text(TASK.text) == TASK
    assert TASK.name == hashlib.sha256(TASK.text.encode()).hexdigest()
    assert TASK.scheme.context == bytes.fromhex(TASK.name)


@pytest.mark.parametrize("field", sorted(json.loads(TASK.text)))
def test_every_parameter_is_bound_into_the_name_or_refused(field: str) -> None:
    values = json.loads(TASK.text)
    values[field] = {
        "question": "Another?",
        "circuit": {"kind": "Histogram", "length": 3, "chunk": 3},
        "labels": ["a", "b", "c"],
        "epsilon": "1/2",
        "sensitivity": 1,
        "least_batch": 11,
        "collectors": [*values["collectors"][:1], {"name": "Eve", "address": "", "key": "cd" * 32}],
        "key_hash": "0" * 64,
        "format": 2,
    }[field]
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if field in ("sensitivity", "format"):  # what follows from the rest, or is fixed
        with pytest.raises(InvalidArgument):
            task_from_text(text)
    else:
        assert task_from_text(text).name != TASK.name


LONG = TASK.text.replace("1/3", "1e999999999")
"""An epsilon of a thousand million digits, which would be written out before it is refused."""


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", TASK.text + " ", TASK.text.replace("1/3", "2/6"), '{"a":1}', LONG]
)
def test_another_text_of_the_same_task_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        task_from_text(text)


@pytest.mark.parametrize(
    "changes",
    [
        {"least_batch": 9},
        {"least_batch": True},
        {"labels": ("a",)},
        {"labels": ("a", "b", "")},
        {"epsilon": 0},
        {"parties": (Party("Ada"), Party("Ada"))},
        {"key_hash": "00"},
        {"question": " "},
    ],
)
def test_what_is_no_task_is_refused(changes: dict[str, Any]) -> None:
    asked = {"labels": TASK.labels, "epsilon": 1, "least_batch": 10, "parties": TASK.parties, "key_hash": key_hash(KEY)}
    question = changes.pop("question", "So?")
    with pytest.raises(InvalidArgument):
        Task(question, TASK.circuit, **asked | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["http://school.example", "ftp://localhost", "school.example", "https://"])
def test_a_collector_is_reached_by_https_or_on_this_machine(address: str) -> None:
    with pytest.raises(InvalidArgument, match="https"):
        Party("Ada", address)
    assert Party("Ada", "http://127.0.0.1:8000").address
    assert Party("Ada", "https://school.example/polls").address


def test_a_key_is_read_aloud_in_eight_words() -> None:
    words = fingerprint(bytes(32)).split()
    assert len(words) == 8
    assert {len(word) for word in words} == {5}
    assert fingerprint(bytes(31) + b"\1").split() != words
    assert TASK.parties[1].words == fingerprint(bytes.fromhex("ab" * 32))


def test_the_guarantee_says_what_it_assumes() -> None:
    said = str(make_task(CountCircuit(), epsilon=1).guarantee)
    assert said == ("ε = 1 for participant (replace one, by basic; assumes two collectors do not join, TurboSHAKE128)")
