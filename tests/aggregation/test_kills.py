"""A collector that ends at any point of any transaction: no second draw, no wrong sum.

Here the process is simulated: the transaction breaks off and every object is made again from the files. The same with
SIGKILL of real processes stands in `tests/stress/test_aggregation.py`.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aggregation.polls import Pair, make_pair, make_task, people, rows_of
from sqlalchemy import Connection, event

from bruit.aggregation import HistogramCircuit
from bruit.aggregation.collecting import State, converse, reply
from bruit.aggregation.collecting.publication import book_of
from bruit.storage import connect

ANSWERS = [2, 0, 2] * 4 + [1]
SUMS = [4, 1, 8]


class Killed(BaseException):
    """The end of a process, which nothing in it can catch."""


@contextmanager
def kill_at(store: str, point: str, number: int) -> Iterator[list[int]]:
    """Ends the process at the begin or commit of a transaction that writes to a store, counted from 1."""
    seen = [0]

    def count(connection: Connection) -> None:
        seen[0] += not connection.get_execution_options().get("reads", False)
        if seen[0] == number:
            seen[0] += 1
            raise Killed

    engine = connect(store)
    event.listen(engine, point, count)
    try:
        yield seen
    finally:
        event.remove(engine, point, count)


def talk(pair: Pair) -> State:
    return converse(pair.collector(1), lambda step, message: reply(pair.collector(0), step, message))


def totals(pair: Pair) -> list[bytes]:
    return [pair.collector(role).record.total for role in (0, 1)]


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The databases of two collectors that have closed."""
    folder = tmp_path_factory.mktemp("closed")
    pair = make_pair(folder, make_task(HistogramCircuit(length=3, chunk=2)))
    pair.receive(people(pair.task.scheme, ANSWERS))
    pair.close()
    for store in pair.stores:
        connect(store).dispose()
    return folder


def copied(closed: Path, folder: Path) -> Pair:
    for file in closed.glob("*.db"):
        shutil.copy(file, folder / file.name)
    stores = (f"sqlite:///{folder}/ada.db", f"sqlite:///{folder}/bea.db")
    return Pair(make_task(HistogramCircuit(length=3, chunk=2)), stores)


@pytest.mark.parametrize("role", [0, 1])
def test_a_kill_at_every_commit_changes_neither_sum_nor_draw(role: int, closed: Path, tmp_path: Path) -> None:
    number, reached = 0, True
    while reached:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        pair = copied(closed, folder)
        with kill_at(pair.stores[role], "commit", number) as seen:
            reached = False
            try:
                talk(pair)
            except Killed:
                reached = True
        assert reached == (seen[0] > number)
        drawn = totals(pair)
        assert talk(pair) is State.PUBLISHED
        kept = zip(drawn, totals(pair), strict=True)
        assert all(before in (b"", after) for before, after in kept), "a second total was drawn"
        ours, theirs = (json.loads(pair.collector(each).release) for each in (0, 1))
        assert ours["value"] == theirs["value"] == SUMS
        assert [len(book_of(pair.task, store).entries) for store in pair.stores] == [1, 1]
    assert number > 8


def test_a_kill_while_reports_are_written_keeps_all_of_a_batch_or_nothing(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task())
    rows = rows_of(people(pair.task.scheme, [1] * 20), 0)
    for number, point in enumerate(("begin", "commit")):
        some = rows[10 * number : 10 * number + 10]
        collector = pair.collector(0)
        with kill_at(pair.stores[0], point, 1), pytest.raises(Killed):
            collector.receive(some)
        assert pair.collector(0).record.received == 10 * number
        pair.collector(0).receive(some)
        assert pair.collector(0).record.received == len(pair.collector(0)._store.nonces(pair.task.name))
