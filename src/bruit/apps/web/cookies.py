"""The names of cookies. A browser sends a cookie of a host to all its ports, so the name tells the port."""

from __future__ import annotations

from starlette.requests import HTTPConnection


def named(name: str, request: HTTPConnection) -> str:
    """The name of a cookie at the address that this browser uses: two servers on one host do not disturb each other.

    The poll's own cookies need none of this: the ten letters of a poll are nowhere else.
    """
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"{name}_{port}" if port.isascii() and port.isdigit() and len(port) <= 5 else name
