"""`bruit schema`: drafts a schema from a file's header and stated types."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, writing
from bruit.apps.steward.schemas import draft_schema, read_names, read_schema
from bruit.errors import InvalidArgument

EXAMPLE = examples(
    "bruit schema stays.csv --out stays.toml",
    "# fill in the empty places, then",
    "bruit schema --check stays.toml",
)


@click.command("schema", epilog=EXAMPLE)
@click.argument("source", required=False, type=click.Path(path_type=Path))
@click.option("--name", help="What SQL calls the table; if absent, the file's name without its suffix.")
@click.option(
    "--header",
    type=click.IntRange(1),
    default=1,
    help="The number of the line that names the columns, where titles stand above it; 1 if absent.",
)
@click.option("--sheet", help="The sheet of an Excel file; the first if absent.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write the draft to, never overwritten; if absent, it is printed.",
)
@click.option(
    "--check",
    "checked",
    type=click.Path(path_type=Path),
    help="Say whether this schema is complete, in place of drafting one.",
)
@json_option
def command(
    *,
    source: Path | None,
    name: str | None,
    header: int,
    sheet: str | None,
    out: Path | None,
    checked: Path | None,
    as_json: bool,
) -> None:
    """Draft the schema of a CSV, Excel or Parquet file, to be completed by hand.

    No record is read: names, the dialect of the first line, and the types that a Parquet file states are all it holds.
    """
    if checked is not None:
        schema = read_schema(checked)
        if as_json:
            print_json(schema.to_json() | {"digest": schema.digest})
        else:
            click.echo(
                f"{checked} is complete: {len(schema.columns)} columns, person {schema.person!r}, {schema.digest[:12]}"
            )
        return
    if source is None:
        raise InvalidArgument("name a file to draft a schema of, or a schema with --check")
    head = read_names(source, header=header, sheet=sheet)
    text = draft_schema(head, name or source.stem)
    if out is not None:
        with writing(out):
            if out.exists():
                raise InvalidArgument(f"{out} exists; it is not overwritten")
            out.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"columns": head.columns, "file": head.file.to_json(), "draft": text})
    else:
        click.echo(f"Written: {out}" if out is not None else text, nl=out is not None)
