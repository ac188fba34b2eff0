"""`bruit serve`: runs the web application, by default over SQLite."""

from __future__ import annotations

import errno
import gc
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json
from bruit.apps.extras import require_extras
from bruit.errors import InvalidArgument, StorageError
from bruit.storage import Lease, absolute, connect, reading

EXAMPLE = examples(
    "bruit serve --port 8000",
    "# for a class on your network",
    "bruit serve --host 0.0.0.0",
)
LINK = "The steward's link (keep it to yourself)"
SHORTEST_KEY = 22
FEWEST_CHARACTERS = 10
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


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
    "--host", default="127.0.0.1", show_default=True, help="The address to listen at; 0.0.0.0 is your network too."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen at; 0 takes a free one.",
)
@click.option("--public-url", help="The address people use when a proxy stands before this, for links and QR codes.")
@click.option(
    "--key",
    envvar="BRUIT_KEY",
    help="The steward's key, at least 22 random letters and digits (128 bits); a new one each start if absent.",
)
@click.option("--tls-cert", type=_FILE, help="The certificate chain (PEM) to serve https with.")
@click.option("--tls-key", type=_FILE, help="The private key of the certificate (PEM).")
@click.option(
    "--report-rate",
    type=click.FloatRange(0, min_open=True),
    default=100.0,
    show_default=True,
    help="How many reports a second one address may send in the long run (a class shares one address).",
)
@json_option
def command(
    *,
    database: str,
    host: str,
    port: int,
    public_url: str | None,
    key: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    report_rate: float,
    as_json: bool,
) -> None:
    """Serve polls, the budget explorer, the steward's workbench and the studies to browsers.

    The link it prints holds the steward's key: whoever has it may make polls and spend budgets. Answers of a poll are
    noised in the browsers of those who give them. One process serves all.
    """
    require_extras("bruit serve", "web")
    web: Any = import_module("bruit.apps.web.settings")
    secret = _check_key(key) or web.new_key()
    tls = check_tls(tls_cert, tls_key)
    base = _check_address(public_url)
    _reach(database)
    listening = listen(host, port)
    address = f"http{'s' if tls else ''}://{_browser_host(host)}:{listening.getsockname()[1]}"
    limits: Any = import_module("bruit.apps.web.security.connection_limits")
    settings = web.Settings(
        database=absolute(database),
        key_hash=web.hash_secret(secret),
        public_url=base,
        descriptors=limits.raise_descriptor_limit(),
        rates=web.rates_for(report_rate),
    )
    link = f"{base or address}/enter/{secret}"
    if as_json:
        print_json({"address": address, "link": link})
    else:
        click.echo(
            f"bruit is at {base or address}\nThe steward's link (keep it to yourself): {link}\nStop with Ctrl+C."
        )
    _serve(settings, listening, tls)


def _serve(settings: Any, listening: socket.socket, tls: Mapping[str, str]) -> None:
    import uvicorn

    application: Any = import_module("bruit.apps.web.application").application(settings)
    connections: Any = import_module("bruit.apps.web.security.http_limits")

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            for end in application.state.ending:  # streams would keep their connections open
                end()
            await super().shutdown(sockets)

    import_module("bruit.apps.web.security.safe_logs").write_plainly()
    # No access log: addresses of pages hold secret links.
    config = uvicorn.Config(
        application,
        http=connections.protocol(settings.deadline, application.state.limits),
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=settings.public_url is not None,  # without a proxy, whoever writes such a header is lying
        timeout_graceful_shutdown=3,
        ssl_certfile=tls.get("certificate"),
        ssl_keyfile=tls.get("key"),
    )
    # What was loaded so far is never garbage: half of a report's time went into looking through it again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    try:
        with suppress(KeyboardInterrupt):  # Ctrl+C is how one stops it
            Server(config).run([listening])
    except SystemExit:  # uvicorn's way of saying that the start failed
        raise application.state.failure or StorageError("the server could not start") from None
    if application.state.failure is not None:
        raise application.state.failure


def check_tls(certificate: Path | None, key: Path | None) -> dict[str, str]:
    """The paths of the TLS certificate and its private key, checked to match; empty where none are given."""
    if certificate is None and key is None:
        return {}
    if certificate is None or key is None:
        raise InvalidArgument("https needs both --tls-cert and --tls-key")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, OSError, ValueError) as error:
        raise InvalidArgument(
            "--tls-cert and --tls-key are no certificate chain with its private key in PEM, without a password"
        ) from error
    return {"certificate": str(certificate), "key": str(key)}


def _check_key(key: str | None) -> str | None:
    """Refuses a key that could be guessed; 22 characters of base64 hold 128 bits, and random ones seldom repeat."""
    if key is None:
        return None
    plain = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    if len(key) < SHORTEST_KEY or len(set(key)) < FEWEST_CHARACTERS or not plain:
        raise InvalidArgument(
            f"the steward's key needs at least {SHORTEST_KEY} random letters, digits, - or _ (128 bits), of which "
            f"{FEWEST_CHARACTERS} differ; leave it out to get a new one"
        )
    return key


def _check_address(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidArgument("--public-url is an address such as https://polls.example.org")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidArgument(
            "--public-url has no path: give this server a host name of its own, such as https://polls.example.org"
        )
    return url.rstrip("/")


def _reach(database: str) -> None:
    """Connects to the database once, so that one that is unusable or in use is refused before serving starts."""
    with reading(connect(database)) as connection:
        connection.exec_driver_sql("SELECT 1")
    Lease(database, "web").require_free()


def listen(host: str, port: int) -> socket.socket:
    """Opens a listening socket at an address, or explains why it cannot."""
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


def _browser_host(host: str) -> str:
    """The host as a browser on this machine or the network writes it."""
    if host not in ("0.0.0.0", "::"):
        return f"[{host}]" if ":" in host else host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent: this only asks which address would be used
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
