"""HTTP limits against slowloris: requests must arrive in time, with headers of bounded size."""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bruit.apps.web.security.connection_limits import ConnectionLimits, Connections
from bruit.apps.web.security.rate_limits import network
from bruit.apps.web.security.timeouts import RequestDeadline

LARGEST_HEAD: Final = 64 * 1024
"""Bytes of the lines before the body."""


class TimedProtocol(HttpToolsProtocol):
    """Uvicorn's HTTP protocol with a deadline for each request (against slowloris) and a limit on its headers.

    A new connection has as long for its first request; one that is kept open and silent is uvicorn's to close. Who
    does not read an answer is given up too, and connections are counted: one that waits makes room for a new one.
    """

    deadline: RequestDeadline
    held: Connections
    _address = "?"
    _counted = False
    _unread: asyncio.TimerHandle | None = None
    _giving_up: asyncio.TimerHandle | None = None
    _is_whole = False
    _in_head = True
    _came = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = network((transport.get_extra_info("peername") or ("?",))[0])
        self._counted = self.held.add(self, self._address)
        if not self._counted:
            transport.abort()
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_write_deadline()
        if self._counted:
            self.held.remove(self, self._address)
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Closes the connection at once."""
        self.transport.abort()

    def pause_writing(self) -> None:
        """Starts the deadline of a client that does not read its response."""
        super().pause_writing()
        self._stop_write_deadline()
        self._unread = self.loop.call_later(self.deadline.write_seconds, self.give_up)

    def resume_writing(self) -> None:
        """Ends that deadline once the client reads again."""
        super().resume_writing()
        self._stop_write_deadline()

    def _stop_write_deadline(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def on_response_complete(self) -> None:
        """Marks the connection as idle after its response."""
        super().on_response_complete()
        if self._counted and not self.transport.is_closing():
            self.held.rest(self, self._address)

    def data_received(self, data: bytes) -> None:
        self._is_whole = False
        self._came += len(data)
        super().data_received(data)
        if self._is_whole:
            self._stop_waiting()
        elif self._in_head and self._came > LARGEST_HEAD:
            self._refuse(431, "The head of the request is too large.")
        elif self._giving_up is None and not self.transport.is_closing():
            self._wait()

    def on_message_begin(self) -> None:
        self._is_whole, self._in_head = False, True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_whole = True
        self.held.work(self)
        super().on_message_complete()

    def _wait(self) -> None:
        self._began = self.loop.time()
        self._giving_up = self.loop.call_later(self.deadline.seconds, self._look)

    def _stop_waiting(self) -> None:
        self._came = 0
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _look(self) -> None:
        until = self.deadline.until(self._began, self._came)
        if self.loop.time() < until:
            self._giving_up = self.loop.call_at(until, self._look)
        else:
            self._refuse(408, "The request did not arrive in time; send it again.")

    def _refuse(self, status: int, sentence: str) -> None:
        """Closes the connection, with an error response where no other response is under way."""
        self._stop_waiting()
        if not self.transport.is_closing() and not self._is_answered():
            self.transport.write(_refusal(status, sentence))
        self.transport.close()

    def _is_answered(self) -> bool:
        """Whether an answer is due or under way: to an earlier request, or to the head of this one."""
        if self.cycle is None:
            return False
        if self._in_head:
            return not self.cycle.response_complete
        return self.cycle.response_started or bool(self.pipeline)


def protocol(deadline: RequestDeadline, limits: ConnectionLimits) -> type[TimedProtocol]:
    """The protocol class for uvicorn with these deadlines and connection limits."""
    return type("PatientProtocol", (TimedProtocol,), {"deadline": deadline, "held": Connections(limits)})


_REASONS: Final = {408: "Request Timeout", 431: "Request Header Fields Too Large"}


def _refusal(status: int, sentence: str) -> bytes:
    body = f'{{"detail":"{sentence}"}}'
    lines = (
        f"HTTP/1.1 {status} {_REASONS[status]}",
        "content-type: application/json",
        "x-content-type-options: nosniff",
        f"content-length: {len(body)}",
        "connection: close",
    )
    return "\r\n".join((*lines, "", body)).encode()
