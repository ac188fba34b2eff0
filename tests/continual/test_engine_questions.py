"""Streams of questions that the question engine asks, against the same sums computed by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars
import pytest

from bruit.central.questions import Limit, Question, count, distinct, mean, people, total
from bruit.continual import Count, Stream, at_most, once
from bruit.continual.engine_questions import EngineQuestion
from bruit.core import EACH_ROW, Assumption
from bruit.errors import InvalidArgument, PrivacyError
from bruit.ledger import Ledger
from bruit.tables import register
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category, found, number, whole

SCHEMA = Schema("id", {"id": whole(), "ward": category(["A", "B"]), "days": number(0, 60, grid="0.5")})
SURE = 1 - 1e-9


def stays(ids: Any, wards: Any, days: Any) -> Any:
    return open_table(polars.DataFrame({"id": ids, "ward": wards, "days": days}), SCHEMA)


def question(plan: Any, measure: Any, rows: int = 1) -> Any:
    return Question(plan, {"asked": measure(plan)}, {"ward": plan["ward"]}, Limit(rows=rows))


FIRST = stays([*range(200), 0], ["A"] * 150 + ["B"] * 51, [4.0] * 150 + [10.5] * 50 + [60.0])
SECOND = stays(range(100, 300), ["B"] * 200, [8.0] * 200)


@pytest.mark.parametrize(
    ("measure", "exact"),
    [
        (lambda _plan: count(), [(150, 50), (150, 150)]),
        (lambda _plan: people(), [(150, 50), (150, 150)]),
        (lambda plan: total(plan["days"]), [(600, 525), (600, 525 + 800)]),
        (lambda plan: mean(plan["days"]), [(4, 10.5), (4, (525 + 800) / 150)]),
    ],
)
def test_a_measure_by_declared_keys_runs(book: Callable[..., Ledger], measure: Any, exact: Any) -> None:
    ask = question(FIRST.where(FIRST["days"] < 60), measure)
    stream = Stream("stays", ask, participation=once(), periods=4, budget=book().budget(epsilon=50, delta="1e-6"))
    for plan, values in zip((FIRST, SECOND), exact, strict=True):
        asked = question(plan.where(plan["days"] < 60), measure)
        release = stream.update(asked, confidence=SURE)
        assert release.labels[:2] == ("A", "B")
        assert (abs(release.value[:2] - values) <= release.noise + 1e-9).all()
    again = Stream.open("stays", stream.ledger)
    assert again.update(asked, period=2).value.tolist() == release.value.tolist()
    kept = again.terms.question
    assert isinstance(kept, EngineQuestion)
    assert kept.words == ask.words


def test_a_person_moves_a_stream_no_further_than_its_question_says(book: Callable[..., Ledger]) -> None:
    ask = question(FIRST, lambda plan: total(plan["days"]), rows=3)
    kept = Stream("s", ask, participation=at_most(2), periods=4, budget=book().budget(epsilon=9, delta="1e-6")).terms
    assert kept.plan.contribution.squared_norm == (3 * 120) ** 2
    assert not kept.plan.contribution.signed
    assert kept.plan.cells == 3  # what is neither A nor B is a group of its own


def test_each_row_may_be_a_person(book: Callable[..., Ledger]) -> None:
    schema = Schema(EACH_ROW, {"ward": category(["A", "B"])})
    rows = open_table(polars.DataFrame({"ward": ["A", "A", "B"]}), schema)
    ask = Question(rows, {"asked": people()}, {"ward": rows["ward"]})
    budget = book(person=EACH_ROW).budget(epsilon=50, delta="1e-6")
    release = Stream("rows", ask, participation=once(), periods=4, budget=budget).update(ask, confidence=SURE)
    assert max(abs(release.value[:2] - [2, 1])) <= release.noise


def test_what_is_no_sum_over_people_is_refused(book: Callable[..., Ledger]) -> None:
    budget = book().budget(epsilon=9, delta="1e-6")
    asked = {"participation": once(), "periods": 4, "budget": budget}
    both = Question(FIRST, {"n": count(), "p": people()}, limit=Limit(rows=1))
    with pytest.raises(InvalidArgument, match="one measure"):
        Stream("two", both, **asked)
    with pytest.raises(InvalidArgument, match="one measure"):
        Stream("distinct", question(FIRST, lambda plan: distinct(plan["days"])), **asked)
    words = open_table(
        polars.DataFrame({"id": [1], "word": ["a"]}), Schema("id", {"id": whole(), "word": found(longest=9)})
    )
    with pytest.raises(InvalidArgument, match="declared keys"):
        Stream("found", Question(words, {"n": count()}, {"word": words["word"]}, Limit(rows=1)), **asked)


def test_another_question_another_person_or_a_table_is_refused(book: Callable[..., Ledger]) -> None:
    ledger = book()
    ask = question(FIRST, lambda _plan: count())
    stream = Stream("n", ask, participation=once(), periods=4, budget=ledger.budget(epsilon=9, delta="1e-6"))
    with pytest.raises(InvalidArgument, match="this question asks for"):
        stream.update(question(SECOND.where(SECOND["days"] < 5), lambda _plan: count()))
    with pytest.raises(InvalidArgument, match="updated with the same Question"):
        stream.update(FIRST)
    other = Schema("who", {"who": whole(), "ward": category(["A", "B"])})
    whose = open_table(polars.DataFrame({"who": [1], "ward": ["A"]}), other)
    with pytest.raises(PrivacyError, match="protects"):
        stream.update(Question(whose, {"asked": count()}, {"ward": whose["ward"]}, Limit(rows=1)))
    assert stream.period == 0


def test_tables_of_another_book_and_other_people_are_refused_before_the_charge(book: Callable[..., Ledger]) -> None:
    ledger = book()
    other = Ledger("other", epsilon=1, neighbours=ledger.neighbours, person="id")
    rows = polars.DataFrame({"id": [1], "ward": ["A"], "days": [4.0]})
    elsewhere = register(rows, SCHEMA, ledger=other).plan
    who = Schema("who", {"who": whole(), "ward": category(["A", "B"])})
    whose = open_table(polars.DataFrame({"who": [1], "ward": ["A"]}), who)
    asked = {"participation": once(), "periods": 4, "budget": ledger.budget(epsilon=9, delta="1e-6")}
    for plan, message in ((elsewhere, "registered in another book"), (whose, "protects 'id'")):
        with pytest.raises(PrivacyError, match=message):
            Stream("n", question(plan, lambda _plan: count()), **asked)
    assert not ledger.entries
    stream = Stream("n", question(FIRST, lambda _plan: count()), **asked)
    with pytest.raises(PrivacyError, match="registered in another book"):
        stream.update(question(elsewhere, lambda _plan: count()))


def test_the_guarantee_says_that_tables_it_looked_up_in_are_public(book: Callable[..., Ledger]) -> None:
    beds = FIRST.lookup({"beds": {"A": 10, "B": 20}}, on="ward")
    ask = question(beds, lambda plan: total(plan["beds"]))
    budget = book().budget(epsilon=9, delta="1e-6")
    stream = Stream("beds", ask, participation=once(), periods=4, budget=budget)
    assert stream.guarantee.assumes == ask.assumes == (Assumption.PUBLIC_TABLES,)
    assert Stream.open("beds", stream.ledger).update(ask).guarantee.assumes == ask.assumes


def test_rows_of_a_person_who_is_one_row_are_refused_before_the_charge(book: Callable[..., Ledger]) -> None:
    ledger = book(person=EACH_ROW)
    budget = ledger.budget(epsilon=9, delta="1e-6")
    with pytest.raises(InvalidArgument, match="rows can only be 1"):
        Stream("rows", Count(rows=3), participation=once(), periods=4, budget=budget)
    assert not ledger.entries


def test_whole_numbers_may_be_numpys(book: Callable[..., Ledger]) -> None:
    """They could not be kept in the store: an error of JSON."""
    two, budget = np.int64(2), book().budget(epsilon=9, delta="1e-6")
    numpys = Stream(
        "n", Count(rows=two), participation=at_most(two, apart=two), periods=np.int64(8), budget=budget, aim=two
    )
    same = Stream("n", Count(rows=2), participation=at_most(2, apart=2), periods=8, budget=budget, aim=2)
    assert numpys.terms == same.terms


def test_a_source_is_published_once(book: Callable[..., Ledger]) -> None:
    ask = question(FIRST, lambda _plan: count())
    stream = Stream("n", ask, participation=once(), periods=4, budget=book().budget(epsilon=9, delta="1e-6"))
    march = stream.update(ask, source="2026-03")
    again = stream.update(question(SECOND, lambda _plan: count()), source="2026-03")
    assert again.value.tolist() == march.value.tolist()
    assert stream.update(question(SECOND, lambda _plan: count()), source="2026-04").details["period"] == 2
    with pytest.raises(InvalidArgument, match="either"):
        stream.update(ask, source="2026-05", period=3)
    assert stream.period == 2
