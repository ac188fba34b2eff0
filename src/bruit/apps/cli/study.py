"""`bruit study`: the studies of the source documents."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rich_click as click
from rich.markup import escape

from bruit.apps.cli.terminal.output import json_option, print_json, progress, show, table
from bruit.apps.studies import STUDIES, load
from bruit.apps.studies.report import studies_page
from bruit.apps.studies.saved_findings import keep

EXAMPLE = "Example: bruit study krr-marital --folder figures; bruit study --all --small --json"


@click.command("study", epilog=EXAMPLE)
@click.argument("names", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Run every study.")
@click.option("--small", is_flag=True, help="Few repeats: seconds instead of minutes.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("bruit-studies"),
    show_default=True,
    help="Where tables and figures go, a folder for each study.",
)
@click.option("--seed", type=int, help="Repeat the same draws; without it they come from the strong source.")
@json_option
def command(names: Sequence[str], *, every: bool, small: bool, folder: Path, seed: int | None, as_json: bool) -> None:
    """Run studies of the source documents: tables, figures, one paragraph each, and one page that holds them all.

    Without a name, the studies are listed.
    """
    chosen = sorted(STUDIES) if every else list(names)
    if not chosen:
        _list(as_json=as_json)
        return
    studies = {name: load(name) for name in chosen}
    rng = None if seed is None else np.random.default_rng(seed)
    found = {}
    for name, study in studies.items():
        with progress(name, quiet=as_json) as on_progress:
            found[name] = study(folder / name, size="small" if small else "full", rng=rng, on_progress=on_progress)
        keep(found[name], folder / name, size="small" if small else "full")
        if not as_json:
            files = "\n".join(f"  {path}" for path in found[name].files)
            show(f"[bold]{name}[/bold]\n{escape(found[name].summary)}\n{escape(files)}\n")
    report = folder / "index.html"
    report.write_text(studies_page(found, folder=folder, size="small" if small else "full"), encoding="utf-8")
    if as_json:
        print_json({name: findings.to_json() for name, findings in found.items()})
    else:
        show(escape(f"All on one page, with figures: {report}"))


def _list(*, as_json: bool) -> None:
    lines = {name: line for name, (_, line) in sorted(STUDIES.items())}
    if as_json:
        print_json(lines)
    else:
        show(table("Studies: bruit study NAME", ["name", "what it shows"], list(lines.items())))
        show("The page documents.md of the documentation says which study answers which source document.")
