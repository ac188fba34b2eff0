"""The collector by itself: polls that are closed, deleted or broken, and results that many ask for at once."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Never

import pytest
from starlette.exceptions import HTTPException

from bruit.apps.web.polls import results
from bruit.apps.web.polls.collector import Collector
from bruit.apps.web.polls.publishing import publish
from bruit.apps.web.polls.question import PollQuestion
from bruit.apps.web.polls.store import NewReport, Outcome
from bruit.errors import StorageError


def run(scenario: Any, tmp_path: Path) -> Any:
    """In a thread of its own: a browser of another test may keep an event loop in this one."""

    async def whole() -> Any:
        collector = Collector(f"sqlite:///{tmp_path}/bruit.db")
        await collector.start()
        question = PollQuestion(kind="yes-no", question="?", epsilon="1", forever=None, results="everyone")
        polls = [await collector.poll((await publish(collector, question, ""))[0]) for _ in range(2)]
        try:
            return await scenario(collector, *polls)
        finally:
            await collector.stop()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, whole()).result()


def test_deleting_a_poll_takes_no_report_of_another_with_it(tmp_path: Path) -> None:
    async def scenario(collector: Any, gone: Any, stays: Any) -> Any:
        sent = [collector.submit(poll, [("ab" * 16, 1, 1)]) for poll in (gone, stays)]
        waiting = [asyncio.create_task(one) for one in sent]
        await asyncio.sleep(0)  # both wait for the same commit
        await collector.forget(gone)
        return await asyncio.gather(*waiting, return_exceptions=True)

    lost, counted = run(scenario, tmp_path)
    assert isinstance(lost, HTTPException)
    assert lost.status_code == 404
    assert counted == [True]


def test_a_poll_that_is_being_deleted_is_found_by_nobody(tmp_path: Path) -> None:
    """Were it read back from the disk meanwhile, each report to it would fail, and the commit of others with it."""

    async def scenario(collector: Any, gone: Any, _stays: Any) -> Any:
        deleting = asyncio.create_task(collector.forget(gone))
        await asyncio.sleep(0)
        with pytest.raises(HTTPException) as meanwhile:
            await collector.poll(gone.stored.identity)
        await deleting
        with pytest.raises(HTTPException) as after:
            await collector.poll(gone.stored.identity)
        return meanwhile.value.status_code, after.value.status_code

    assert run(scenario, tmp_path) == (404, 404)


def test_a_poll_that_could_not_be_deleted_is_still_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(collector: Any, poll: Any, _other: Any) -> Any:
        def fail(identity: Any) -> Never:
            raise StorageError("the disk is full")

        monkeypatch.setattr(collector.store, "delete", fail)
        with pytest.raises(StorageError):
            await collector.forget(poll)
        return await collector.poll(poll.stored.identity) is poll, await collector.submit(poll, [("ab" * 16, 1, 1)])

    assert run(scenario, tmp_path) == (True, [True])


def test_the_first_answer_of_a_token_is_the_one_that_counts(tmp_path: Path) -> None:
    async def scenario(collector: Any, poll: Any, _other: Any) -> Any:
        first = await collector.submit(poll, [("ab" * 16, 1, 1), ("ab" * 16, 1, 0)])
        again = await collector.submit(poll, [("ab" * 16, 1, 0)])
        return first + again, list(collector.store.reports(*poll.key))

    assert run(scenario, tmp_path) == ([True, False, False], [("ab" * 16, "1")])


def test_closing_is_a_barrier(tmp_path: Path) -> None:
    """Reports that wait when a poll is closed are refused, and none that comes later is counted."""

    async def scenario(collector: Any, closed: Any, stays: Any) -> Any:
        early = [asyncio.create_task(collector.submit(closed, [(f"{at:032x}", 1, 1)])) for at in range(60)]
        await asyncio.sleep(0)
        await collector.set_open(closed, is_open=False)
        counted = collector.store.counts(*closed.key)[0]
        late = [asyncio.create_task(collector.submit(closed, [(f"{at:032x}", 1, 1)])) for at in range(100, 160)]
        said = await asyncio.gather(*early, *late, collector.submit(stays, [("ab" * 16, 1, 1)]), return_exceptions=True)
        return counted, collector.store.counts(*closed.key)[0], said

    before, after, said = run(scenario, tmp_path)
    assert before == after == sum(one == [True] for one in said[:-1])
    assert {one.status_code for one in said[60:-1]} == {423}
    assert said[-1] == [True]


def test_a_counted_report_that_is_sent_again_after_the_end_is_said_to_be_counted(tmp_path: Path) -> None:
    async def scenario(collector: Any, poll: Any, _other: Any) -> Any:
        await collector.submit(poll, [("ab" * 16, 1, 1)])
        await collector.set_open(poll, is_open=False)
        return await collector.submit(poll, [("ab" * 16, 1, 1)])

    assert run(scenario, tmp_path) == [False]


def test_a_poll_that_cannot_be_written_fails_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(collector: Any, broken: Any, stays: Any) -> Any:
        collector._live[broken.stored.identity].wire = None  # its counters cannot be read
        sent = [asyncio.create_task(collector.writer.submit([report(poll)])) for poll in (broken, stays)]
        return await asyncio.gather(*sent, return_exceptions=True)

    def report(poll: Any) -> Any:
        return NewReport(poll.stored.identity, 1, "ab" * 16, "1")

    failed, counted = run(scenario, tmp_path)
    assert isinstance(failed, StorageError)
    assert counted == [Outcome.COUNTED]
    assert len({record.getMessage() for record in caplog.records}) == len(caplog.records) == 1


def test_a_hundred_who_ask_for_results_share_one_estimate_off_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []

    def summary(*arguments: Any) -> Any:
        threads.append(threading.current_thread().name)
        time.sleep(0.05)  # the others have asked by then
        return original(*arguments)

    original = results.summary
    monkeypatch.setattr(results, "summary", summary)

    async def scenario(collector: Any, poll: Any, _other: Any) -> Any:
        await asyncio.gather(*(collector.results(poll) for _ in range(100)))
        once = len(threads)
        sending = asyncio.create_task(collector.submit(poll, [("ab" * 16, 1, 1)]))
        await sending
        found = await asyncio.gather(*(collector.results(poll) for _ in range(100)))
        return once, {one["answers"] for one in found}

    assert run(scenario, tmp_path) == (1, {1})
    assert len(threads) == 2
    assert all(name.startswith("bruit-estimates") for name in threads)


def test_reports_of_another_poll_are_counted_while_a_hundred_wait_for_an_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate ends only when the report is on disk: were it computed in the event loop, neither would ever end."""
    counted, waited = threading.Event(), []

    def summary(*arguments: Any) -> Any:
        waited.append(counted.wait(30))
        return original(*arguments)

    original = results.summary
    monkeypatch.setattr(results, "summary", summary)

    async def scenario(collector: Any, asked: Any, other: Any) -> Any:
        asking = [asyncio.create_task(collector.results(asked)) for _ in range(100)]
        while asked.summing is None:
            await asyncio.sleep(0)
        said = await collector.submit(other, [("ab" * 16, 1, 1)])
        ended = sum(task.done() for task in asking)
        counted.set()
        return said, ended, len(await asyncio.gather(*asking))

    assert run(scenario, tmp_path) == ([True], 0, 100)
    assert waited[0]
