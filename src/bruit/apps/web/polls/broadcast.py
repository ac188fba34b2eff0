"""Broadcasts each message once to every listener of a poll, as server-sent events."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from bruit.apps.web.security.connection_limits import StreamCount
from bruit.apps.web.security.rate_limits import network

HEARTBEAT: Final = 15.0
"""Seconds of silence after which a comment is sent, so that nothing between takes the line for dead."""


class Broadcast:
    """The latest message about one poll, and the listeners waiting for the next."""

    def __init__(self) -> None:
        self.latest, self.number, self.closed, self.listeners = b"", 0, False, 0
        self._waiting: set[asyncio.Future[None]] = set()

    def publish(self, message: bytes) -> None:
        """Sends a new message to every listener."""
        self.latest, self.number = message, self.number + 1
        self._wake()

    def close(self) -> None:
        """Ends the event stream of every listener."""
        self.closed = True
        self._wake()

    async def after(self, number: int) -> int:
        """Waits, at most one heartbeat, for a message later than `number`; returns the latest number."""
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

    def __init__(self, broadcast: Broadcast, streams: StreamCount, *, signed_in: bool) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._broadcast, self._streams, self._signed_in = broadcast, streams, signed_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends until the reader leaves or the broadcast ends; refuses where no more streams are held open."""
        address = network((scope.get("client") or ("?",))[0])
        if not self._streams.enter(address, signed_in=self._signed_in):
            sentence = "Too many dashboards are open; try again later."
            await JSONResponse({"detail": sentence}, 503, {"retry-after": "30"})(scope, receive, send)
            return
        try:
            await self._stream(receive, send)
        finally:
            self._streams.leave(address, signed_in=self._signed_in)

    async def _stream(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sending = asyncio.create_task(self._send_all(send))
        leaving = asyncio.create_task(_wait_for_disconnect(receive))
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


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
