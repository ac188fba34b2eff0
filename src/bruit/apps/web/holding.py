"""The application's hold on its database while it runs: the lease, the sessions, and a clean shutdown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI

from bruit.apps.web.polls.store import SessionStore
from bruit.apps.web.security.failure_log import FailureLog
from bruit.apps.web.security.sessions import Sessions
from bruit.errors import StorageError
from bruit.storage import FailureKind, Lease, close, connect, failure_kind, reading

RENEWING: Final = 10.0
"""Seconds between two looks at the lease."""
PATIENCE: Final = 5.0
"""Seconds that a health check waits for the database."""


@asynccontextmanager
async def holding(app: FastAPI) -> AsyncIterator[None]:
    """Lifespan context that takes the database's lease, loads sessions, and closes everything at the end."""
    database: str = app.state.settings.database
    app.state.lease = lease = Lease(database, "web")
    await asyncio.to_thread(lease.take)
    renewing = asyncio.create_task(_renew(lease, app.state.failures))
    try:
        app.state.sessions = Sessions(await asyncio.to_thread(SessionStore, database))
        yield
    finally:
        renewing.cancel()
        await asyncio.to_thread(lease.release)
        await asyncio.to_thread(close, database)


async def _renew(lease: Lease, failures: FailureLog) -> None:
    while True:
        await asyncio.sleep(RENEWING)
        try:
            await asyncio.to_thread(lease.renew)
        except StorageError as error:
            failures.note(error)
        else:
            failures.clear()


async def find_failure(app: FastAPI) -> str | None:
    """Why reports cannot be stored (failed commit, stopped writer, unresponsive database); None where they can."""
    failures: FailureLog = app.state.failures
    if failures.current is not None:
        return failures.current.value
    if not app.state.collector.writer.works:
        return "reports are not being written"
    try:
        await asyncio.wait_for(asyncio.to_thread(_look, app), PATIENCE)
    except TimeoutError:
        return FailureKind.UNREACHABLE.value
    except StorageError as error:
        return failure_kind(error).value
    return None


def _look(app: FastAPI) -> None:
    with reading(connect(app.state.settings.database)) as connection:
        app.state.lease.check(connection)
