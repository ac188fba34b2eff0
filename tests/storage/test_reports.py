"""What was accepted is on disk, each token once, and the counters agree with the reports."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.errors import StorageError
from bruit.storage import connect, reading
from bruit.storage.reports import NewReport, ReportStore, StoredPoll


def count(key, before, reports):
    """How many reports, and the sum of their numbers."""
    return before[0] + len(reports), str(int(before[1] or b"0") + sum(map(int, reports))).encode()


def opened(url, *identities):
    store = ReportStore(url)
    for identity in identities:
        store.create(StoredPoll(identity, "{}", "hash"))
    return store


def report(token, value="1", poll="a", number=1):
    return NewReport(poll, number, f"{token:032x}", value)


def test_a_token_is_counted_once_in_one_batch_and_over_many(store):
    reports = opened(store, "a")
    first = reports.add([report(1, "5"), report(2, "6"), report(1, "7")], count)
    assert first.counts == {("a", 1): (2, b"11")}
    second = reports.add([report(2, "9"), report(3, "1")], count)
    assert {token for _, _, token in second.new} == {f"{3:032x}"}
    assert reports.counts("a", 1) == (3, b"12")
    assert [value for _, value in reports.reports("a", 1)] == ["5", "6", "1"]


def test_polls_and_rounds_are_apart(store):
    reports = opened(store, "a", "b")
    reports.next_round("a")
    reports.add([report(1), report(1, poll="b"), report(1, number=2)], count)
    assert [reports.counts("a", 1), reports.counts("b", 1), reports.counts("a", 2)] == [(1, b"1")] * 3
    assert reports.rounds("a") == [1, 2]
    reports.delete("a")
    assert reports.poll("a") is None
    assert reports.counts("b", 1) == (1, b"1")


def test_a_commit_that_fails_leaves_nothing(store):
    reports = opened(store, "a")
    reports.add([report(1)], count)

    def fail(key, before, new):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        reports.add([report(2)], fail)
    with pytest.raises(StorageError):
        reports.add([report(3), report(3, poll="no such poll")], count)
    assert reports.counts("a", 1) == (1, b"1")
    assert len(list(reports.reports("a", 1))) == 1


def test_two_writers_agree_on_the_counters(store):
    one, two = opened(store, "a"), ReportStore(store)
    one.add([report(1)], count)
    two.add([report(1), report(2)], count)
    one.add([report(3)], count)
    assert two.counts("a", 1) == (3, b"3")


def test_pages_of_reports_lose_none(store, monkeypatch):
    monkeypatch.setattr("bruit.storage.reports.PAGE", 7)
    reports = opened(store, "a")
    reports.add([report(token, str(token)) for token in range(1, 50)], count)
    assert [int(value) for _, value in reports.reports("a", 1)] == list(range(1, 50))


def test_reports_are_read_in_the_order_of_their_random_tokens(store):
    reports = opened(store, "a")
    for token in (9, 3, 7, 1):
        reports.add([report(token, str(token))], count)
    assert [value for _, value in reports.reports("a", 1)] == ["1", "3", "7", "9"]
    if store.startswith("sqlite"):
        with reading(connect(store)) as connection, pytest.raises(Exception, match="rowid"):
            connection.exec_driver_sql("SELECT rowid FROM bruit_reports")


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=10), max_size=6))
def test_counters_are_the_number_of_distinct_tokens(tmp_path_factory, batches):
    reports = opened(f"sqlite:///{tmp_path_factory.mktemp('reports')}/r.db", "a")
    for batch in batches:
        reports.add([report(token) for token in batch], count)
    distinct = len({token for batch in batches for token in batch})
    assert reports.counts("a", 1)[0] == distinct == len(list(reports.reports("a", 1)))
