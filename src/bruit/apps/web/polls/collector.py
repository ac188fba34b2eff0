"""The collector of polls: live polls, the reports sent to them, and the results shown on dashboards."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request

from bruit.apps.web.admission.issuing import SigningKey
from bruit.apps.web.polls import results
from bruit.apps.web.polls.broadcast import Broadcast
from bruit.apps.web.polls.live_poll import LivePoll
from bruit.apps.web.polls.question import from_definition, search
from bruit.apps.web.polls.report_writer import ReportWriter
from bruit.apps.web.polls.store import Counts, Key, NewReport, Outcome, ReportStore
from bruit.apps.web.polls.store.admissions import AdmissionStore
from bruit.apps.web.polls.store.reports import Fence
from bruit.apps.web.report_format import Wire
from bruit.apps.web.security.failure_log import FailureLog
from bruit.apps.web.security.safe_logs import OWN, place
from bruit.errors import StorageError

log = logging.getLogger(OWN)

PAUSE: Final = 0.5
"""Seconds between two broadcasts of a poll."""
ESTIMATING: Final = 2
"""Threads that estimate: results of many polls wait for each other, reports for none of them."""
OVER: Final = "Not counted: this round is over. The report is kept on your device; send it again if the poll reopens."

NOT_YET: Final = "Not counted: that round has not begun."
GONE: Final = "Not counted: the round of this report is over. Others answer in the rounds to come; you are done."


class Collector:
    """Receives reports, commits them in batches, and updates dashboards; one process, one writer."""

    def __init__(self, database: str, *, failures: FailureLog | None = None, fence: Fence | None = None) -> None:
        self.store, self.admissions = ReportStore(database), AdmissionStore(database)
        self.failures = failures or FailureLog()
        self._live: dict[str, LivePoll] = {}
        self._forgotten: set[str] = set()
        self.writer = ReportWriter(self.store, self._count, counted=self._grow, failures=self.failures, fence=fence)
        self._estimating = ThreadPoolExecutor(ESTIMATING, "bruit-estimates")

    # ------------------------------------------------------------ life
    async def start(self) -> None:
        """Starts the task that stores reports."""
        self.writer.start()

    async def stop(self) -> None:
        """Stores the waiting reports, then ends every event stream."""
        await self.writer.stop()
        for poll in self._live.values():
            for task in (poll.talking, poll.summing):
                if task is not None:
                    task.cancel()
        self.end_streams()
        self._estimating.shutdown(wait=False, cancel_futures=True)

    def end_streams(self) -> None:
        """Ends every dashboard's event stream, so that the server can stop."""
        for poll in self._live.values():
            poll.broadcast.close()

    # ------------------------------------------------------------ polls
    async def poll(self, identity: str) -> LivePoll:
        """The live poll of this identity; refuses an unknown one."""
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
        wire, earlier = Wire(protocol), list[tuple[Wire, Counts]]()
        for number in range(1, stored.round if question.kind == "open" else 1):
            earlier.append((wire, self.store.counts(identity, number)))
            wire = Wire(search(question).protocol(results.tallies(earlier)))
        counts = self.store.counts(stored.identity, stored.round)
        private = self.admissions.key(identity) if question.admission == "cards" else None
        signing = None if private is None else SigningKey(private)
        return LivePoll(stored, question, wire, counts, signing, tuple(earlier))

    async def set_open(self, poll: LivePoll, *, is_open: bool) -> None:
        """Opens or closes a poll, between two commits, so that no late report counts."""
        await self.writer.run(self.store.set_open, poll.stored.identity, is_open=is_open)
        await self._renew(poll)

    async def next_round(self, poll: LivePoll, *, ends: int) -> None:
        """Ends a round and starts the one after it, between two commits; a second press changes nothing."""
        await self.writer.run(self.store.next_round, poll.stored.identity, ends=ends)
        await self._renew(poll)

    async def _renew(self, poll: LivePoll) -> None:
        """Brings a live poll to what is stored, and tells the dashboards."""
        now = await asyncio.to_thread(self._load, poll.stored.identity)
        if now is not None and now.stored.round >= poll.stored.round:
            poll.wire, poll.earlier = now.wire, now.earlier
            poll.become(now.stored, now.counts)
            self._tell(poll)

    async def forget(self, poll: LivePoll) -> None:
        """Deletes a poll and all its reports, after the commit under way."""
        identity = poll.stored.identity
        self._forgotten.add(identity)
        try:
            await self.writer.run(self.store.delete, identity)
        except StorageError:
            self._forgotten.discard(identity)
            raise
        self._live.pop(identity, None)
        poll.broadcast.close()

    # ------------------------------------------------------------ reports
    async def submit(self, poll: LivePoll, reports: Sequence[tuple[str, int, Any]]) -> list[bool]:
        """Stores reports, given as (token, round, report); returns for each whether it was newly counted.

        A token that was accepted before is accepted again and not counted again, also when its round is over.
        """
        identity = poll.stored.identity
        wires = [poll.wire_of(number) for _, number, _ in reports]
        new = [
            NewReport(identity, number, token, wire.read(report))
            for wire, (token, number, report) in zip(wires, reports, strict=True)
            if wire is not None
        ]
        if len(new) < len(wires):
            raise HTTPException(423, NOT_YET)
        outcomes = await self.writer.submit(new)
        if Outcome.UNKNOWN in outcomes:
            raise _unknown()
        if Outcome.OVER in outcomes:
            gone = poll.question.kind == "open" and min(one.round for one in new) < poll.stored.round
            raise HTTPException(410, GONE) if gone else HTTPException(423, OVER)
        return [outcome is Outcome.COUNTED for outcome in outcomes]

    def _count(self, key: Key, before: Counts, reports: Sequence[str]) -> Counts:
        wire = self._live[key[0]].wire_of(key[1])
        assert wire is not None  # `submit` takes no report of a later round
        return before[0] + len(reports), wire.count(before[1], reports)

    def _grow(self, counts: dict[Key, Counts]) -> None:
        for key, now in counts.items():
            poll = self._live.get(key[0])
            if poll is not None and poll.key == key:
                poll.become(poll.stored, now)
                self._tell(poll)

    # ------------------------------------------------------------ results
    async def results(self, poll: LivePoll) -> dict[str, Any]:
        """The data of a dashboard, no older than this call; estimated once for all who ask, off the event loop."""
        asked = poll.version
        while poll.summed is None or poll.summed[0] < asked:
            if poll.summing is None or poll.summing.done():
                poll.summing = asyncio.create_task(self._sum(poll))
            await asyncio.shield(poll.summing)
        return poll.summed[1]

    async def results_at_hand(self, poll: LivePoll) -> dict[str, object] | None:
        """The data of a dashboard for its first look; None where the estimate takes longer or fails."""
        try:
            return await asyncio.wait_for(self.results(poll), PAUSE)
        except Exception:  # the broadcast brings what is late, and logs what failed
            return None

    async def _sum(self, poll: LivePoll) -> None:
        version, stored, counts = poll.version, poll.stored, poll.counts
        loop = asyncio.get_running_loop()
        asked = poll.question, poll.wire, *counts, poll.earlier
        found = await loop.run_in_executor(self._estimating, results.summary, *asked)
        poll.summed = version, {**found, "round": stored.round, "open": stored.is_open}

    async def error_table(self, poll: LivePoll) -> list[tuple[int, float]]:
        """The expected error for each number of answers, computed once per poll."""
        if poll.errors is None:
            poll.errors = await asyncio.to_thread(results.error_table, poll.question, poll.wire)
        return poll.errors

    # ------------------------------------------------------------ those who watch
    def watch(self, poll: LivePoll) -> Broadcast:
        """The broadcast of a poll's results, active while somebody listens."""
        self._tell(poll, first=True)
        return poll.broadcast

    def _tell(self, poll: LivePoll, *, first: bool = False) -> None:
        if (poll.talking is None or poll.talking.done()) and (first or poll.broadcast.listeners):
            poll.talking = asyncio.create_task(self._talk(poll))

    async def _talk(self, poll: LivePoll) -> None:
        """Publishes new results to the dashboards until none are left unsent, with a pause after each."""
        while poll.said != poll.version:
            try:
                found = await self.results(poll)
            except Exception as error:
                log.error("%s", place(error))
                return
            assert poll.summed is not None
            poll.broadcast.publish(results.event("results", found))
            poll.said = poll.summed[0]
            await asyncio.sleep(PAUSE * (4 if poll.wire.cohorts else 1))  # texts take longer to find


@asynccontextmanager
async def collecting(app: FastAPI) -> AsyncIterator[None]:
    """Lifespan context that runs the collector while the application runs."""
    state = app.state
    state.collector = collector = Collector(state.settings.database, failures=state.failures, fence=state.lease.check)
    state.ending.append(collector.end_streams)
    await collector.start()
    yield
    await collector.stop()


def _unknown() -> HTTPException:
    return HTTPException(404, "There is no such poll: look at the link again; it may have been deleted.")


def collector_of(request: Request) -> Collector:
    """The collector of this process."""
    found: Collector = request.app.state.collector
    return found
