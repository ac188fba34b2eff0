"""`bruit serve`: the web application, with SQLite in one command."""

from __future__ import annotations

import errno
import gc
import socket
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import rich_click as click

from bruit.apps.cli.output import json_option, print_json
from bruit.errors import InvalidArgument, MissingExtra
from bruit.storage import absolute, connect, reading

EXAMPLE = "Example: bruit serve --port 8000; for a class on your network: bruit serve --host 0.0.0.0"
NEEDED = ("fastapi", "uvicorn", "httptools", "jinja2", "plotly", "python_multipart", "segno")


@click.command("serve", epilog=EXAMPLE)
@click.option(
    "--store",
    "--database",
    "database",
    envvar="BRUIT_STORE",
    default="sqlite:///bruit.db",
    show_default=True,
    help="The database: sqlite:///file.db or postgresql+psycopg://host/name (or the variable BRUIT_STORE).",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen at; 0.0.0.0 is your network too."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--public-url", help="The address people use when a proxy stands before this, for links and QR codes.")
@click.option(
    "--key", envvar="BRUIT_KEY", help="The steward's key, at least 16 characters; a new one each start if absent."
)
@json_option
def command(*, database: str, host: str, port: int, public_url: str | None, key: str | None, as_json: bool) -> None:
    """Serve polls, the budget explorer, the steward's workbench and the studies to browsers.

    The link it prints holds the steward's key: whoever has it may make polls and spend budgets. Answers of a poll are
    noised in the browsers of those who give them. One process serves all.
    """
    if any(find_spec(name) is None for name in NEEDED):
        raise MissingExtra("bruit serve", "web")
    web: Any = import_module("bruit.apps.web.settings")
    secret = _checked_key(key) or web.new_key()
    _reach(database)
    listening = _listen(host, port)
    address = f"http://{_shown(host)}:{listening.getsockname()[1]}"
    base = _checked_address(public_url)
    settings = web.Settings(database=absolute(database), key_hash=web.hashed(secret), public_url=base)
    link = f"{base or address}/enter/{secret}"
    if as_json:
        print_json({"address": address, "link": link})
    else:
        click.echo(f"bruit is at {address}\nThe steward's link (keep it to yourself): {link}\nStop with Ctrl+C.")
    _serve(settings, listening)


def _serve(settings: Any, listening: socket.socket) -> None:
    import uvicorn

    application: Any = import_module("bruit.apps.web.application").application(settings)
    connections: Any = import_module("bruit.apps.web.connections")

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            for end in application.state.ending:  # streams would keep their connections open
                end()
            await super().shutdown(sockets)

    import_module("bruit.apps.web.logs").write_plainly()
    # No access log: addresses of pages hold secret links.
    config = uvicorn.Config(
        application,
        http=connections.protocol(settings.patience),
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=settings.public_url is not None,  # without a proxy, whoever writes such a header is lying
        timeout_graceful_shutdown=3,
    )
    # What was loaded so far is never garbage: half of a report's time went into looking through it again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    with suppress(KeyboardInterrupt):  # Ctrl+C is how one stops it
        Server(config).run([listening])


def _checked_key(key: str | None) -> str | None:
    if key is not None and (len(key) < 16 or not key.isascii() or not key.replace("-", "").replace("_", "").isalnum()):
        raise InvalidArgument(
            "the steward's key needs at least 16 letters, digits, - or _, such as 18 random bytes in base64"
        )
    return key


def _checked_address(url: str | None) -> str | None:
    if url is not None and not url.startswith(("http://", "https://")):
        raise InvalidArgument("--public-url is an address such as https://polls.example.org")
    return None if url is None else url.rstrip("/")


def _reach(database: str) -> None:
    """Says at once, and in words, when the database cannot be used."""
    with reading(connect(database)) as connection:
        connection.exec_driver_sql("SELECT 1")


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.socket(family)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = (
            "is taken: stop what runs there, or choose another with --port"
            if taken
            else f"cannot be used: {error.strerror}"
        )
        raise InvalidArgument(f"port {port} of {host} {why}") from error
    made.listen(2048)
    return made


def _shown(host: str) -> str:
    """The host as a browser on this machine or the network writes it."""
    if host not in ("0.0.0.0", "::"):
        return f"[{host}]" if ":" in host else host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent: this only asks which address would be used
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
