"""Streams as people use them, on both stores: publishing, asking again, going on, and every refusal."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import polars
import pytest
from continual.conftest import people
from sqlalchemy import update

import bruit
from bruit.continual import Count, Histogram, Mean, Stream, Sum, at_most, once, once_in
from bruit.continual.store.sql_tables import published, streams
from bruit.core import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Assumption
from bruit.errors import (
    BudgetExceeded,
    BudgetMissing,
    InvalidArgument,
    NeighboursDiffer,
    NotPrivate,
    PrivacyError,
    StorageError,
    TermsDiffer,
    UnknownLedger,
)
from bruit.ledger import Ledger
from bruit.storage import writing
from bruit.tables import among, read, within

SURE = 1 - 1e-9
"""A confidence that no test misses."""

WARDS = among(["A", "B"])


def terms(**changed: Any) -> dict[str, Any]:
    usual = {"epsilon": 100, "delta": "1e-4", "neighbours": ADD_OR_REMOVE_ONE, "person": "id"}
    return usual | changed


@pytest.fixture
def ledger(store: str) -> Ledger:
    return Ledger("clinic", **terms(), store=store)


@pytest.fixture
def file_store(tmp_path: Path) -> str:
    """A SQLite file: what a question counts does not depend on the store."""
    return f"sqlite:///{tmp_path}/books.db"


@pytest.fixture
def plain(file_store: str) -> Ledger:
    return Ledger("clinic", **terms(), store=file_store)


def count(ledger: Ledger, name: str = "visits", **changed: Any) -> Stream:
    asked: dict[str, Any] = {"participation": once(), "periods": 6, "budget": ledger.budget(epsilon=50, delta="1e-6")}
    return Stream(name, changed.pop("question", Count(rows=1)), **(asked | changed))


def test_a_stream_is_one_open_entry_and_gives_the_same_again(ledger: Ledger) -> None:
    stream = count(ledger)
    first = stream.update(people(1, 2, 3))
    second = stream.update(people(4, 5), confidence=SURE)
    assert abs(second.value - 5) <= second.noise
    assert stream.update(people(), period=1).value == first.value
    assert stream.total(1).value == first.value
    assert Stream.open("visits", ledger).total().value == second.value
    assert stream.period == 2
    [entry] = ledger.entries
    assert entry.release is None
    assert entry.what == "continual.Stream visits"
    assert float(entry.guarantee.epsilon) == pytest.approx(50, rel=1e-6)
    assert entry.guarantee.epsilon <= 50


def test_the_entry_is_finished_by_the_last_period_and_nothing_follows(ledger: Ledger) -> None:
    stream = count(ledger, periods=2)
    stream.update(people(1))
    last = stream.update(people(2))
    [entry] = ledger.entries
    assert entry.release is not None
    assert entry.release.value == last.value
    with pytest.raises(InvalidArgument, match="paid for 1 to 2"):
        stream.update(people(3))
    assert stream.update(people(3), period=2).value == last.value


def test_an_entry_is_finished_by_whoever_asks_for_the_last_period_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = count(ledger, periods=1)
    with monkeypatch.context() as patched:
        patched.setattr(type(stream._opened.charge), "finish", lambda *_: 1 / 0)  # died after the commit
        with pytest.raises(ZeroDivisionError):
            stream.update(people(1))
    assert [entry.state for entry in ledger.entries] == ["open"]
    stream.update(people(), period=1)
    assert [entry.state for entry in ledger.entries] == ["finished"]


def test_periods_come_one_after_the_other(ledger: Ledger) -> None:
    stream = count(ledger)
    with pytest.raises(InvalidArgument, match="the next one is 1"):
        stream.update(people(1), period=2)
    with pytest.raises(InvalidArgument, match="published nothing"):
        stream.total()
    for wrong in (0, -1, True, 1.0):
        with pytest.raises(InvalidArgument, match="period"):
            stream.update(people(1), period=wrong)


def test_two_handles_go_on_from_each_other(ledger: Ledger) -> None:
    one, other = count(ledger), count(ledger)
    values = [stream.update(people(period)).value for period, stream in enumerate((one, other, one, other))]
    assert [one.total(period).value for period in (1, 2, 3, 4)] == values
    assert len(ledger.entries) == 1


def test_writers_at_the_same_time_give_one_answer(ledger: Ledger) -> None:
    count(ledger)
    given: list[tuple[int, int]] = []

    def work() -> None:
        mine = Stream.open("visits", ledger)
        given.extend((period, mine.update_totals(np.array([1]), period=period).value) for period in range(1, 7))

    threads = [Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == 18
    assert len(dict(given)) == len(set(given)) == 6


def test_two_openings_at_the_same_time_pay_once(ledger: Ledger) -> None:
    failed: list[Exception] = []

    def work() -> None:
        try:
            count(ledger)
        except Exception as error:
            failed.append(error)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(ledger.entries) == 1


def test_a_stream_on_other_terms_is_refused(ledger: Ledger) -> None:
    count(ledger)
    for changed in ({"periods": 7}, {"participation": at_most(2)}, {"question": Count(rows=2)}, {"aim": "mean"}):
        with pytest.raises(TermsDiffer, match="visits"):
            count(ledger, **changed)
    assert len(ledger.entries) == 1


def test_what_died_unpaid_can_be_replaced_and_what_was_paid_cannot(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bruit.continual import opening

    def dies(*_: object, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(opening, "pay", dies)
        with pytest.raises(KeyboardInterrupt):
            count(ledger, periods=9)
    assert ledger.entries == ()
    with pytest.raises(UnknownLedger, match="visits"):
        Stream.open("visits", ledger)
    assert count(ledger, periods=5).periods == 5
    with monkeypatch.context() as patched:
        patched.setattr(opening, "mark_paid", dies)
        with pytest.raises(KeyboardInterrupt):
            count(ledger, "calls")
    with pytest.raises(TermsDiffer):  # its token stands in the book
        count(ledger, "calls", periods=9)
    count(ledger, "calls").update(people(1))
    assert [entry.what for entry in ledger.entries] == ["continual.Stream visits", "continual.Stream calls"]  # type: ignore[var-annotated]


def test_a_handle_on_a_stream_that_was_replaced_publishes_nothing(ledger: Ledger) -> None:
    """Once a handle wrote into the row of another stream of its name, with its own unit."""
    stream = count(ledger)
    with writing(stream._opened.engine) as connection:
        connection.execute(update(streams).values(token="0" * 32))
    with pytest.raises(StorageError, match="not there"):
        stream.update(people(1))


def test_unit_and_plan_are_read_in_the_transaction_of_the_period(ledger: Ledger) -> None:
    stream = count(ledger)
    told = stream.terms.to_json()
    again = told.replace(f'"unit": {stream.terms.plan.unit}', '"unit": 1000')
    assert again != told
    with writing(stream._opened.engine) as connection:
        connection.execute(update(streams).values(terms=again))
    values = [stream.update(people()).value for _ in range(4)]
    assert max(map(abs, values)) > 1000  # σ / 1000, not the unit that the handle remembers


def test_a_store_that_was_set_back_pays_again(ledger: Ledger) -> None:
    stream = count(ledger)
    stream.update(people(1))
    stream.update(people(2))
    with writing(stream._opened.engine) as connection:
        connection.execute(update(streams).values(period=1))
    with pytest.raises(StorageError, match="set back to period 1"):
        stream.update(people(2))
    with pytest.raises(StorageError, match="restore"):
        Stream.open("visits", ledger).total()
    spent = ledger.spent.epsilon
    restored = Stream.restore("visits", budget=ledger.budget(epsilon=50, delta="1e-6"))
    assert ledger.spent.epsilon == 2 * spent
    assert restored.update(people(2), period=2).value == restored.total(2).value
    with pytest.raises(InvalidArgument, match="was not set back"):
        Stream.restore("visits", budget=ledger.budget(epsilon=50, delta="1e-6"))


def test_a_store_with_other_values_than_were_published_is_refused(ledger: Ledger) -> None:
    stream = count(ledger)
    stream.update(people(1))
    stream.update(people(2))
    with writing(stream._opened.engine) as connection:
        other = np.array([12_345], "<i8").tobytes()
        connection.execute(update(published).where(published.c.period == 2).values({"values": other}))
    with pytest.raises(StorageError, match="not those that were published"):
        Stream.open("visits", ledger)
    with writing(stream._opened.engine) as connection:
        connection.execute(published.delete().where(published.c.period == 2))
    with pytest.raises(StorageError, match="gone"):
        stream.update(people(), period=2)


def test_whoever_has_seen_more_than_the_store_pays_again(ledger: Ledger) -> None:
    count(ledger).update(people(1))
    Stream.restore("visits", budget=ledger.budget(epsilon=50, delta="1e-6"), seen=3)
    assert [entry.what for entry in ledger.entries] == [
        "continual.Stream visits",
        "continual.Stream visits, set back to period 1",
    ]
    with pytest.raises(BudgetExceeded):
        Stream.restore("visits", budget=ledger.budget(epsilon=50, delta="1e-6"), seen=4)


# ---------------------------------------------------------------- whose rows count
def exactly(stream: Stream, *tables: Any) -> int:
    """The total after some periods, which the noise of a large ε hardly moves."""
    for table in tables:
        release = stream.update(table, confidence=SURE)
    assert release.noise < 12
    return int(release.value)


def test_a_person_counts_in_as_many_periods_as_was_declared(plain: Ledger) -> None:
    crowd = range(1000)
    table = people(*crowd)
    assert abs(exactly(count(plain), table, table, table) - 1000) < 12
    twice = Ledger("twice", **terms(), store=plain.book.store)
    assert abs(exactly(count(twice, participation=at_most(2)), table, table, table) - 2000) < 24


def test_turns_lie_as_far_apart_as_was_declared(plain: Ledger) -> None:
    table = people(*range(1000))
    stream = count(plain, participation=once_in(2))
    totals = [stream.update(table, confidence=SURE).value for _ in range(5)]
    np.testing.assert_allclose(totals, [1000, 1000, 2000, 2000, 3000], atol=40)


def test_rows_of_one_person_beyond_the_bound_are_left_out(plain: Ledger) -> None:
    rows = polars.DataFrame({"id": list(range(300)) * 5})
    stream = count(plain, question=Count(rows=2))
    release = stream.update(read(rows, person="id"), confidence=SURE)
    assert abs(release.value - 600) <= release.noise


def test_an_empty_period_is_published_and_uses_no_turn(plain: Ledger) -> None:
    stream = count(plain)
    stream.update(people())
    release = stream.update(people(*range(500)), confidence=SURE)
    assert abs(release.value - 500) <= release.noise


def test_a_period_that_failed_used_up_no_turn(plain: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    from bruit.continual import stream as module

    stream = count(plain)
    with monkeypatch.context() as patched:
        patched.setattr(module, "write", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            stream.update(people(*range(500)))
    release = stream.update(people(*range(500)), confidence=SURE)
    assert abs(release.value - 500) <= release.noise


def test_corrections_use_up_turns_and_stay_within_the_bound(plain: Ledger) -> None:
    question = Count(rows=1, corrections="change")
    assert question.contribution.signed
    stream = count(plain, question=question, participation=at_most(2))
    crowd = list(range(800))
    stream.update(people(*crowd, change=[1] * 800))
    back = stream.update(people(*crowd, change=[-1] * 800), confidence=SURE)
    assert abs(back.value) <= back.noise
    # No turn is left, and -11 in one row is read as -1: a whole past cannot be taken back at once.
    other = count(plain, "other", question=question, participation=at_most(2), budget=_half(plain))
    other.update(people(*crowd, change=[1] * 800))
    taken = other.update(people(*crowd, change=[-11] * 800), confidence=SURE)
    assert abs(taken.value) <= taken.noise


def _half(plain: Ledger) -> Any:
    return plain.budget(epsilon=40, delta="1e-6")


# ---------------------------------------------------------------- questions
def wards(*pairs: tuple[int, str, float]) -> Any:
    frame = polars.DataFrame(pairs, schema=["id", "ward", "age"], orient="row")
    return read(frame, person="id")


DATA = [(person, "AB?"[person % 3], float(person % 50)) for person in range(900)]


def test_a_histogram_has_a_number_for_each_declared_value(plain: Ledger) -> None:
    stream = count(plain, question=Histogram("ward", WARDS, rows=1))
    release = stream.update(wards(*DATA), confidence=SURE)
    assert release.labels == ("A", "B", "OTHER")
    np.testing.assert_allclose(release.value, [300, 300, 300], atol=release.noise)
    assert release.frame()["label"].to_list() == ["A", "B", "OTHER"]


def test_a_sum_is_clamped_to_its_domain(plain: Ledger) -> None:
    stream = count(plain, question=Sum("age", within(0, 20, grid="0.5"), rows=1))
    release = stream.update(wards(*DATA), confidence=SURE)
    exact = sum(min(age, 20) for _, _, age in DATA)
    assert abs(release.value - exact) <= release.noise
    assert release.interval.low <= exact <= release.interval.high


def test_a_mean_comes_from_both_ends(plain: Ledger) -> None:
    stream = count(plain, question=Mean("age", within(0, 50, grid=1), rows=1))
    release = stream.update(wards(*DATA), confidence=SURE)
    exact = np.mean([age for _, _, age in DATA])
    assert release.interval.low <= exact <= release.interval.high
    assert release.noise < 1
    stream.update(wards(*[(9000 + i, "A", 10.0) for i in range(900)]))
    window = stream.window(1, confidence=SURE)
    assert window.interval.low <= 10 <= window.interval.high
    with pytest.raises(InvalidArgument, match="no trend"):
        stream.trend(2)


def test_rows_may_be_people_of_their_own(file_store: str) -> None:
    rows = Ledger("rows", **terms(person=EACH_ROW), store=file_store)
    stream = count(rows)
    release = stream.update(read(polars.DataFrame({"x": range(700)}), person=EACH_ROW), confidence=SURE)
    assert abs(release.value - 700) <= release.noise
    with pytest.raises(InvalidArgument, match="once"):
        count(rows, "more", participation=at_most(2), budget=_half(rows))


def test_changes_windows_and_trends_need_no_budget(plain: Ledger) -> None:
    stream = count(plain)
    for period in range(4):
        stream.update(people(*range(1000 * period, 1000 * period + 100 * (period + 1))))
    spent = plain.spent
    change = stream.change(1, 3, confidence=SURE)
    assert abs(change.value - 500) <= change.noise
    assert stream.window(2, until=3).value == change.value
    trend = stream.trend(4, confidence=SURE)
    exact = np.polyfit([0, 1, 2, 3], [100, 300, 600, 1000], 1)[0]
    assert abs(trend.value - exact) <= trend.noise
    assert stream.series()["period"].to_list() == [1, 2, 3, 4]
    joint, single = stream.series(joint=True), stream.series()
    assert (joint["high"] - joint["low"] > single["high"] - single["low"]).all()
    assert plain.spent == spent


def test_what_each_period_adds_is_told(plain: Ledger) -> None:
    stream = count(plain)
    after = [stream.guarantee_after(period).epsilon for period in range(1, 7)]
    assert after == sorted(after)
    assert after[-1] == stream.guarantee.epsilon
    assert 0 < after[0] < after[-1]


# ---------------------------------------------------------------- books and prices
def test_replacing_costs_more_noise_than_adding(file_store: str) -> None:
    widths = {}
    for neighbours in (ADD_OR_REMOVE_ONE, REPLACE_ONE):
        book = Ledger(neighbours.value, **terms(neighbours=neighbours), store=file_store)
        stream = count(book, budget=book.budget(epsilon=1, delta="1e-6"))
        widths[neighbours] = stream.update(people(1)).noise
        assert stream.guarantee.neighbours is neighbours
    assert 1 < widths[REPLACE_ONE] / widths[ADD_OR_REMOVE_ONE] <= 1.5


def test_a_zcdp_book_pays_the_divergence(file_store: str) -> None:
    book = Ledger("zcdp", **terms(by="zcdp"), store=file_store)
    stream = count(book, budget=book.budget(epsilon=1, delta="1e-6"))
    assert book.spent.total >= stream.terms.plan.squared_shift / 2
    assert float(book.spent.total) == pytest.approx(float(stream.terms.plan.squared_shift) / 2, rel=1e-9)
    basic = Ledger("basic", **terms(), store=file_store)
    normal = count(basic, budget=basic.budget(epsilon=1, delta="1e-6"))
    assert normal.terms.plan.unit > stream.terms.plan.unit  # the normal trade-off gives back what conversion loses


def test_a_budget_may_state_its_loss(file_store: str) -> None:
    book = Ledger("zcdp", **terms(by="zcdp"), store=file_store)
    stream = count(
        book, budget=book.budget(bruit.privacy.ZeroConcentrated(Fraction(1, 50), neighbours=ADD_OR_REMOVE_ONE))
    )
    assert float(stream.terms.plan.squared_shift) == pytest.approx(1 / 25, rel=1e-6)


def test_prices_that_cannot_be_paid_are_refused_before_anything(plain: Ledger, file_store: str) -> None:
    with pytest.raises(BudgetMissing):
        count(plain, budget=None)
    with pytest.raises(NotPrivate, match="δ"):
        count(plain, budget=plain.budget(epsilon=1))
    local = Ledger("local", **terms(neighbours=bruit.LOCAL), store=file_store)
    with pytest.raises(NeighboursDiffer):
        count(local, budget=local.budget(epsilon=1, delta="1e-6"))
    memory = Ledger("memory", **terms())
    with pytest.raises(InvalidArgument, match="store"):
        count(memory, budget=memory.budget(epsilon=1, delta="1e-6"))
    assert plain.entries == ()


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"budget": None}, BudgetMissing, "needs a budget: give budget=ledger.budget"),
        ({"budget": 1.0}, InvalidArgument, "budget=1.0 is not a budget"),
        ({"rng": 3}, InvalidArgument, "rng=3 is no source of randomness"),
    ],
)
def test_what_cannot_pay_is_refused_in_the_words_of_every_paid_call(
    plain: Ledger, given: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        count(plain, **given)
    nothing = plain.budget(bruit.privacy.Pure(0, neighbours=ADD_OR_REMOVE_ONE))
    with pytest.raises(InvalidArgument, match="a price of epsilon=0 buys no answer"):
        count(plain, budget=nothing)
    assert plain.entries == ()


def test_a_release_names_the_entry_that_paid(plain: Ledger) -> None:
    stream = count(plain)
    assert stream.update(people(1)).receipt == plain.receipt(1)
    assert [entry.state for entry in plain.entries] == ["open"]
    while stream.period < stream.periods:
        last = stream.update(people())
    assert [entry.state for entry in plain.entries] == ["finished"]
    assert last.receipt == plain.receipt(1)


def test_a_book_with_too_little_left_refuses_and_the_name_stays_free(plain: Ledger) -> None:
    count(plain, "first", budget=plain.budget(epsilon=55, delta="1e-6"))
    with pytest.raises(BudgetExceeded):
        count(plain, budget=plain.budget(epsilon=55, delta="1e-6"))
    with pytest.raises(UnknownLedger):
        Stream.open("visits", plain)
    count(plain, periods=3, budget=plain.budget(epsilon=40, delta="1e-6")).update(people(1))
    assert len(plain.entries) == 2


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"periods": 0}, "periods"),
        ({"periods": 2**20 + 1}, "periods"),
        ({"periods": True}, "periods"),
        ({"aim": "least"}, "aim"),
        ({"aim": 6}, "aim"),
        ({"aim": "mean", "periods": None}, "known"),
        ({"participation": once_in(2), "periods": None}, "known"),
    ],
)
def test_arguments_out_of_range_are_refused(book: Callable[..., Ledger], changed: dict[str, Any], said: str) -> None:
    plain = book()
    with pytest.raises(InvalidArgument, match=said):
        count(plain, **changed)
    assert plain.entries == ()


def test_a_window_can_be_aimed_at(book: Callable[..., Ledger]) -> None:
    plain = book()
    wide = count(plain, periods=64, budget=plain.budget(epsilon=1, delta="1e-6"))
    narrow = count(plain, "window", periods=64, aim=2, budget=plain.budget(epsilon=1, delta="1e-6"))
    for stream in (wide, narrow):
        for _ in range(8):
            stream.update(people())
    assert narrow.window(2).noise < wide.window(2).noise


def test_a_stream_of_unknown_length_goes_on(book: Callable[..., Ledger]) -> None:
    stream = count(book(), periods=None)
    for period in range(3):
        release = stream.update(people(*range(100 * period, 100 * period + 100)), confidence=SURE)
    assert abs(release.value - 300) <= release.noise
    assert stream.periods == 2**20


def test_tables_that_do_not_fit_are_refused_by_their_schema(book: Callable[..., Ledger]) -> None:
    stream = count(book(), question=Histogram("ward", WARDS, rows=1))
    with pytest.raises(PrivacyError, match="protects 'id'"):
        stream.update(read(polars.DataFrame({"who": [1], "ward": ["A"]}), person="who"))
    with pytest.raises(InvalidArgument, match="ward"):
        stream.update(people(1))
    with pytest.raises(InvalidArgument, match="3 whole numbers"):
        stream.update_totals(np.array([1.0, 2.0, 3.0]))
    with pytest.raises(InvalidArgument, match="3 whole numbers"):
        stream.update_totals(np.array([1, 2]))
    assert stream.period == 0


def test_seeded_noise_is_marked_and_cannot_be_brought_later(book: Callable[..., Ledger]) -> None:
    plain = book()
    seeded = count(plain, rng=np.random.default_rng(1))
    assert seeded.guarantee.assumes == (Assumption.SEEDED,)
    again = count(book("again"), rng=np.random.default_rng(1))
    assert seeded.update(people(1)).value == again.update(people(1)).value
    strong = count(book("strong"))
    with pytest.raises(InvalidArgument, match="without rng"):
        Stream.open("visits", strong.ledger, rng=np.random.default_rng(1))
    with pytest.raises(InvalidArgument, match="without rng"):
        count(strong.ledger, rng=np.random.default_rng(1))  # opens what stands
    assert count(plain).update(people(1)).guarantee.assumes == (Assumption.SEEDED,)


def test_rule_8_a_seeded_stream_that_died_unpaid_does_not_lend_its_mark(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bruit.continual import opening

    def dies(*_: object, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(opening, "pay", dies)
        with pytest.raises(KeyboardInterrupt):
            count(ledger, rng=np.random.default_rng(1))
    assert count(ledger).guarantee.assumes == ()
    with pytest.raises(InvalidArgument, match="without rng"):
        Stream.open("visits", ledger, rng=np.random.default_rng(1))


def test_rule_4_a_loss_of_a_declared_list_pays_for_no_stream(file_store: str) -> None:
    """Once it paid for any number of them: the stream's own name took the place of the loss's, which is used once."""
    book = Ledger("zcdp", **terms(by="zcdp"), store=file_store)
    count(book)
    loss = book.entries[0].loss
    (declared,) = book.declare([loss], delta="1e-6", by="zcdp", what="next year")
    spent, entries = book.spent, len(book.entries)
    for name in ("visits of next year", "calls"):
        with pytest.raises(InvalidArgument, match="declared list"):
            count(book, name, budget=declared)
    with pytest.raises(InvalidArgument, match="declared list"):
        declared.charge(loss, what="own", source="own")
    assert (book.spent, len(book.entries), Stream.names(book)) == (spent, entries, ("visits",))


def test_negative_totals_are_not_added_where_nothing_is_signed(book: Callable[..., Ledger]) -> None:
    stream = count(book())
    release = stream.update_totals(np.array([-10_000]), confidence=SURE)
    assert abs(release.value) <= release.noise
