"""The collector: reports of many people, one commit for many, answered only when they are on disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request

from bruit.apps.web.logs import OWN, place
from bruit.apps.web.polls import results
from bruit.apps.web.polls.broadcast import MOST_LISTENING, Broadcast
from bruit.apps.web.polls.question import Question, from_definition
from bruit.apps.web.wire import Wire
from bruit.errors import StorageError
from bruit.storage.reports import Counts, Key, NewReport, ReportStore, StoredPoll

log = logging.getLogger(OWN)

MOST_WAITING: Final = 50_000
"""Reports that may wait for the disk; more are told to come again."""
MOST_AT_ONCE: Final = 2_000
"""Reports in one commit."""
GATHER: Final = 0.01
"""Seconds that a first report waits for others to share its commit."""
PAUSE: Final = 0.5
"""Seconds between two broadcasts of a poll."""


@dataclass
class LivePoll:
    """A poll in memory: what is kept of it, its question and protocol, and the counters of its round."""

    stored: StoredPoll
    question: Question
    wire: Wire
    counts: Counts
    broadcast: Broadcast = field(default_factory=Broadcast)
    talking: asyncio.Task[None] | None = None
    said: tuple[int, bool, int] | None = None

    @property
    def key(self) -> Key:
        """The poll and its round."""
        return self.stored.identity, self.stored.round

    @property
    def state(self) -> tuple[int, bool, int]:
        """What a dashboard shows the consequences of."""
        return self.stored.round, self.stored.is_open, self.counts[0]


class Collector:
    """Takes reports, commits them in groups, and tells those who watch. One process, one writer."""

    def __init__(self, database: str) -> None:
        self.store = ReportStore(database)
        self._live: dict[str, LivePoll] = {}
        self._forgotten: set[str] = set()
        self._waiting: list[tuple[NewReport, asyncio.Future[bool]]] = []
        self._some = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self._writer = ThreadPoolExecutor(1, "bruit-writer")  # one thread, so one connection and one heap for it

    # ------------------------------------------------------------ life
    async def start(self) -> None:
        """Begins to write."""
        self._writing = asyncio.create_task(self._write_all())

    async def stop(self) -> None:
        """Writes what waits, then ends every stream."""
        while self._waiting:
            await asyncio.sleep(0.01)
        tasks = [self._writing, *(poll.talking for poll in self._live.values())]
        for task in tasks:
            if task is not None:
                task.cancel()
        self.end_streams()
        self._writer.shutdown()

    def end_streams(self) -> None:
        """Ends every dashboard's stream, so that the server can stop."""
        for poll in self._live.values():
            poll.broadcast.close()

    # ------------------------------------------------------------ polls
    async def poll(self, identity: str) -> LivePoll:
        """The poll of this identity; refuses one that is not there."""
        found = self._live.get(identity)
        if found is None:
            found = await asyncio.to_thread(self._load, identity)
        if found is None or identity in self._forgotten:
            raise _unknown()
        return self._live.setdefault(identity, found)

    def _load(self, identity: str) -> LivePoll | None:
        stored = self.store.poll(identity)
        if stored is None:
            return None
        question, protocol = from_definition(stored.definition)
        counts = self.store.counts(stored.identity, stored.round)
        return LivePoll(stored, question, Wire(protocol), counts)

    async def change(self, poll: LivePoll, *, is_open: bool | None = None, next_round: bool = False) -> None:
        """Opens, closes or asks again."""
        if is_open is not None:
            await asyncio.to_thread(self.store.set_open, poll.stored.identity, is_open=is_open)
            poll.stored = replace(poll.stored, is_open=is_open)
        if next_round:
            await asyncio.to_thread(self.store.next_round, poll.stored.identity)
            poll.stored, poll.counts = replace(poll.stored, round=poll.stored.round + 1), (0, b"")
        self._tell(poll)

    async def forget(self, poll: LivePoll) -> None:
        """Deletes a poll and every report of it, after the reports that are being written.

        From here on nobody finds it and none of its reports is written, which would fail and take others with it.
        """
        identity = poll.stored.identity
        self._forgotten.add(identity)
        try:
            await asyncio.get_running_loop().run_in_executor(self._writer, self.store.delete, identity)
        except StorageError:
            self._forgotten.discard(identity)
            raise
        self._live.pop(identity, None)
        poll.broadcast.close()

    # ------------------------------------------------------------ reports
    async def submit(self, poll: LivePoll, reports: Sequence[tuple[str, int, Any]]) -> list[bool]:
        """Accepts reports, given as token, round and report, when they are on disk; whether each was counted now.

        A token that was accepted before is accepted again and not counted again.
        """
        for _, number, _ in reports:
            if not poll.stored.is_open or number != poll.stored.round:
                raise HTTPException(409, "This round of the poll is over; load the page again.")
        if len(self._waiting) + len(reports) > MOST_WAITING:
            raise HTTPException(503, "Too many reports at once; send it again in a moment.", {"retry-after": "1"})
        new = [NewReport(*poll.key, token, poll.wire.read(report)) for token, _, report in reports]
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[bool]] = [loop.create_future() for _ in new]
        self._waiting.extend(zip(new, futures, strict=True))
        self._some.set()
        return list(await asyncio.gather(*futures)) if len(futures) > 1 else [await futures[0]]

    async def _write_all(self) -> None:
        while True:
            await self._some.wait()
            await asyncio.sleep(GATHER)
            batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
            if not self._waiting:
                self._some.clear()
            await self._write(batch)

    async def _write(self, batch: list[tuple[NewReport, asyncio.Future[bool]]]) -> None:
        """One commit. Whoever hears of a failure sends the same token again: it is counted once in any case."""
        batch = self._without_forgotten(batch)
        try:
            loop, reports = asyncio.get_running_loop(), [report for report, _ in batch]
            added = await loop.run_in_executor(self._writer, self.store.add, reports, self._count)
        except Exception as error:
            failure = error if isinstance(error, StorageError) else StorageError("the commit failed")
            for _, future in batch:
                if not future.done():
                    future.set_exception(failure)
            return
        new = set(added.new)
        for report, future in batch:
            place = (report.poll, report.round, report.token)
            if not future.done():
                future.set_result(place in new)
            new.discard(place)
        for key, counts in added.counts.items():
            poll = self._live.get(key[0])
            if poll is not None and poll.key == key:
                poll.counts = counts
                self._tell(poll)

    def _without_forgotten(
        self, batch: list[tuple[NewReport, asyncio.Future[bool]]]
    ) -> list[tuple[NewReport, asyncio.Future[bool]]]:
        for report, future in batch:
            if report.poll in self._forgotten and not future.done():
                future.set_exception(_unknown())
        return [pair for pair in batch if pair[0].poll not in self._forgotten]

    def _count(self, key: Key, before: Counts, reports: Sequence[str]) -> Counts:
        wire = self._live[key[0]].wire
        return before[0] + len(reports), wire.count(before[1], reports)

    # ------------------------------------------------------------ those who watch
    def watch(self, poll: LivePoll) -> Broadcast:
        """The broadcast of a poll, which speaks while somebody listens."""
        if poll.broadcast.listeners >= MOST_LISTENING:
            raise HTTPException(503, "Too many dashboards are open; try again later.", {"retry-after": "30"})
        self._tell(poll, first=True)
        return poll.broadcast

    def _tell(self, poll: LivePoll, *, first: bool = False) -> None:
        if (poll.talking is None or poll.talking.done()) and (first or poll.broadcast.listeners):
            poll.talking = asyncio.create_task(self._talk(poll))

    async def _talk(self, poll: LivePoll) -> None:
        """Publishes until the latest counters are told, with a pause after each."""
        while poll.said != poll.state:
            state, counts = poll.state, poll.counts
            try:
                told = await asyncio.to_thread(results.summary, poll.question, poll.wire, *counts)
            except Exception as error:
                log.error("%s", place(error))
                return
            poll.broadcast.publish(results.event("results", {**told, "round": state[0], "open": state[1]}))
            poll.said = state
            await asyncio.sleep(PAUSE * (4 if poll.wire.cohorts else 1))  # texts take longer to find


@asynccontextmanager
async def collecting(app: FastAPI) -> AsyncIterator[None]:
    """Keeps a collector at work while the application runs."""
    app.state.collector = collector = Collector(app.state.settings.database)
    app.state.ending.append(collector.end_streams)
    await collector.start()
    yield
    await collector.stop()


def _unknown() -> HTTPException:
    return HTTPException(404, "There is no such poll: look at the link again; it may have been deleted.")


def collector_of(request: Request) -> Collector:
    """The collector of this process."""
    found: Collector = request.app.state.collector
    return found
