"""`bruit shuffle`: runs a separate process that shuffles a poll's reports before the collector sees them."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any

import rich_click as click

from bruit.apps.cli.serve import check_tls, listen
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json

if TYPE_CHECKING:
    from starlette.applications import Starlette

EXAMPLE = examples(
    "bruit shuffle https://polls.example.org/p/abcdefghjk --least 200 --delta 1e-6 --port 8001",
)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("shuffle", epilog=EXAMPLE)
@click.argument("link")
@click.option("--least", type=click.IntRange(10), required=True, help="How many reports a batch has at least.")
@click.option("--delta", required=True, help="The δ at which the ε of a batch is stated.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen at; 0.0.0.0 is your network too."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8001,
    show_default=True,
    help="The port to listen at; 0 takes a free one.",
)
@click.option("--store", default="sqlite:///bruit-shuffle.db", show_default=True, help="Your own database.")
@click.option("--tls-cert", type=_FILE, help="The certificate chain (PEM) to serve https with.")
@click.option("--tls-key", type=_FILE, help="The private key of the certificate (PEM).")
@json_option
def command(
    *,
    link: str,
    least: int,
    delta: str,
    host: str,
    port: int,
    store: str,
    tls_cert: Path | None,
    tls_key: Path | None,
    as_json: bool,
) -> None:
    """Mix the reports of a poll: respondents come to you, the collector gets batches in random order.

    Run by somebody else than the collector. Give people your link instead of the collector's.
    """
    tls = check_tls(tls_cert, tls_key)
    mixing: Any = import_module("bruit.apps.web.shuffler")
    shuffler = mixing.Shuffler(link, store, least=least, delta=delta)
    listening = listen(host, port)
    address = f"http{'s' if tls else ''}://{host}:{listening.getsockname()[1]}/p/{shuffler.identity}"
    guarantee = shuffler.guarantee(least)
    if as_json:
        print_json({"address": address, "guarantee": guarantee.to_json()})
    else:
        click.echo(f"People answer at {address}\nA batch of {least}, to whoever sees only the collector: {guarantee}")
    _run(mixing.application(shuffler), listening, tls)


def _run(application: Starlette, listening: socket, tls: dict[str, str]) -> None:
    import uvicorn

    limits: Any = import_module("bruit.apps.web.security.connection_limits")
    connections: Any = import_module("bruit.apps.web.security.http_limits")
    deadline: Any = import_module("bruit.apps.web.security.timeouts").RequestDeadline()
    import_module("bruit.apps.web.security.safe_logs").write_plainly()
    config = uvicorn.Config(
        application,
        http=connections.protocol(deadline, limits.fit(limits.raise_descriptor_limit())),
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=3,
        ssl_certfile=tls.get("certificate"),
        ssl_keyfile=tls.get("key"),
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([listening])
