"""One message to everybody who watches: made once, sent to all."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

HEARTBEAT: Final = 15.0
"""Seconds of silence after which a comment is sent, so that nothing between takes the line for dead."""
MOST_LISTENING: Final = 2000
"""Dashboards that may listen to one poll at the same time."""


class Broadcast:
    """The latest message about one poll, and those who wait for the next."""

    def __init__(self) -> None:
        self.latest, self.number, self.closed, self.listeners = b"", 0, False, 0
        self._waiting: set[asyncio.Future[None]] = set()

    def publish(self, message: bytes) -> None:
        """Gives everybody a new message."""
        self.latest, self.number = message, self.number + 1
        self._wake()

    def close(self) -> None:
        """Ends every stream."""
        self.closed = True
        self._wake()

    async def after(self, number: int) -> int:
        """Waits for a message later than `number`, at most a heartbeat; the number of the latest."""
        if self.number == number and not self.closed:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.add(waiting)
            try:
                await asyncio.wait_for(waiting, HEARTBEAT)
            except TimeoutError:
                pass
            finally:
                self._waiting.discard(waiting)
        return self.number

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)


class EventStream(Response):
    """Server-sent events: the latest message of a broadcast at once, then each new one."""

    media_type = "text/event-stream"

    def __init__(self, broadcast: Broadcast) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._broadcast = broadcast

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Sends until the reader leaves or the broadcast ends."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sending = asyncio.create_task(self._send_all(send))
        leaving = asyncio.create_task(_left(receive))
        self._broadcast.listeners += 1
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._broadcast.listeners -= 1
            sending.cancel()
            leaving.cancel()

    async def _send_all(self, send: Send) -> None:
        number = -1
        while not self._broadcast.closed:
            latest = self._broadcast.number if number < 0 else await self._broadcast.after(number)
            body = b": still here\n\n" if latest == number else self._broadcast.latest
            number = latest
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
