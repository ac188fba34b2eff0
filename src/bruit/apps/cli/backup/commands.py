"""`bruit backup`: copies a SQLite database to one consistent file while servers write to it."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json
from bruit.storage import back_up


@click.command("backup", epilog=examples("bruit backup friday.bruit --store sqlite:///bruit.db"))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--store",
    envvar="BRUIT_STORE",
    default="sqlite:///bruit.db",
    show_default=True,
    help="The SQLite database to copy; PostgreSQL has pg_dump.",
)
@json_option
def command(*, file: Path, store: str, as_json: bool) -> None:
    """Copy a database to a new file, readable by you alone.

    It holds every book, poll and report, and keeps what is deleted later: guard and delete it like the database.
    """
    made = back_up(store, file)
    if as_json:
        print_json({"file": str(made.path), "bytes": made.size, "at": made.at})
    else:
        click.echo(
            f"Copied {made.size} bytes to {made.path}. Deletions do not reach this file: delete it when it is old."
        )
