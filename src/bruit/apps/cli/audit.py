"""`bruit audit`: measures every mechanism as a black box and compares with the epsilon it claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import rich_click as click
from rich.markup import escape
from rich.table import Table

from bruit.apps.audits import catalogue
from bruit.apps.audits.catalogue import Row
from bruit.apps.audits.small_tables import sums
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, progress, show, table
from bruit.apps.findings import Size
from bruit.audit import SensitivityCheck

EXAMPLE = examples(
    "bruit audit all --small",
    "bruit audit central.count --samples 1000000 --json",
)


FEW = 20
"""Up to this many rows are measured in one process, since starting workers would take longer."""


@click.command("audit", epilog=EXAMPLE)
@click.argument("names", nargs=-1)
@click.option("--small", is_flag=True, help="Few samples: seconds instead of minutes, and a less sharp bound.")
@click.option(
    "--samples", type=click.IntRange(min=8), help="How often each mechanism is run on each of the two data sets."
)
@click.option(
    "--alarm",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=1e-9,
    show_default=True,
    help="The chance that any bound in the table is wrong.",
)
@click.option("--seed", type=int, help="Repeat the same draws; without it they come from the strong source.")
@json_option
def command(
    names: Sequence[str], *, small: bool, samples: int | None, alarm: float, seed: int | None, as_json: bool
) -> None:
    """Measure from outside what privacy every mechanism really gives.

    NAMES are mechanisms such as central.count; none or `all` means every one. Each row is a mechanism on its worst pair
    of neighbours, with a lower bound on its epsilon. All bounds together are wrong with at most the chance ALARM. `all`
    also tries every small table to see how far one person moves the exact integers that noise is added to. The exit
    status is 1 when a claim is refuted.
    """
    chosen = catalogue.cases_named(names)
    if samples is not None:
        chosen = [replace(case, small=samples, full=samples) for case in chosen]
    rng = None if seed is None else np.random.default_rng(seed)
    size: Size = "small" if small else "full"
    workers = 2 if size == "full" and len(chosen) > FEW else 1
    with progress("Auditing", quiet=as_json) as on_progress:
        rows = catalogue.run(chosen, size=size, alarm=alarm, rng=rng, on_progress=on_progress, workers=workers)
    heard = []
    if not names or "all" in names:
        with progress("Walking small tables", quiet=as_json) as on_progress:
            heard = sums.run(size, on_progress=on_progress, workers=workers)
    if as_json:
        print_json([*(row.to_json() for row in rows), *(line.to_json() for line in heard)])
    else:
        show(audit_table(rows))
        if heard:
            show(walks_table(heard), *map(escape, catalogue.left_out()))
    if not all(row.verdict.passes for row in rows) or not all(line.holds for line in heard):
        raise SystemExit(1)


def audit_table(rows: Sequence[Row]) -> Table:
    """The rows of an audit as a table for the terminal."""
    cells = []
    for row in rows:
        found = row.verdict
        letter = "μ" if found.measure == "mu" else "ε"
        claim = f"{letter} {found.claimed:.4g}" + (f", δ {found.delta:g}" if found.delta else "")
        verdict = "[green]passes[/green]" if found.passes else "[bold red]fails[/bold red]"
        cells.append((row.case.label, str(row.case.neighbours), claim, found.lower_bound, verdict))
    title = "What every mechanism can at best be, measured from outside"
    return table(title, ["name", "neighbours", "claimed", "lower_bound", "verdict"], cells)


def walks_table(lines: Sequence[SensitivityCheck]) -> Table:
    """The results of the small-table checks as a table for the terminal."""
    cells = []
    for line in lines:
        letter = "ρ" if line.measure == "rho" else "ε"
        verdict = "[green]holds[/green]" if line.holds else "[bold red]moves further[/bold red]"
        cells.append((line.name, str(line.neighbours), f"{letter} {line.charged:.4g}", line.reached, verdict))
    title = f"How far one person moves the exact integers: {len(lines)} walks over all small tables"
    return table(title, ["name", "neighbours", "paid for", "reached", "verdict"], cells)
