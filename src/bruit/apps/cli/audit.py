"""`bruit audit`: every mechanism measured from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import rich_click as click
from rich.table import Table

from bruit.apps.cli.output import json_option, print_json, progress, show, table
from bruit.apps.studies import audits
from bruit.apps.studies.audits import Row

EXAMPLE = "Example: bruit audit all --small; bruit audit central.count --samples 1000000 --json"


@click.command("audit", epilog=EXAMPLE)
@click.argument("names", nargs=-1)
@click.option("--small", is_flag=True, help="Few samples: seconds instead of minutes, and a less sharp bound.")
@click.option("--samples", type=click.IntRange(min=8), help="So many outputs on either data set, for every row.")
@click.option(
    "--alarm",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=1e-9,
    show_default=True,
    help="The chance that any of the bounds is wrong.",
)
@click.option("--seed", type=int, help="Repeat the same draws; without it they come from the strong source.")
@json_option
def command(
    names: Sequence[str], *, small: bool, samples: int | None, alarm: float, seed: int | None, as_json: bool
) -> None:
    """Measure from outside what privacy every mechanism really gives.

    NAMES are mechanisms such as central.count; none or `all` means every one. Each row is a mechanism on its worst pair
    of neighbours, with a lower bound on its epsilon. All bounds together are wrong with at most the chance ALARM. The
    exit status is 1 when a claim is refuted.
    """
    chosen = audits.named(names)
    if samples is not None:
        chosen = [replace(case, small=samples, full=samples) for case in chosen]
    rng = None if seed is None else np.random.default_rng(seed)
    with progress("Auditing", quiet=as_json) as on_progress:
        rows = audits.run(chosen, size="small" if small else "full", alarm=alarm, rng=rng, on_progress=on_progress)
    if as_json:
        print_json([row.to_json() for row in rows])
    else:
        show(audit_table(rows))
    if not all(row.verdict.passes for row in rows):
        raise SystemExit(1)


def audit_table(rows: Sequence[Row]) -> Table:
    """The rows for a person."""
    cells = []
    for row in rows:
        found = row.verdict
        letter = "μ" if found.measure == "mu" else "ε"
        claim = f"{letter} {found.claimed:.4g}" + (f", δ {found.delta:g}" if found.delta else "")
        verdict = "[green]passes[/green]" if found.passes else "[bold red]fails[/bold red]"
        cells.append((row.case.label, str(row.case.neighbours), claim, found.lower_bound, verdict))
    title = "What every mechanism can at best be, measured from outside"
    return table(title, ["name", "neighbours", "claimed", "lower_bound", "verdict"], cells)
