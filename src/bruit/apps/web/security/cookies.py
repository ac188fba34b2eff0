"""Cookie names that contain the port: browsers share a host's cookies between all its ports."""

from __future__ import annotations

from starlette.requests import HTTPConnection


def cookie_name(name: str, request: HTTPConnection) -> str:
    """The name of a cookie at this host and port, so that two servers on one host do not share it.

    The poll's own cookies need none of this: the ten letters of a poll are nowhere else.
    """
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"{name}_{port}" if port.isascii() and port.isdigit() and len(port) <= 5 else name
