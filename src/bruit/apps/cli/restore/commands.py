"""`bruit restore`: puts a backup back; its ledgers refuse charges until `bruit ledger resume`."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from bruit.aggregation.collecting import CollectorStore
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json
from bruit.ledger import mark_restored
from bruit.storage import put_back


@click.command("restore", epilog=examples("bruit restore friday.bruit --store sqlite:///bruit.db"))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--store",
    envvar="BRUIT_STORE",
    default="sqlite:///bruit.db",
    show_default=True,
    help="The database to write; it must not exist yet.",
)
@json_option
def command(*, file: Path, store: str, as_json: bool) -> None:
    """Put a backup back at an address where there is no database.

    What was charged, counted or deleted after the backup is not in it. Each book therefore refuses to charge until
    `bruit ledger resume` says what was released since.
    """
    made = put_back(file, store)
    books, split = mark_restored(store, made.at), CollectorStore(store).end_unfinished()
    if as_json:
        print_json({"file": str(made.path), "bytes": made.size, "at": made.at, "books": books, "split polls": split})
        return
    click.echo(f"Put back {made.size} bytes at {made.path}. Reports that came after the backup are not in it.")
    if split:
        click.echo(f"{split} unfinished split polls ended without a result: noise drawn twice would tell more.")
    for name in books:
        click.echo(f"The book {name} may have forgotten charges: bruit ledger resume {name} --forgotten ε")
