"""`bruit anonymise`: makes a table coarser or pseudonymous, and reports what it still gives away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import polars
import rich_click as click
from rich.markup import escape

from bruit.anonymity import (
    Generalised,
    Hierarchy,
    Pseudonymised,
    draw_pseudonym_key,
    generalise,
    intervals,
    prefixes,
    pseudonymise,
)
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table, writing
from bruit.core.neighbours import EACH_ROW
from bruit.errors import InvalidArgument
from bruit.tables import Table, read

EXAMPLE = examples(
    "bruit anonymise people.csv coarse.csv --quasi age:5,10,20 --quasi city --quasi sex "
    "--sensitive illness -k 10 -l 2 --suppress 0.05",
)
METHODS = "One level for a whole column (lattice), or cuts where the rows are (mondrian)."


@click.command("anonymise", epilog=EXAMPLE)
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("output", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--quasi",
    multiple=True,
    help="A column that outsiders may know, and how to coarsen it: COLUMN, COLUMN:5,10,20 (widths of ranges) "
    "or COLUMN:prefix4,3,2; repeat it for more.",
)
@click.option("--sensitive", help="The column that nobody should learn.")
@click.option(
    "-k",
    "k",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="k-anonymity: at least so many rows in every group.",
)
@click.option(
    "-l",
    "l",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="ℓ-diversity: at least so many different sensitive values in every group.",
)
@click.option(
    "-t",
    "t",
    type=float,
    default=1.0,
    show_default=True,
    help="t-closeness: how far a group's sensitive values may lie from the whole table's, 0 to 1.",
)
@click.option("--suppress", type=float, default=0.0, show_default=True, help="The share of rows that may be left out.")
@click.option(
    "--method", type=click.Choice(["lattice", "mondrian"]), default="lattice", show_default=True, help=METHODS
)
@click.option(
    "--keep", multiple=True, help="Another column to keep as it is; repeat it for more. All others are left out."
)
@click.option(
    "--pseudonyms",
    multiple=True,
    help="A column to replace by pseudonyms under a fresh key, without grouping; repeat it for more.",
)
@json_option
def command(
    path: Path,
    output: Path,
    *,
    quasi: Sequence[str],
    sensitive: str | None,
    k: int,
    l: int,  # noqa: E741  the letter of the literature
    t: float,
    suppress: float,
    method: str,
    keep: Sequence[str],
    pseudonyms: Sequence[str],
    as_json: bool,
) -> None:
    """Make a table coarser, or replace names by pseudonyms, and see what that still gives away.

    PATH is a CSV or Parquet file, OUTPUT the CSV file to write, its rows sorted so that their order tells nothing. The
    lattice method looks for the levels that lose least; mondrian cuts ranges freely and loses less still. k-anonymity
    is no guarantee: read what is printed before handing anything out.
    """
    people = read(path, person=EACH_ROW)
    if bool(pseudonyms) == bool(quasi):
        raise InvalidArgument("give either --quasi, to make columns coarser, or --pseudonyms, to replace names")
    if pseudonyms:
        _pseudonyms(people, output, pseudonyms, as_json=as_json)
        return
    found = generalise(
        people,
        dict(hierarchy(text) for text in quasi),
        k=k,
        l=l,
        t=t,
        sensitive=sensitive,
        suppress=suppress,
        method="mondrian" if method == "mondrian" else "lattice",
        keep=keep,
    )
    _write(found.frame, output)
    _tell(found, output, as_json=as_json)


def hierarchy(text: str) -> tuple[str, Hierarchy | None]:
    """Parses COLUMN, COLUMN:5,10,20 or COLUMN:prefix4,3,2 into a column and its generalisation hierarchy."""
    column, colon, rest = text.rpartition(":")
    if not colon:
        return rest, None
    if not re.fullmatch(r"prefix\d+(,\d+)*|\d+(\.\d+)?(,\d+(\.\d+)?)*", rest):
        raise InvalidArgument(f"--quasi {text}: write COLUMN, COLUMN:5,10,20 or COLUMN:prefix4,3,2")
    if rest.startswith("prefix"):
        return column, prefixes(*map(int, rest.removeprefix("prefix").split(",")))
    return column, intervals(*map(float, rest.split(",")))


def _pseudonyms(people: Table, output: Path, columns: Sequence[str], *, as_json: bool) -> None:
    found: Pseudonymised = pseudonymise(people, columns, key=draw_pseudonym_key())
    _write(found.frame, output)
    if as_json:
        print_json(found.to_json())
        return
    rows = [(escape(name), f"{share:.1%}") for name, share in found.recognised.items()]
    show(table("Recognised by their counts alone", ("column", "rows"), rows))
    show(
        _written_line(output),
        "The key was drawn for this file and not kept.",
        escape(found.warning),
        f"[dim]{found.notice}[/dim]",
    )


def _tell(found: Generalised, output: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(found.to_json())
        return
    risk = found.risk
    rows: list[tuple[str, str]] = [
        ("method", found.method + (" (proved best)" if found.proved else "")),
        ("information lost", f"{found.loss:.1%}"),
        ("rows left out", f"{found.suppressed}"),
        ("k", f"{risk.k}"),
    ]
    for one in risk.sensitive:
        rows.append((f"l, t of {escape(one.column)}", f"{one.l}, {one.t:.3f}"))
        rows.append((f"rows whose {escape(one.column)} is certain", f"{one.certain} ({one.certain / risk.rows:.1%})"))
    if found.levels is not None:
        rows.append(("levels", ", ".join(f"{escape(name)} {level}" for name, level in found.levels.items())))
    show(table("The coarser table", ("what", "figure"), rows), _written_line(output), f"[dim]{found.notice}[/dim]")


def _written_line(output: Path) -> str:
    return escape(f"Written: {output}")


def _write(frame: polars.DataFrame, output: Path) -> None:
    with writing(output):
        frame.sort(frame.columns).write_csv(output)
