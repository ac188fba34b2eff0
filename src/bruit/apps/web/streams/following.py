"""Notifies open pages when a stream publishes, also from another process, by polling the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from fastapi import FastAPI, Request

from bruit.apps.web.polls.broadcast import Broadcast
from bruit.continual import Stream
from bruit.errors import BruitError

PAUSE: Final = 1.0
"""Seconds between two looks at the store."""

IDLE: Final = 10
"""Looks without a listener after which nobody asks any more."""

Key = tuple[str, str]
"""The names of a book and of a stream in it."""


@dataclass
class Followers:
    """One broadcast per stream that is being viewed, and one task that polls the store for its period."""

    broadcasts: dict[Key, Broadcast] = field(default_factory=dict)
    tasks: dict[Key, asyncio.Task[None]] = field(default_factory=dict)

    def follow(self, key: Key, stream: Stream) -> Broadcast:
        """The broadcast of a stream's new periods; its polling task ends when nobody listens."""
        broadcast = self.broadcasts.setdefault(key, Broadcast())
        if key not in self.tasks:
            self.tasks[key] = asyncio.create_task(self._ask(key, stream))
        return broadcast

    async def _ask(self, key: Key, stream: Stream) -> None:
        broadcast, known, idle = self.broadcasts[key], -1, 0
        try:
            while not broadcast.closed and idle < IDLE:
                period = await asyncio.to_thread(lambda: stream.period)
                if period != known:
                    known = period
                    broadcast.publish(f"event: period\ndata: {period}\n\n".encode())
                await asyncio.sleep(PAUSE)
                idle = 0 if broadcast.listeners else idle + 1
        except BruitError:  # the store is gone or was set back: the page says so when it is loaded again
            broadcast.close()
        finally:
            self.tasks.pop(key, None)
            self.broadcasts.pop(key, None)

    def end(self) -> None:
        """Ends every event stream, so that the server can stop."""
        for broadcast in self.broadcasts.values():
            broadcast.close()


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Lifespan context that keeps the followers while the application runs."""
    app.state.followers = followers = Followers()
    app.state.ending.append(followers.end)
    yield
    followers.end()
    for task in list(followers.tasks.values()):
        task.cancel()


def followers_of(request: Request) -> Followers:
    """The followers of this process."""
    found: Followers = request.app.state.followers
    return found
