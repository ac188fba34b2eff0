"""`bruit risk`: the disclosure-risk report of a table, for its steward."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rich_click as click
from rich.console import RenderableType
from rich.markup import escape

from bruit.anonymity import Report, report
from bruit.apps.cli.risk.page import page
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table, writing
from bruit.apps.steward import sections
from bruit.core.neighbours import EACH_ROW
from bruit.tables import read

EXAMPLE = examples(
    "bruit risk people.csv --person id --quasi age --quasi city --sensitive illness --html report.html",
)


@click.command("risk", epilog=EXAMPLE)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--person", default=EACH_ROW, show_default=True, help="The column that says whose row it is.")
@click.option("--quasi", multiple=True, help="A column that outsiders may know; repeat it for more.")
@click.option("--sensitive", multiple=True, help="A column that nobody should learn; repeat it for more.")
@click.option("--epsilon", default="1", show_default=True, help="The ε to price a private alternative at.")
@click.option(
    "--html",
    "html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the report as a page, such as report.html.",
)
@click.option("--seed", type=int, help="Repeat the same simulated attacker; otherwise the strong source draws.")
@json_option
def command(
    path: Path,
    *,
    person: str,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    epsilon: str,
    html: Path | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """What a table gives away: identifiers, uniques, k, l, t, linkage, and a private way out.

    PATH is a CSV or Parquet file. Without --quasi the smallest set of columns that singles out most rows is taken.
    Everything printed is an exact aggregate for the curator: not a release. No value of the table is shown.
    """
    people = read(path, person=person)
    rng = None if seed is None else np.random.default_rng(seed)
    found = report(people, quasi=quasi, sensitive=sensitive, epsilon=epsilon, rng=rng)
    if html is not None:
        with writing(html):
            html.write_text(page(path.name, found), encoding="utf-8")
    if as_json:
        print_json(found.to_json())
    else:
        show(*parts(found), *([] if html is None else [escape(f"Written: {html}")]))


def parts(found: Report) -> list[RenderableType]:
    """The risk report as tables and text for the terminal."""
    drawn: list[RenderableType] = [
        table(title, heads, [[escape(cell) if isinstance(cell, str) else cell for cell in row] for row in rows])
        for title, heads, rows in sections(found)
    ]
    return [
        *drawn,
        "[bold]What to do[/bold]",
        *(f"• {escape(line)}" for line in found.advice),
        f"[dim]{found.notice}[/dim]",
    ]
