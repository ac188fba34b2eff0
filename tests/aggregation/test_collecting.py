"""Two collectors: honest runs, refusals, and what is on disk at the end."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aggregation.polls import KEY, Pair, make_pair, make_task, people, rows_of

from bruit.aggregation import (
    Circuit,
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    SumCircuit,
    SumVecCircuit,
)
from bruit.aggregation.collecting import Collector, Reception, ReportRow, State, converse, reply
from bruit.aggregation.collecting.publication import book_of
from bruit.errors import BudgetExceeded, InvalidArgument, ProtocolError

CASES: list[tuple[Circuit, object, list[int]]] = [
    (CountCircuit(), [1, 0] * 6, [6]),
    (SumCircuit(largest=100), [100, 64, 0, 1] * 3, [495]),
    (HistogramCircuit(length=3, chunk=2), [2, 0, 2] * 5, [5, 0, 10]),
    (MultihotCountVecCircuit(length=3, chunk=2, most=2), [[1, 1, 0], [0, 0, 1]] * 6, [6, 6, 6]),
    (SumVecCircuit(length=2, chunk=3, largest=5), [[5, 0], [3, 2]] * 6, [48, 12]),
]


def converse_with(pair: Pair) -> State:
    return converse(pair.collector(1), lambda step, message: reply(pair.collector(0), step, message))


@pytest.mark.parametrize(("circuit", "answers", "sums"), CASES, ids=lambda value: type(value).__name__)
def test_both_collectors_publish_the_sum(circuit: Circuit, answers: object, sums: list[int], tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task(circuit))
    pair.receive(people(pair.task.scheme, answers))
    pair.close()
    assert converse_with(pair) is State.PUBLISHED
    ours, theirs = (json.loads(pair.collector(role).release) for role in (0, 1))
    assert ours == theirs
    assert ours["value"] == sums
    assert ours["guarantee"]["assumes"] == ["two collectors do not join", "TurboSHAKE128"]
    assert "experimental" in ours["method"]


def test_many_chunks_and_a_half_arrived_report(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task())
    split = people(pair.task.scheme, np.arange(2500) % 2)
    pair.collector(0).receive(rows_of(split, 0))
    pair.collector(1).receive(rows_of(split, 1)[1:])  # the first person's second half never came
    pair.close()
    assert converse_with(pair) is State.PUBLISHED
    release = json.loads(pair.collector(1).release)
    assert release["value"] == [1250]
    assert {key: release["details"][key] for key in ("received", "matched", "accepted")} == {
        "received": 2499,
        "matched": 2499,
        "accepted": 2499,
    }


def test_after_publication_no_share_and_no_key_is_left(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task())
    split = people(pair.task.scheme, [1] * 12)
    pair.receive(split)
    pair.close()
    converse_with(pair)
    for role, name in enumerate(("ada", "bea")):
        with sqlite3.connect(tmp_path / f"{name}.db") as database:
            assert database.execute("SELECT count(*) FROM bruit_split_shares").fetchone() == (0,)
            assert database.execute("SELECT key, batch FROM bruit_split_tasks").fetchone() == (b"", b"")
        (entry,) = book_of(pair.task, pair.stores[role]).entries
        assert entry.release is not None
        assert entry.guarantee.epsilon == pair.task.epsilon


def test_below_the_least_batch_there_is_no_result_and_shares_are_deleted(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task(least_batch=13))
    pair.receive(people(pair.task.scheme, [1] * 12))
    pair.close()
    assert converse_with(pair) is State.TOO_FEW
    for role in (0, 1):
        collector = pair.collector(role)
        assert (collector.state, collector.release) == (State.TOO_FEW, "")
        assert collector._store.nonces(pair.task.name) == []
        assert book_of(pair.task, pair.stores[role]).entries == ()


def test_below_the_least_batch_after_refused_proofs(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task(least_batch=12))
    split = people(pair.task.scheme, [1] * 12)
    split.shares[0][3, 0] ^= 1
    pair.receive(split)
    pair.close()
    assert converse_with(pair) is State.TOO_FEW
    assert pair.collector(0).state is State.TOO_FEW


@pytest.mark.parametrize("part", ["share", "public", "seed"])
def test_a_forged_report_does_not_count_and_the_others_do(part: str, tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task(HistogramCircuit(length=4, chunk=2)))
    split = people(pair.task.scheme, [1] * 14)
    {"share": split.shares[0], "public": split.public, "seed": split.shares[1]}[part][5, 3] ^= 4
    pair.receive(split)
    pair.close()
    assert converse_with(pair) is State.PUBLISHED
    assert json.loads(pair.collector(0).release)["value"] == [0, 13, 0, 0]


def test_different_public_shares_at_the_two_collectors_are_refused(tmp_path: Path) -> None:
    """Only one of the collectors can see it: its joint randomness differs."""
    pair = make_pair(tmp_path, make_task(HistogramCircuit(length=4, chunk=2)))
    split = people(pair.task.scheme, [1] * 14)
    first = rows_of(split, 0)
    first[2] = first[2]._replace(public=first[2].public[:-1] + bytes([first[2].public[-1] ^ 1]))
    pair.collector(0).receive(first)
    pair.collector(1).receive(rows_of(split, 1))
    pair.close()
    assert converse_with(pair) is State.PUBLISHED
    assert json.loads(pair.collector(1).release)["value"] == [0, 13, 0, 0]


def test_a_report_of_another_task_is_refused(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task(HistogramCircuit(length=4, chunk=2)))
    split = people(pair.task.scheme, [1] * 14)
    foreign = people(make_task(HistogramCircuit(length=4, chunk=2), least_batch=11).scheme, [2], seed=9)
    pair.receive(split)
    pair.receive(foreign)
    pair.close()
    assert converse_with(pair) is State.PUBLISHED
    assert json.loads(pair.collector(1).release)["value"] == [0, 14, 0, 0]


def test_replays_are_told_apart_from_retries(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task())
    collector, (one, two, three) = pair.collector(0), rows_of(people(pair.task.scheme, [1, 0, 1]), 0)
    assert collector.receive([one, one]) == [Reception.KEPT, Reception.KNOWN]
    assert collector.receive([one]) == [Reception.KNOWN]
    assert collector.receive([two._replace(token=one.token)]) == [Reception.REPLAYED]
    assert collector.receive([two._replace(nonce=one.nonce)]) == [Reception.REPLAYED]
    assert collector.receive([one._replace(nonce=three.nonce)]) == [Reception.REPLAYED]
    collector.close()
    assert collector.receive([two]) == [Reception.CLOSED]
    assert collector.record.received == 1


def test_wrong_lengths_are_refused_in_words(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task())
    collector, (row,) = pair.collector(0), rows_of(people(pair.task.scheme, [1]), 0)
    whole = b"".join(row) + bytes(pair.task.sealed_size)
    assert collector.read_report(whole)[:4] == row[:4]
    for wrong in (b"", whole[:-1], whole + b"\0", b"x"):
        with pytest.raises(ProtocolError, match=rf"a report of {len(wrong)} bytes is cut or too long: expected 160"):
            collector.read_report(wrong)
    with pytest.raises(ProtocolError, match="a report's parts have"):
        collector.receive([ReportRow(row.nonce, row.token, row.public, row.share[:-1])])
    assert collector.record.received == 0


def test_messages_that_are_cut_or_out_of_turn_are_refused(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task())
    pair.receive(people(pair.task.scheme, [1] * 12))
    first, second = pair.collector(0), pair.collector(1)
    with pytest.raises(ProtocolError, match="the task is open"):
        reply(first, "match", b"")
    pair.close()
    for step in ("verify", "settle", "commit", "open"):
        with pytest.raises(ProtocolError, match="the task is closed"):
            reply(first, step, bytes(32))
    with pytest.raises(ProtocolError, match="multiple of 16"):
        reply(first, "match", bytes(17))
    with pytest.raises(ProtocolError, match="rising order"):
        reply(first, "match", second.nonces()[:16] * 2)
    with pytest.raises(ProtocolError, match="never got"):
        second.match(second.nonces()[:-16] + b"\xff" * 16, final=True)
    second.match(reply(first, "match", second.nonces()), final=True)
    with pytest.raises(ProtocolError, match="cut or too long"):
        reply(first, "verify", bytes(4) + second.verifiers(0)[:-1])
    with pytest.raises(ProtocolError, match="there is none of number 7"):
        reply(first, "verify", bytes([7, 0, 0, 0]) + second.verifiers(0))
    with pytest.raises(ProtocolError, match="1 of 1 chunks are not verified"):
        reply(first, "settle", b"")
    with pytest.raises(ProtocolError, match="is no step"):
        reply(first, "again", b"")


def until_drawn(pair: Pair) -> tuple[Collector, Collector]:
    pair.receive(people(pair.task.scheme, [1] * 12))
    pair.close()
    first, second = pair.collector(0), pair.collector(1)
    second.match(reply(first, "match", second.nonces()), final=True)
    second.check(0, reply(first, "verify", bytes(4) + second.verifiers(0)))
    second.settle(reply(first, "settle", second.decisions()))
    for collector in (first, second):
        collector.charge()
        collector.draw()
    return first, second


def test_a_total_is_shown_only_to_whoever_is_bound_and_only_once(tmp_path: Path) -> None:
    first, second = until_drawn(make_pair(tmp_path, make_task(epsilon=1)))
    with pytest.raises(ProtocolError, match="the task is drawn"):
        first.opening()  # the other has not committed
    with pytest.raises(ProtocolError, match="32 bytes"):
        first.hold(b"short")
    first.hold(second.commitment())
    with pytest.raises(ProtocolError, match="must not draw a second time"):
        first.hold(bytes(32))
    with pytest.raises(ProtocolError, match="not what it committed to"):
        first.publish(bytes(40))
    assert first.release == ""
    second.hold(first.commitment())
    first.publish(second.opening())
    second.publish(first.opening())
    assert json.loads(first.release)["value"] == json.loads(second.release)["value"]


def test_a_total_that_is_no_sum_is_refused_in_words(tmp_path: Path) -> None:
    """A collector that commits to any element of the large field made the other fail without a word."""
    task = make_task(HistogramCircuit(length=3, chunk=2))
    first, second = until_drawn(make_pair(tmp_path, task))
    with sqlite3.connect(tmp_path / "bea.db") as database:
        database.execute("UPDATE bruit_split_tasks SET total = ?", [task.scheme.elements.encode([2**100, 0, 0])])
    first.hold(second.commitment())
    second.hold(first.commitment())
    with pytest.raises(ProtocolError, match="add up to no sum of answers and noise"):
        first.publish(second.opening())
    assert (first.state, first.release) == (State.COMMITTED, "")


def test_a_collector_put_back_from_a_backup_is_refused(tmp_path: Path) -> None:
    """It draws other noise for the same batch; the other collector is bound to the first commitment."""
    pair = make_pair(tmp_path, make_task(epsilon="1/1000"))
    first, second = until_drawn(pair)
    first.hold(second.commitment())
    with sqlite3.connect(tmp_path / "bea.db") as database:
        database.execute("UPDATE bruit_split_tasks SET state = 'charged'")
    restored = pair.collector(1)
    restored.draw()
    with pytest.raises(ProtocolError, match="must not draw a second time"):
        reply(pair.collector(0), "commit", restored.commitment())


def test_the_book_of_a_task_refuses_a_second_charge(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task(epsilon=1))
    until_drawn(pair)
    loss = pair.task.noise.loss(pair.task.circuit)
    with pytest.raises(BudgetExceeded):
        book_of(pair.task, pair.stores[0]).budget(loss).charge(loss, what="again")


def test_a_task_is_taken_on_once_with_its_own_key(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, make_task())
    Collector.create(pair.stores[0], pair.task, role=0, key=KEY)  # again: nothing changes
    with pytest.raises(InvalidArgument, match="not the one that the task names"):
        Collector.create(pair.stores[0], pair.task, role=0, key=bytes(32))
    with pytest.raises(InvalidArgument, match="another role"):
        Collector.create(pair.stores[0], pair.task, role=1, key=KEY)
    with pytest.raises(InvalidArgument, match="no such task"):
        Collector(pair.stores[0], "0" * 64)


@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_two_collectors_over_postgresql(postgres: Any) -> None:
    task = make_task(HistogramCircuit(length=3, chunk=2), least_batch=10)
    pair = Pair(task, (postgres.database(), postgres.database()))
    for role, store in enumerate(pair.stores):
        Collector.create(store, task, role=role, key=KEY)
    split = people(task.scheme, [1] * 1500)
    split.shares[0][7, 0] ^= 1
    pair.receive(split)
    assert pair.collector(0).receive(rows_of(split, 0)[:2]) == [Reception.KNOWN] * 2
    pair.close()
    assert converse_with(pair) is State.PUBLISHED
    assert json.loads(pair.collector(1).release)["value"] == [0, 1499, 0]
    assert pair.collector(0)._store.nonces(task.name) == []
