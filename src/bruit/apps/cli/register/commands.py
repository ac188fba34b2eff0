"""`bruit register`: records a table and its version in a ledger."""

from __future__ import annotations

from pathlib import Path

import rich_click as click
from rich.markup import escape

from bruit.apps.cli.ledger import in_store
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show
from bruit.apps.steward.schemas import read_schema
from bruit.apps.steward.sources import register_source
from bruit.ledger import Ledger

EXAMPLE = examples(
    "bruit register stays.csv --schema stays.toml --ledger hospital",
    "# again for the next month's file",
)


@click.command("register", epilog=EXAMPLE)
@click.argument("source")
@click.option(
    "--schema",
    required=True,
    type=click.Path(path_type=Path),
    help="The schema of the file (TOML); `bruit schema` drafts one.",
)
@click.option("--table", help="The table's name in the database or DuckDB file, where it is not the schema's.")
@click.option(
    "--version", "number", type=int, help="A name for this version of the data, for a table inside a database."
)
@click.option("--ledger", required=True, help="The book of the people in the table.")
@in_store
@json_option
def command(
    *, source: str, schema: Path, table: str | None, number: int | None, ledger: str, store: str, as_json: bool
) -> None:
    """Register a table in its book, or the next version of it; entries and statements then name both.

    A keyed digest of a file stays beside it with the curator, so that a changed content is noticed; the book has none.
    """
    stated = read_schema(schema)
    registered = register_source(source, stated, ledger=Ledger.open(ledger, store), table=table, version=number)
    if as_json:
        print_json({"table": registered.name, "version": registered.version, "schema": stated.digest, "ledger": ledger})
    else:
        show(escape(f"{registered.name}, version {registered.version}, stands in the book {ledger}."))
