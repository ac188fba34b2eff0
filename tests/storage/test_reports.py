"""What was accepted is on disk, each token once, and the counters agree with the reports."""

import secrets
from pathlib import Path
from typing import Any, Never

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.apps.web.polls.store import NewReport, Outcome, ReportStore, StoredPoll
from bruit.errors import DatabaseInUse
from bruit.storage import Lease, connect, reading


def count(key: Any, before: Any, reports: Any) -> Any:
    """How many reports, and the sum of their numbers."""
    return before[0] + len(reports), str(int(before[1] or b"0") + sum(map(int, reports))).encode()


def opened(url: Any, *identities: Any) -> Any:
    store = ReportStore(url)
    for identity in identities:
        store.create(StoredPoll(identity, "{}", "hash"))
    return store


def report(token: Any, value: str = "1", poll: str = "a", number: int = 1) -> Any:
    return NewReport(poll, number, f"{token:032x}", value)


def test_a_token_is_counted_once_in_one_batch_and_over_many(store: str) -> None:
    reports = opened(store, "a")
    first = reports.add([report(1, "5"), report(2, "6"), report(1, "7")], count)
    assert first.counts == {("a", 1): (2, b"11")}
    second = reports.add([report(2, "9"), report(3, "1")], count)
    assert first.outcomes == (Outcome.COUNTED, Outcome.COUNTED, Outcome.KNOWN)
    assert second.outcomes == (Outcome.KNOWN, Outcome.COUNTED)
    assert reports.counts("a", 1) == (3, b"12")
    assert [value for _, value in reports.reports("a", 1)] == ["5", "6", "1"]


def test_polls_and_rounds_are_apart(store: str) -> None:
    reports = opened(store, "a", "b")
    reports.add([report(1), report(1, poll="b")], count)
    reports.next_round("a", ends=1)
    reports.add([report(1, number=2)], count)
    assert [reports.counts("a", 1), reports.counts("b", 1), reports.counts("a", 2)] == [(1, b"1")] * 3
    reports.next_round("a", ends=1)  # pressed again
    assert reports.rounds("a") == [1, 2]
    reports.delete("a")
    assert reports.poll("a") is None
    assert reports.counts("b", 1) == (1, b"1")


def test_a_commit_that_fails_leaves_nothing(store: str) -> None:
    reports = opened(store, "a")
    reports.add([report(1)], count)

    def fail(key: Any, before: Any, new: Any) -> Never:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        reports.add([report(2)], fail)
    assert reports.counts("a", 1) == (1, b"1")
    assert len(list(reports.reports("a", 1))) == 1


def test_no_report_is_counted_once_its_round_is_over(store: str) -> None:
    """Closing and asking again are in the same order as the commits: what comes after is refused inside them."""
    reports = opened(store, "a", "b")
    reports.add([report(1)], count)
    reports.set_open("a", is_open=False)
    late = reports.add([report(1), report(2), report(3, poll="b"), report(4, poll="no such poll")], count)
    assert late.outcomes == (Outcome.KNOWN, Outcome.OVER, Outcome.COUNTED, Outcome.UNKNOWN)
    reports.set_open("a", is_open=True)
    reports.next_round("a", ends=1)
    assert reports.add([report(5), report(6, number=2), report(7, number=3)], count).outcomes == (
        Outcome.OVER,
        Outcome.COUNTED,
        Outcome.OVER,
    )
    assert reports.counts("a", 1) == (1, b"1")


def test_a_server_that_was_replaced_commits_nothing(store: str) -> None:
    reports, lease = opened(store, "a"), Lease(store, "web")
    lease.take()
    assert reports.add([report(1)], count, lease.check).outcomes == (Outcome.COUNTED,)
    with pytest.raises(DatabaseInUse, match="another server runs"):
        Lease(store, "web").take()
    lease.release()
    other = Lease(store, "web")  # the lock was lost, and another server came
    other.take()
    with pytest.raises(DatabaseInUse, match="taken this database over"):
        reports.add([report(2)], count, lease.check)
    other.release()
    assert reports.counts("a", 1)[0] == 1


def test_deleted_tokens_are_in_no_file(tmp_path: Path) -> None:
    """Overwritten where they stood, and the WAL is emptied: nothing of a deleted poll is left to be read."""
    reports = opened(f"sqlite:///{tmp_path}/r.db", "a", "b")
    tokens = [secrets.token_hex(16) for _ in range(300)]
    for at in range(0, 300, 10):  # many commits, so that pages are split and moved
        gone = [NewReport("a", 1, token, "1") for token in tokens[at : at + 10]]
        reports.add([*gone, *(NewReport("b", 1, secrets.token_hex(16), "1") for _ in range(10))], count)
    reports.delete("a")
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [token for token in tokens if token.encode() in left] == []


def test_two_writers_agree_on_the_counters(store: str) -> None:
    one, two = opened(store, "a"), ReportStore(store)
    one.add([report(1)], count)
    two.add([report(1), report(2)], count)
    one.add([report(3)], count)
    assert two.counts("a", 1) == (3, b"3")


def test_pages_of_reports_lose_none(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bruit.apps.web.polls.store.reports.PAGE", 7)
    reports = opened(store, "a")
    reports.add([report(token, str(token)) for token in range(1, 50)], count)
    assert [int(value) for _, value in reports.reports("a", 1)] == list(range(1, 50))


def test_reports_are_read_in_the_order_of_their_random_tokens(store: str) -> None:
    reports = opened(store, "a")
    for token in (9, 3, 7, 1):
        reports.add([report(token, str(token))], count)
    assert [value for _, value in reports.reports("a", 1)] == ["1", "3", "7", "9"]
    if store.startswith("sqlite"):
        with reading(connect(store)) as connection, pytest.raises(Exception, match="rowid"):
            connection.exec_driver_sql("SELECT rowid FROM bruit_reports")


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=10), max_size=6))
def test_counters_are_the_number_of_distinct_tokens(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[int]]
) -> None:
    reports = opened(f"sqlite:///{tmp_path_factory.mktemp('reports')}/r.db", "a")
    for batch in batches:
        reports.add([report(token) for token in batch], count)
    distinct = len({token for batch in batches for token in batch})
    assert reports.counts("a", 1)[0] == distinct == len(list(reports.reports("a", 1)))
