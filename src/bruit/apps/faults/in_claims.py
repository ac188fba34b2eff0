"""Faults in reading and refusing: code that holds for fewer tables than it claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars

from bruit import central, tables
from bruit.apps.faults.fault import Check, Fault, Test, check_fault
from bruit.central.questions import Limit, Question, mean
from bruit.central.questions import count as rows
from bruit.central.questions import total as sum_of
from bruit.core.losses import Pure
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.errors import BruitError
from bruit.ledger import Budget, Ledger
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, date, long, number, whole


def faults() -> Iterator[Fault]:
    """The planted faults, each beside what the package does."""
    listed: tuple[tuple[str, str, Test, Check, Check], ...] = (
        ("type guessed from records", "One missing cell turns a column into objects, which count as nothing.",
         "row-level pair", _guessed_type, _declared_type),
        ("people read as floats", "One missing id turns a column of whole numbers into floats, in which people merge.",
         "row-level pair", _float_people, _whole_people),
        ("a date out of range ends the answer", "A text that is no date stops the engine after the charge.",
         "row-level pair", _strict_dates, _total_dates),
        ("centred sum and count clamped apart", "The mean of a constant is not that constant once rows are left out.",
         "promise", _clamped_mean, _chosen_mean),
        ("refused after the charge", "A seed that is none is found out when the budget is spent.",
         "ledger", _late_seed, _early_seed),
        ("scores refused after the charge", "Scores of a type that the noise cannot be added to are met too late.",
         "ledger", _late_scores, _any_scores),
        ("monotone under replacement", "Half of the noise is bought for scores that one exchange moves both ways.",
         "promise", _monotone_exchange, _monotone_refused),
        ("re-entered threshold", "A question asks its own threshold and reads a second answer for one price.",
         "promise", _second_answer, _reentry_refused),
        ("a column named like nobody", "A column called 'each row' makes a person of every row.",
         "promise", _person_by_name, _name_refused),
    )  # fmt: skip
    yield from (check_fault(*each) for each in listed)


# ---- readings
def _guessed_type(_rng: np.random.Generator) -> bool:
    """Whether one missing cell changes the type of a whole column, and so its sum by more than one."""

    def total(cells: list[Any]) -> float:
        held = np.array(cells)
        return float(held.sum()) if held.dtype.kind in "biuf" else 0.0

    return abs(total([1] * 1000) - total([1] * 1000 + [None])) > 1


def _declared_type(_rng: np.random.Generator) -> bool:
    def total(cells: list[Any]) -> int:
        frame = polars.DataFrame({"x": polars.Series(cells, dtype=polars.Object)})
        plan = open_table(frame, Schema(EACH_ROW, {"x": number(0, 1, grid=1)}))
        return int(Question(plan, {"s": sum_of(plan["x"])}).reader.read(np.random.default_rng(1)).parts[0][0])

    return total([1] * 1000) != 1000 or abs(total([1] * 1000) - total([1] * 1000 + [None])) > 1


PEOPLE: list[int | None] = [2**60 + place for place in range(1000)]


def _float_people(_rng: np.random.Generator) -> bool:
    """Whether a row of nobody moves the number of people by more than one."""

    def count(people: list[int | None]) -> int:
        return len(np.unique(np.array(people, float if None in people else None)))

    return abs(count(PEOPLE) - count([*PEOPLE, None])) > 1


def _whole_people(_rng: np.random.Generator) -> bool:
    def count(people: list[int | None]) -> int:
        frame = polars.DataFrame({"id": polars.Series(people, dtype=polars.Object)})
        asked = Question(open_table(frame, Schema("id", {"id": long()})), {"n": rows()}, {}, Limit(rows=1))
        return int(asked.reader.read(np.random.default_rng(1)).parts[0][0])

    return count(PEOPLE) != len(PEOPLE) or abs(count(PEOPLE) - count([*PEOPLE, None])) > 1


def _strict_dates(_rng: np.random.Generator) -> bool:
    return _stops(lambda texts: polars.Series(texts).str.to_date("%d/%m/%Y", strict=True))


def _total_dates(_rng: np.random.Generator) -> bool:
    def days(texts: list[str]) -> Any:
        columns = {"d": date(format="dd/mm/yyyy", first="2025-01-01", last="2025-12-31")}
        plan = open_table(polars.DataFrame({"d": texts}), Schema(EACH_ROW, columns))
        return Question(plan, {"n": central.questions.non_missing(plan["d"])}).reader.read(np.random.default_rng(1))

    return _stops(days)


def _stops(read: Callable[[list[str]], Any]) -> bool:
    """Whether one record decides if there is an answer or an error."""
    ends = []
    for texts in (["01/01/2025"], ["01/01/2025", "31/12/99999"]):
        try:
            read(texts)
            ends.append(True)
        except Exception:
            ends.append(False)
    return ends[0] != ends[1]


def _clamped_mean(_rng: np.random.Generator) -> bool:
    """Whether clamping each person's centred sum (the planted fault) moves the mean of ten equal people by over one."""
    centred = sum(max(-30, min(30, 3 * (5 - 30))) for _ in range(10))
    return abs(30 + centred / 10 - 5) > 1


def _chosen_mean(_rng: np.random.Generator) -> bool:
    frame = polars.DataFrame({"id": [*range(10)] * 3, "x": [5] * 30})
    plan = open_table(frame, Schema("id", {"id": whole(), "x": number(0, 60, grid=1)}))
    asked = Question(plan, {"m": mean(plan["x"])}, {}, Limit(rows=1))
    above, below = (int(part[0]) for part in asked.reader.read(np.random.default_rng(1)).parts)
    return abs(60 * above / (above + below) - 5) > 1e-9


# ---- refusals
def _book(**terms: Any) -> Ledger:
    usual: dict[str, Any] = {"epsilon": 1, "neighbours": ADD_OR_REMOVE_ONE, "person": EACH_ROW}
    return Ledger("planted", **(usual | terms))


def _late_seed(_rng: np.random.Generator) -> bool:
    book = _book()
    book.budget(epsilon=1).charge(Pure(1, neighbours=ADD_OR_REMOVE_ONE), what="planted")
    return book.spent.epsilon > 0


def _early_seed(_rng: np.random.Generator) -> bool:
    book, table = _book(), tables.read(polars.DataFrame({"x": [1]}), person=EACH_ROW)
    try:
        central.count(table, budget=book.budget(epsilon=1), rng="x")  # type: ignore[arg-type]
    except BruitError:
        return book.spent.epsilon > 0
    return True


KINDS = ("bool", "int8", "uint64", "float16", "float32", "object", "str", "complex")


def _late_scores(_rng: np.random.Generator) -> bool:
    def ask(budget: Budget, kind: str) -> None:
        budget.charge(Pure(1, neighbours=ADD_OR_REMOVE_ONE), what="planted")
        if np.dtype(kind).kind not in "iu":
            raise BruitError("scores are whole numbers")

    return _refuses_what_is_paid(ask)


def _any_scores(_rng: np.random.Generator) -> bool:
    table = tables.read(polars.DataFrame({"x": [1]}), person=EACH_ROW)

    def ask(budget: Budget, kind: str) -> None:
        scores: Any = lambda _table: np.array([0, 1], kind)  # noqa: E731
        central.noisy_max(table, ["a", "b"], scores, sensitivity=1, budget=budget)

    return _refuses_what_is_paid(ask)


def _refuses_what_is_paid(ask: Callable[[Budget, str], None]) -> bool:
    """Whether scores of some type end in an error when the budget is spent."""
    for kind in KINDS:
        book = _book()
        try:
            ask(book.budget(epsilon=1), kind)
        except Exception:
            if book.spent.epsilon:
                return True
    return False


def _refuses(ask: Callable[[], Any]) -> bool:
    try:
        ask()
    except BruitError:
        return True
    return False


def _monotone_exchange(_rng: np.random.Generator) -> bool:
    """Whether monotone scores under replacement lose more than ε: a vote for one of ten against votes for the rest."""
    laws = [np.exp(scores) / np.exp(scores).sum() for scores in (np.eye(10)[0], 1 - np.eye(10)[0])]
    return bool(np.abs(np.log(laws[0] / laws[1])).max() > 1)


def _monotone_refused(_rng: np.random.Generator) -> bool:
    table = tables.read(polars.DataFrame({"x": [1]}), person=EACH_ROW)
    budget = _book(neighbours=REPLACE_ONE).budget(epsilon=1)
    scores: Any = lambda _table: [0, 1]  # noqa: E731
    return not _refuses(
        lambda: central.exponential(table, ["a", "b"], scores, sensitivity=1, monotone=True, budget=budget)
    )


def _second_answer(_rng: np.random.Generator) -> bool:
    """Whether a threshold answers twice when a question asks it another: it checks only before a question is asked."""
    answered: list[bool] = []

    def ask(question: Callable[[], int]) -> bool:
        if answered:
            raise BruitError("answered")
        answered.append(question() > 0)
        return answered[-1]

    ask(lambda: int(ask(lambda: 1)))
    return len(answered) > 1


def _reentry_refused(_rng: np.random.Generator) -> bool:
    """Whether a question can ask the threshold that asks it."""
    table = tables.read(polars.DataFrame({"x": [1, 2]}), person=EACH_ROW)
    threshold = central.AboveThreshold(table, -1000, sensitivity=1, budget=_book().budget(epsilon=1))
    inner: list[bool] = []

    def question(rows: Any) -> int:
        if len(rows.frame.collect()):
            inner.append(_refuses(lambda: threshold.ask(lambda _rows: 1)))
        return 1

    threshold.ask(question)
    return inner != [True]


def _person_by_name(_rng: np.random.Generator) -> bool:
    """Whether one person moves a count of at most one row each by more than one."""

    def count(frame: polars.DataFrame, person: str) -> int:
        return frame.height if person == EACH_ROW else frame[person].n_unique()

    one, other = polars.DataFrame({EACH_ROW: [1]}), polars.DataFrame({EACH_ROW: [1, 2, 2, 2]})
    return count(other, EACH_ROW) - count(one, EACH_ROW) > 1


def _name_refused(_rng: np.random.Generator) -> bool:
    return not _refuses(lambda: tables.read(polars.DataFrame({"each row": [1, 1]}), person="each row"))
