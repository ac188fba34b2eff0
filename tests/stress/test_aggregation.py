"""The full size of tests/aggregation: a million forged reports, and two hundred kills of real processes."""

import json
import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aggregation.forgeries import SCHEMES, forged_reports
from aggregation.polls import Pair, make_pair, make_task, people
from sqlalchemy import Connection, event

from bruit.aggregation import HistogramCircuit
from bruit.aggregation.collecting import State, converse, reply
from bruit.aggregation.collecting.publication import book_of
from bruit.storage import connect

pytestmark = pytest.mark.stress

FORGED = int(os.environ.get("BRUIT_FORGED", 1_000_000))
KILLS = 200
ANSWERS = [2, 0, 2] * 4 + [1]
SUMS = [4, 1, 8]


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_no_forged_report_is_accepted(name: str) -> None:
    rng, tried, wanted = np.random.default_rng(list(name.encode())), 0, FORGED // len(SCHEMES)
    while tried < wanted:
        for how, accepted in forged_reports(name, min(10_000, wanted), rng):
            assert not accepted.any(), f"{how}: {int(accepted.sum())} accepted"
            tried += len(accepted)


def end_at(store: str, number: int) -> None:
    """Ends this process by SIGKILL at the given commit that writes to a store."""
    seen = [0]

    def count(connection: Connection) -> None:
        seen[0] += not connection.get_execution_options().get("reads", False)
        if seen[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(connect(store), "commit", count)


def answering(pair: Pair, pipe: Any, number: int) -> None:
    """The first collector as a process."""
    if number:
        end_at(pair.stores[0], number)
    while True:
        try:
            step, message = pipe.recv()
        except EOFError:
            return
        pipe.send(reply(pair.collector(0), step, message))


def asking(pair: Pair, pipe: Any, number: int) -> None:
    """The second collector as a process."""
    if number:
        end_at(pair.stores[1], number)

    def ask(step: str, message: bytes) -> bytes:
        pipe.send((step, message))
        answer: bytes = pipe.recv()
        return answer

    try:
        converse(pair.collector(1), ask)
    except (EOFError, ConnectionError):
        os._exit(1)


def run_both(pair: Pair, role: int, number: int) -> tuple[int | None, int | None]:
    """Both processes until they end; how each of them did."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    roles: list[Callable[..., None]] = [answering, asking]
    started = []
    for place, (work, pipe) in enumerate(zip(roles, (here, there), strict=True)):
        process = context.Process(target=_alone, args=(work, pair, (here, there), pipe, number * (place == role)))
        process.start()
        started.append(process)
    here.close()
    there.close()
    for process in started:
        process.join(60)
    return started[0].exitcode, started[1].exitcode


def _alone(work: Callable[..., None], pair: Pair, pipes: tuple[Any, Any], own: Any, number: int) -> None:
    for pipe in pipes:
        if pipe is not own:
            pipe.close()
    work(pair, own, number)


def test_two_hundred_kills_of_either_collector(tmp_path: Path) -> None:
    task = make_task(HistogramCircuit(length=3, chunk=2))
    start = tmp_path / "closed"
    start.mkdir()
    pair = make_pair(start, task)
    pair.receive(people(task.scheme, ANSWERS))
    pair.close()
    for store in pair.stores:
        connect(store).dispose()
    killed = run = 0
    while killed < KILLS:
        run += 1
        folder = tmp_path / f"run {run}"
        folder.mkdir()
        for file in start.glob("*.db"):
            shutil.copy(file, folder / file.name)
        killed += kill_once_after_another(
            Pair(task, tuple(f"sqlite:///{folder}/{name}.db" for name in ("ada", "bea"))), run
        )
        shutil.rmtree(folder)


def kill_once_after_another(pair: Pair, run: int) -> int:
    """Kills one collector or the other at each of their commits, again and again, until they have published."""
    drawn: list[set[bytes]] = [set(), set()]
    killed, attempt = 0, 0
    while not all(pair.collector(role).state is State.PUBLISHED for role in (0, 1)):
        attempt += 1
        ends = run_both(
            pair, attempt % 2, 1 + (run + attempt) % 3
        )  # at the first, second or third commit of an attempt
        killed += ends.count(-signal.SIGKILL)
        for role in (0, 1):
            drawn[role] |= {pair.collector(role).record.total} - {b""}
        for store in pair.stores:
            connect(store).dispose()
        assert attempt < 100
    assert [len(each) for each in drawn] == [1, 1], "noise was drawn twice"
    for role in (0, 1):
        assert json.loads(pair.collector(role).release)["value"] == SUMS
        assert len(book_of(pair.task, pair.stores[role]).entries) == 1
    return killed
