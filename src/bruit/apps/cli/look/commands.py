"""`bruit look`: shows a table's curator, exactly, how its cells are read."""

from __future__ import annotations

from pathlib import Path

import rich_click as click
from rich.markup import escape

from bruit.apps.cli.ledger import in_store
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table
from bruit.apps.steward.looking import NOTICE, Look, look_at
from bruit.apps.steward.schemas import read_schema
from bruit.apps.steward.sources import open_plan
from bruit.apps.steward.statements import LOOKED
from bruit.ledger import Ledger

EXAMPLE = examples(
    "bruit look stays.csv --schema stays.toml --ledger hospital",
)


@click.command("look", epilog=EXAMPLE)
@click.argument("source")
@click.option(
    "--schema",
    required=True,
    type=click.Path(path_type=Path),
    help="The schema to read the file by (TOML); see how many cells it could not read.",
)
@click.option("--table", help="The table's name in the database or DuckDB file, where it is not the schema's.")
@click.option(
    "--values", is_flag=True, help="Also show the commonest cells that could not be read: they are real records."
)
@click.option("--ledger", help="The book of these people: it notes that somebody looked, never what was seen.")
@in_store
@json_option
def command(
    *, source: str, schema: Path, table: str | None, values: bool, ledger: str | None, store: str, as_json: bool
) -> None:
    """Show the curator how the cells of a table are read: as declared, missing, unreadable, outside.

    Exact figures: NOT private, NOT a release. What is decided after seeing them is not covered by any guarantee.
    """
    stated = read_schema(schema)
    plan = open_plan(source, stated, table=table)
    if ledger is not None:
        Ledger.open(ledger, store).note(LOOKED, about={"table": stated.name, "values": values})
    path = Path(source)
    found = look_at(plan, path if path.exists() else None, values=values)
    print_json(found.to_json()) if as_json else _show(stated.name, found)


def _show(name: str, found: Look) -> None:
    facts = [("rows", f"{found.rows}")]
    if found.lost_lines is not None:
        facts.append(("lines that are no rows", f"{found.lost_lines}"))
    if found.people is not None:
        facts.append(("people", f"{found.people}"))
        facts += [
            (f"rows that {share} of the people have at most", f"{rows}")
            for share, rows in found.rows_per_person.items()
        ]
    columns = [
        (escape(each.name), each.type, each.declared, each.missing, each.unreadable, each.outside)
        for each in found.columns
    ]
    heads = ("column", "type", "as declared", "missing", "unreadable", "outside")
    notice = f"[bold red]{escape(NOTICE)}[/]"
    show(notice, table(escape(name), ("", "exactly"), facts), table("Cells", heads, columns))
    for each in found.columns:
        if each.odd:
            show(escape(f"{each.name}, not read as declared: " + ", ".join(f"{t!r} {n} times" for t, n in each.odd)))
    show(notice)
