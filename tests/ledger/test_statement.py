"""The statement says everything once, and its page is a page."""

import json
from collections.abc import Callable
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from bruit import EACH_ROW
from bruit.core import Outcome
from bruit.ledger import Ledger, page, statement
from bruit.ledger.subjects import describe_subject
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    LOCAL,
    REPLACE_ONE,
    Assumption,
    Covers,
    DiscreteLaplace,
    Interval,
    Pure,
    loss_from_json,
)


def filled(new: Callable[..., Any]) -> tuple[Ledger, DiscreteLaplace]:
    ledger = new("pay <roll>", epsilon=3, delta=1e-5)
    loss = DiscreteLaplace("20/3", sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)
    charge = ledger.budget(epsilon=0.15).charge(loss, what="central.count", assumes=[Assumption.SEEDED])
    charge.finish(Outcome(np.array([41.0, np.inf]), "count", ("men", "women & others")))
    ledger.partition("month").budget("may", epsilon=0.15).charge(loss, what="crashed")
    return ledger, loss


def test_a_statement_holds_unit_neighbours_trust_delta_assumptions_and_every_release(
    new: Callable[..., Ledger],
) -> None:
    ledger, loss = filled(new)
    told = json.loads(json.dumps(statement(ledger), allow_nan=False))
    assert (told["unit"], told["neighbours"]) == ("id", "add or remove one")
    assert "curator" in told["trust"]
    assert Fraction(told["delta"]) == Fraction(1, 10**5)
    assert told["assumptions"] == ["seeded"]
    assert "20.09" in told["promise"]
    first, second = told["entries"]
    assert loss_from_json(first["loss"]) == loss
    assert first["release"]["value"] == [41.0, "inf"]
    assert (second["release"], second["cell"]) == (None, "may")
    assert second["running_total"]["sum"] == 0.3


ASKED = {
    "columns": [
        {"name": "pay", "domain": {"domain": "within", "low": "0", "high": "200000", "grid": "1/2", "missing": None}}
    ],
    "by": [{"name": "city", "domain": {"domain": "among", "values": ["Lyon", "Nice"], "drop_others": False}}],
    "person": "id",
    "rows": 2,
    "groups": 1,
}
IN_WORDS = (
    "pay (from 0 to 200000 in steps of 0.5, missing dropped) by city (among Lyon, Nice, others as OTHER); "
    "at most 2 rows of each id in each of at most 1 group"
)


def answered(new: Callable[..., Any], *, details: dict[str, Any], covers: Covers = Covers.TABLE) -> dict[str, Any]:
    ledger = new(epsilon=3)
    charge = ledger.budget(epsilon=1).charge(Pure(1, neighbours=ADD_OR_REMOVE_ONE), what="central.group_by")
    interval = Interval(np.array([1.5, -np.inf]), np.array([4.5, 9.0]), 0.95, covers)
    charge.finish(Outcome(np.array([[3.0, 7.0]]), "noise", ("a", "b"), interval, details=details))
    return statement(ledger)


def test_an_entry_names_columns_domains_limits_and_intervals(new: Callable[..., Ledger]) -> None:
    told = json.loads(json.dumps(answered(new, details={"asked": ASKED}), allow_nan=False))
    assert told["entries"][0]["asked"] == IN_WORDS
    assert told["entries"][0]["release"]["details"]["asked"] == ASKED
    assert told["entries"][0]["release"]["interval"]["low"] == [1.5, "-inf"]
    assert f"<td>{IN_WORDS}</td>" in page(told)
    assert "a = 3.0 (1.5 to 4.5), b = 7.0 (-inf to 9); intervals at 95 % each, for this table" in page(told)


@pytest.mark.parametrize("details", [{}, {"asked": "a word of somebody else's"}])
def test_an_entry_that_does_not_say_what_was_asked_still_renders(
    new: Callable[..., Ledger], details: dict[str, Any]
) -> None:
    told = answered(new, details=details, covers=Covers.POPULATION)
    assert told["entries"][0]["asked"] is None
    assert "intervals at 95 % each, for the population" in page(told)
    del told["entries"][0]["asked"]  # a statement that an earlier version wrote
    assert "a = 3.0 (1.5 to 4.5)" in page(told)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"columns": [], "by": []}, "at most 2 rows of each id in each of at most 1 group"),
        ({"columns": [], "by": [{"name": "city", "domain": None}], "person": EACH_ROW}, "by city (values as found)"),
        (
            {"by": [], "groups": None},
            "pay (from 0 to 200000 in steps of 0.5, missing dropped); at most 2 rows of each id",
        ),
        ({"columns": [], "by": [], "person": EACH_ROW}, ""),
    ],
)
def test_what_was_asked_in_words(changed: dict[str, Any], words: str) -> None:
    assert describe_subject({"details": {"asked": ASKED | changed}}) == words


def test_long_lists_of_categories_are_cut_on_the_page() -> None:
    many = {"domain": "among", "values": [str(i) for i in range(30)], "drop_others": True}
    told = describe_subject({"details": {"asked": ASKED | {"columns": [], "by": [{"name": "zip", "domain": many}]}}})
    assert "18, 19 and 10 more, others dropped" in told


def test_a_local_statement_trusts_nobody(new: Callable[..., Ledger]) -> None:
    assert statement(new(neighbours=LOCAL, person="respondent"))["trust"].startswith("nobody")


@pytest.mark.parametrize(
    ("terms", "promised"),
    [
        (
            {"person": "id", "delta": 1e-5},
            "whether one person (a value of 'id') is in the data or not changes the probability of any conclusion by "
            "at most a factor of 2.718 (ε = 1) and a further 1e-05 (δ).",
        ),
        (
            {"person": EACH_ROW, "epsilon": 3},
            "whether one row is in the data or not changes the probability of any conclusion by at most a factor of "
            "20.09 (ε = 3).",
        ),
        (
            {"person": "id", "neighbours": REPLACE_ONE},
            "whether one person (a value of 'id') is exchanged for another changes the probability of any conclusion "
            "by at most a factor of 2.718 (ε = 1). How many people there are is not hidden.",
        ),
        (
            {"person": EACH_ROW, "neighbours": REPLACE_ONE},
            "whether one row is exchanged for another changes the probability of any conclusion by at most a factor "
            "of 2.718 (ε = 1). How many rows there are is not hidden.",
        ),
        (
            {"person": "respondent", "neighbours": LOCAL},
            "whether one person (a value of 'respondent') gives one answer or another changes the probability of any "
            "conclusion by at most a factor of 2.718 (ε = 1). Who answered is not hidden.",
        ),
        (
            {"person": EACH_ROW, "neighbours": LOCAL},
            "whether one row gives one answer or another changes the probability of any conclusion by at most a factor "
            "of 2.718 (ε = 1). Who answered is not hidden.",
        ),
    ],
)
def test_the_promise_is_a_sentence_for_every_unit_and_neighbours(terms: Any, promised: str) -> None:
    told = statement(Ledger("book", **{"epsilon": 1, "neighbours": ADD_OR_REMOVE_ONE} | terms))["promise"]
    assert told == (
        "Whatever is released from this book, and however each question depends on the answers before it: " + promised
    )


def test_the_promise_of_a_huge_epsilon_is_not_understated_nor_a_tiny_delta_zero() -> None:
    told = statement(Ledger("book", epsilon=9999, delta="1e-400", neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW))
    assert "at most a factor of e to the ε (ε = 9999) and a further 1e-400 (δ)." in told["promise"]
    assert "<td>1e-400</td>" in page(told)


class Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts, self.open = [], []  # type: ignore[var-annotated]

    def handle_starttag(self, tag: Any, attrs: Any) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: Any) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: Any) -> None:
        self.texts.append(data)


def test_the_page_is_well_formed_and_escapes_what_people_wrote(new: Callable[..., Ledger]) -> None:
    ledger, _ = filled(new)
    parser = Texts()
    parser.feed(page(statement(ledger)))
    assert parser.open == []
    assert "Privacy statement: pay <roll>" in parser.texts
    assert "count: men = 41.0, women & others = inf" in parser.texts
    assert "charged; nothing was kept" in parser.texts
    assert "crashed (month: may)" in parser.texts
