"""Request deadlines (against slowloris): a client that sends a byte a minute must not hold a connection."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RequestDeadline:
    """The time allowed for a request: `seconds`, plus one second for every `bytes_a_second` bytes received.

    An answer of which nothing is read for `write_seconds` is given up.
    """

    seconds: float = 20.0
    bytes_a_second: int = 1024
    write_seconds: float = 20.0

    def until(self, began: float, came: int) -> float:
        """The time at which a request that began at `began` and has sent `came` bytes is aborted."""
        return began + self.seconds + came / self.bytes_a_second
