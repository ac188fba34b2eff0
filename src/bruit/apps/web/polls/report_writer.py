"""Batches reports and commits many in one transaction; each sender is answered once its report is on disk."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeVar

from fastapi import HTTPException

from bruit.apps.web.polls.store.reports import Added, Count, Counts, Fence, Key, NewReport, Outcome, ReportStore
from bruit.apps.web.security.failure_log import FailureLog
from bruit.errors import StorageError

MOST_WAITING: Final = 50_000
"""Reports that may wait for the disk; more are told to come again."""
MOST_AT_ONCE: Final = 2_000
"""Reports in one commit."""
GATHER: Final = 0.01
"""Seconds that a first report waits for others to share its commit."""

T = TypeVar("T")
Group = tuple[Sequence[NewReport], "asyncio.Future[list[Outcome]]"]
"""Reports of one request, of one poll: all of them are in the same commit."""


class ReportWriter:
    """One thread that writes reports and changes of polls in order, so that the two cannot race."""

    def __init__(
        self,
        store: ReportStore,
        count: Count,
        *,
        counted: Callable[[dict[Key, Counts]], None],
        failures: FailureLog,
        fence: Fence | None = None,
    ) -> None:
        self._store, self._count, self._counted = store, count, counted
        self._failures, self._fence = failures, fence
        self._waiting: list[Group] = []
        self._number = 0
        self._some = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "bruit-writer")  # one thread, so one connection and one heap for it

    def start(self) -> None:
        """Starts the writing task."""
        self._writing = asyncio.create_task(self._write_all())

    async def stop(self) -> None:
        """Stores the waiting reports, then stops."""
        while self._number:
            await asyncio.sleep(GATHER)
        if self._writing is not None:
            self._writing.cancel()
        self._thread.shutdown()

    @property
    def works(self) -> bool:
        """Whether the writing task is running."""
        return self._writing is not None and not self._writing.done()

    async def run(self, work: Callable[..., T], *arguments: object, **keywords: object) -> T:
        """Runs a change between two commits: after the one under way, before every later one."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *arguments, **keywords))

    async def submit(self, reports: Sequence[NewReport]) -> list[Outcome]:
        """Queues reports; returns the outcome of each once it is on disk."""
        if self._number + len(reports) > MOST_WAITING:
            raise HTTPException(503, "Too many reports at once; send it again in a moment.", {"retry-after": "1"})
        future: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        self._waiting.append((reports, future))
        self._number += len(reports)
        self._some.set()
        return await future

    async def _write_all(self) -> None:
        while True:
            await self._some.wait()
            await asyncio.sleep(GATHER)
            batch = self._take()
            await self._write(batch)
            self._number -= sum(len(reports) for reports, _ in batch)

    def _take(self) -> list[Group]:
        """The groups that share the next commit, the longest waiting first."""
        size = taken = 0
        for reports, _ in self._waiting:
            size += len(reports)
            if taken and size > MOST_AT_ONCE:
                break
            taken += 1
        batch, self._waiting = self._waiting[:taken], self._waiting[taken:]
        if not self._waiting:
            self._some.clear()
        return batch

    async def _write(self, batch: list[Group]) -> None:
        """Commits a batch; where that fails, each poll by itself, so that one that cannot be written fails no other."""
        failure = await self._commit(batch)
        if failure is None:
            return
        by_poll: dict[str, list[Group]] = defaultdict(list)
        for group in batch:
            by_poll[group[0][0].poll].append(group)
        for some in by_poll.values():
            again = await self._commit(some) if len(by_poll) > 1 else failure
            for _, future in some:
                if again is not None and not future.done():
                    future.set_exception(again)

    async def _commit(self, batch: list[Group]) -> StorageError | None:
        """Commits and answers a batch. After a failure the sender repeats its token, which is counted once."""
        reports = [report for group, _ in batch for report in group]
        try:
            added = await self.run(self._store.add, reports, self._count, self._fence)
        except Exception as error:
            self._failures.note(error)
            return error if isinstance(error, StorageError) else StorageError("the commit failed")
        self._failures.clear()
        self._answer(batch, added)
        return None

    def _answer(self, batch: list[Group], added: Added) -> None:
        at = 0
        for group, future in batch:
            if not future.done():
                future.set_result(list(added.outcomes[at : at + len(group)]))
            at += len(group)
        self._counted(added.counts)
