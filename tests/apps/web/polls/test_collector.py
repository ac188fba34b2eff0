"""The collector by itself: what a deleted poll does to the reports of others, and how many may listen."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.exceptions import HTTPException

from bruit.apps.web.polls.broadcast import MOST_LISTENING
from bruit.apps.web.polls.collector import Collector
from bruit.apps.web.polls.making import publish
from bruit.apps.web.polls.question import Question
from bruit.errors import StorageError


def run(scenario, tmp_path):
    """In a thread of its own: a browser of another test may keep an event loop in this one."""

    async def whole():
        collector = Collector(f"sqlite:///{tmp_path}/bruit.db")
        await collector.start()
        question = Question(kind="yes-no", question="?", epsilon="1", forever=None, results="everyone")
        polls = [await collector.poll((await publish(collector, question, ""))[0]) for _ in range(2)]
        try:
            return await scenario(collector, *polls)
        finally:
            await collector.stop()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, whole()).result()


def test_deleting_a_poll_takes_no_report_of_another_with_it(tmp_path):
    async def scenario(collector, gone, stays):
        sent = [collector.submit(poll, [("ab" * 16, 1, 1)]) for poll in (gone, stays)]
        waiting = [asyncio.create_task(one) for one in sent]
        await asyncio.sleep(0)  # both wait for the same commit
        await collector.forget(gone)
        return await asyncio.gather(*waiting, return_exceptions=True)

    lost, counted = run(scenario, tmp_path)
    assert isinstance(lost, HTTPException)
    assert lost.status_code == 404
    assert counted == [True]


def test_a_poll_that_is_being_deleted_is_found_by_nobody(tmp_path):
    """Were it read back from the disk meanwhile, each report to it would fail, and the commit of others with it."""

    async def scenario(collector, gone, _stays):
        deleting = asyncio.create_task(collector.forget(gone))
        await asyncio.sleep(0)
        with pytest.raises(HTTPException) as meanwhile:
            await collector.poll(gone.stored.identity)
        await deleting
        with pytest.raises(HTTPException) as after:
            await collector.poll(gone.stored.identity)
        return meanwhile.value.status_code, after.value.status_code

    assert run(scenario, tmp_path) == (404, 404)


def test_a_poll_that_could_not_be_deleted_is_still_there(tmp_path, monkeypatch):
    async def scenario(collector, poll, _other):
        def fail(identity):
            raise StorageError("the disk is full")

        monkeypatch.setattr(collector.store, "delete", fail)
        with pytest.raises(StorageError):
            await collector.forget(poll)
        return await collector.poll(poll.stored.identity) is poll, await collector.submit(poll, [("ab" * 16, 1, 1)])

    assert run(scenario, tmp_path) == (True, [True])


def test_the_first_answer_of_a_token_is_the_one_that_counts(tmp_path):
    async def scenario(collector, poll, _other):
        first = await collector.submit(poll, [("ab" * 16, 1, 1), ("ab" * 16, 1, 0)])
        again = await collector.submit(poll, [("ab" * 16, 1, 0)])
        return first + again, list(collector.store.reports(*poll.key))

    assert run(scenario, tmp_path) == ([True, False, False], [("ab" * 16, "1")])


def test_no_more_dashboards_listen_than_can_be_served(tmp_path):
    async def scenario(collector, poll, _other):
        poll.broadcast.listeners = MOST_LISTENING
        with pytest.raises(HTTPException) as refused:
            collector.watch(poll)
        return refused.value.status_code

    assert run(scenario, tmp_path) == 503
