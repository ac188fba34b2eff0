"""The first collector: invites a second, stores reports in batches, and answers the second's protocol steps."""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeVar

from fastapi import FastAPI, HTTPException, Request

from bruit.aggregation import Party, Task, key_hash
from bruit.aggregation.collecting import (
    Collector,
    CollectorStore,
    Pairings,
    Reception,
    Record,
    ReportRow,
    identity_of,
    reply,
)
from bruit.apps.web.collectors.invitations import Invitation, Joining
from bruit.apps.web.security.failure_log import FailureLog
from bruit.errors import InvalidArgument, StorageError

GATHER: Final = 0.01
"""Seconds that a first report waits for others to share its commit."""
MOST_AT_ONCE: Final = 2_000
MOST_WAITING: Final = 20_000
PAGE: Final = 1_000
"""Reports that the second collector pulls at once."""

T = TypeVar("T")
Waiting = tuple[str, ReportRow, "asyncio.Future[Reception]"]


class FirstCollector:
    """All split polls of one server; one thread writes, so that reports and closing cannot race."""

    def __init__(self, database: str, *, failures: FailureLog | None = None) -> None:
        self.database, self.failures = database, failures or FailureLog()
        self.store, self.pairings = CollectorStore(database), Pairings(database)
        self._open: dict[str, Collector] = {}
        self._waiting: list[Waiting] = []
        self._some = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self._writer = ThreadPoolExecutor(1, "bruit-split-writer")

    async def start(self) -> None:
        """Starts the task that stores reports."""
        self._writing = asyncio.create_task(self._write_all())

    async def stop(self) -> None:
        """Stores the waiting reports and stops."""
        while self._waiting:
            await asyncio.sleep(GATHER)
        if self._writing is not None:
            self._writing.cancel()
        self._writer.shutdown()

    async def run(self, work: Callable[..., T], *arguments: object) -> T:
        """Runs database work in this collector's only thread, off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, partial(work, *arguments))

    # ------------------------------------------------------------ invitations
    async def invite(self, invitation: Invitation) -> str:
        """Stores an invitation and returns its secret; whoever has it becomes the second collector."""
        secret = secrets.token_urlsafe(18)
        await self.run(self.pairings.keep, identity_of(secret), invitation.model_dump())
        return secret

    async def join(self, secret: str, joining: Joining) -> Task:
        """Creates the task of an invitation and a second collector; the same collector may ask again."""
        return await self.run(self._join, secret, joining)

    def _join(self, secret: str, joining: Joining) -> Task:
        identity = identity_of(secret)
        pairing = self.pairings.find(identity)
        if pairing is None:
            raise HTTPException(404, "There is no such invitation: look at the link again.")
        invitation = Invitation.model_validate(pairing.details)
        key = bytes.fromhex(joining.verification_key)
        first, second = Party(invitation.name, invitation.address), Party(joining.name, key=joining.sealing_key)
        task = invitation.task((first, second), key_hash(key))
        if not self.pairings.join(identity, task.name, pairing.details):
            raise HTTPException(409, "Another second collector has joined with this invitation; make a new one.")
        Collector.create(self.database, task, role=0, key=key)
        return task

    async def require_second(self, name: str, secret: str) -> None:
        """Refuses a request that does not carry the secret of the task's second collector."""
        pairing = await self.run(self.pairings.find, identity_of(secret))
        if pairing is None or pairing.task != name:
            raise HTTPException(401, "This is for the second collector: run `bruit join` with the invitation's link.")

    # ------------------------------------------------------------ tasks
    async def collector(self, name: str) -> Collector:
        """The collector of a task; refuses an unknown task."""
        if name not in self._open:
            try:
                self._open[name] = await self.run(Collector, self.database, name)
            except InvalidArgument:
                raise HTTPException(404, "There is no such poll: look at the link again.") from None
        return self._open[name]

    def records(self) -> list[Record]:
        """The stored records of all tasks."""
        found = (self.store.record(name) for name in self.store.names())
        return [record for record in found if record is not None]

    async def answer(self, name: str, step: str, message: bytes) -> bytes:
        """The answer to a protocol step of the second collector."""
        collector = await self.collector(name)
        return await self.run(reply, collector, step, message)

    async def report_size(self, name: str) -> int:
        """The size in bytes of a report of the task."""
        return (await self.collector(name)).task.report_size

    async def submit(self, name: str, data: bytes) -> Reception:
        """Stores a report; returns whether it was accepted once it is on disk."""
        row = (await self.collector(name)).read_report(data)
        if len(self._waiting) >= MOST_WAITING:
            raise HTTPException(503, "Too many reports at once; send it again in a moment.", {"retry-after": "1"})
        future: asyncio.Future[Reception] = asyncio.get_running_loop().create_future()
        self._waiting.append((name, row, future))
        self._some.set()
        return await future

    async def _write_all(self) -> None:
        while True:
            await self._some.wait()
            await asyncio.sleep(GATHER)
            batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
            if not self._waiting:
                self._some.clear()
            by_task: dict[str, list[Waiting]] = defaultdict(list)
            for one in batch:
                by_task[one[0]].append(one)
            for name, some in by_task.items():  # one poll that cannot be written fails no other
                await self._write(name, some)

    async def _write(self, name: str, batch: Sequence[Waiting]) -> None:
        """One commit. Whoever hears of a failure sends the same bytes again: they are kept once in any case."""
        try:
            outcomes = await self.run(self._open[name].receive, [row for _, row, _ in batch])
        except Exception as error:
            self.failures.note(error)
            failure = error if isinstance(error, StorageError) else StorageError("the commit failed")
            for _, _, future in batch:
                if not future.done():
                    future.set_exception(failure)
            return
        for (_, _, future), outcome in zip(batch, outcomes, strict=True):
            if not future.done():
                future.set_result(outcome)


@asynccontextmanager
async def collecting(app: FastAPI) -> AsyncIterator[None]:
    """Lifespan context that runs the first collector while the application runs."""
    app.state.first_collector = first = FirstCollector(app.state.settings.database, failures=app.state.failures)
    await first.start()
    yield
    await first.stop()


def first_of(request: Request) -> FirstCollector:
    """The first collector of this process."""
    found: FirstCollector = request.app.state.first_collector
    return found
