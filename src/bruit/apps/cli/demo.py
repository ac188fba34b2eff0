"""`bruit demo`: a tour, offline."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import rich_click as click
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from bruit.apps import plots
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, progress, show, table
from bruit.apps.languages import LANGUAGES, known_language, terminal_language
from bruit.apps.tour import tour
from bruit.apps.tour.page import write_page
from bruit.apps.tour.stops import Stop, Words, stops
from bruit.apps.tour.tour import Tour

EXAMPLE = examples(
    "bruit demo",
    "bruit demo --language fr",
    "bruit demo --seed 1 --json",
)
WIDTH = 78


@click.command("demo", epilog=EXAMPLE)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("bruit-demo"),
    show_default=True,
    help="Where the page and its figures go.",
)
@click.option("--seed", type=int, help="Repeat the same draws; without it they come from the strong source.")
@click.option(
    "--language", type=click.Choice(LANGUAGES), help="The language of the tour; if absent, the one that LANG asks for."
)
@json_option
def command(*, folder: Path, seed: int | None, language: str | None, as_json: bool) -> None:
    """A tour, offline: a survey, what ε means, what a table gives away, paid deciles, a model, audits, a word."""
    rng = None if seed is None else np.random.default_rng(seed)
    words = Words(known_language(language) if language else terminal_language(os.environ))
    with progress(words("page.touring"), quiet=as_json) as on_progress:
        seen = tour.run(rng=rng, on_progress=on_progress)
        page = write_page(seen, folder, words)
    if as_json:
        print_json({**seen.to_json(), "page": str(page)})
        return
    for number, (name, stop) in enumerate(stops(seen, words).items(), 1):
        show(
            f"\n[bold cyan]{number}. {stop.title}[/bold cyan]",
            *(survey(seen, words) if name == "survey" else lines(stop)),
        )
    show(Panel(closing(page, words), width=WIDTH, border_style="cyan"))


def lines(stop: Stop) -> list[str | Table]:
    """One stop of the tour for the terminal: its text, table, guarantee and quoted lines."""
    head, *rows = stop.table or [()]
    parts = [
        escape(stop.told),
        table("", head, rows) if rows else "",
        f"[dim]{escape(stop.guarantee)}[/dim]" if stop.guarantee else "",
        escape(stop.after),
        *(f"  [yellow]{escape(line)}[/yellow]" for line in stop.quote),
    ]
    return [part for part in parts if part]


def survey(seen: Tour, words: Words) -> list[str | Table]:
    """The survey in the terminal: its shares as bars."""
    found = seen.survey
    interval = words(
        "survey.interval",
        low=words.share(found.low),
        high=words.share(found.high),
        confidence=words.number(found.confidence, ".0%"),
    )
    rows = [
        ("truth", found.truth, "", "blue"),
        ("received", found.received, words("survey.lies", lies=words.number(found.lies, ".0%")), "bright_black"),
        ("estimated", found.estimate, interval, "green"),
    ]
    grid = Table.grid(padding=(0, 1))
    for name, share, note, colour in rows:
        bar = f"[{colour}]{'█' * round(60 * share)}[/{colour}] {words.share(share)}"
        grid.add_row(f"  {words(f'survey.{name}')}", bar, f"[dim]{note}[/dim]")
    return [words("survey.told", people=found.people), grid, f"[dim]{found.guarantee}[/dim]"]


def closing(page: Path, words: Words) -> str:
    """The closing text: where to go from here."""
    figures = [] if plots.available() else [words("page.no_figures")]
    return escape("\n".join([words("page.saved", page=page), *figures, words("page.next")]))
