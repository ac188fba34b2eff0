"""`bruit demo`: a tour, offline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import rich_click as click
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from bruit.apps import plots
from bruit.apps.cli.terminal.output import json_option, print_json, progress, show, table
from bruit.apps.tour import tour
from bruit.apps.tour.page import write_page
from bruit.apps.tour.tour import Tour

EXAMPLE = "Example: bruit demo; bruit demo --seed 1 --json"
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
@json_option
def command(*, folder: Path, seed: int | None, as_json: bool) -> None:
    """A tour, offline: a survey, what ε means, what a table gives away, paid deciles, a model, audits, a word."""
    rng = None if seed is None else np.random.default_rng(seed)
    with progress("Touring", quiet=as_json) as on_progress:
        seen = tour.run(rng=rng, on_progress=on_progress)
        page = write_page(seen, folder)
    if as_json:
        print_json({**seen.to_json(), "page": str(page)})
        return
    stops = (survey(seen), beliefs(seen), gives(seen), deciles(seen), model(seen), audits(seen), word(seen))
    for number, (title, *parts) in enumerate(stops, 1):
        show(f"\n[bold cyan]{number}. {title}[/bold cyan]", *parts)
    show(Panel(closing(page), width=WIDTH, border_style="cyan"))


Stop = tuple[str | Table, ...]


def survey(seen: Tour) -> Stop:
    """The survey as text for the terminal."""
    found = seen.survey
    bars = [
        ("truth", found.truth, "", "blue"),
        ("received", found.received, f"{found.lies:.0%} of the reports are lies", "bright_black"),
        (
            "estimated",
            found.estimate,
            f"from {found.low:.1%} to {found.high:.1%}, {found.confidence:.0%} sure",
            "green",
        ),
    ]
    return (
        "A question too delicate to be answered straight",
        f"In 1974 a magazine asked {found.people} married women about affairs. Here a coin flips each answer on its "
        "way, so nobody can be blamed for a yes; yet the crowd can be counted. Those who said yes:",
        _bars(bars),
        f"[dim]{found.guarantee}[/dim]",
    )


def beliefs(seen: Tour) -> Stop:
    """The meaning of epsilon, as text for the terminal."""
    rows = [(f"{row['prior']:.0%}", f"{row['low']:.1%} to {row['high']:.1%}") for row in seen.beliefs]
    return (
        f"What ε = {tour.EPSILON:g} means",
        "How strongly somebody may believe a yes of yours, before and after your report:",
        table("", ["before", "after"], rows),
    )


def gives(seen: Tour) -> Stop:
    """The disclosure risk of the raw table, as text for the terminal."""
    found = seen.gives
    return (
        "Why not just leave out the names?",
        f"Of {found.rows} women, [red]{found.uniques}[/red] are alone with their {', '.join(found.columns)}; whoever "
        f"knows these of somebody finds her answer for certain in [red]{found.certain}[/red] cases.",
    )


def deciles(seen: Tour) -> Stop:
    """The paid deciles as text for the terminal."""
    found = seen.deciles
    rows = [
        (f"{10 * number} %", f"{value:.0f}", f"{truth:.0f}")
        for number, (value, truth) in enumerate(zip(found.value, found.truth, strict=True), 1)
    ]
    return (
        "Nine deciles, paid from a book",
        f"A curator releases the deciles of the incomes of {found.people} invented people:",
        table("", ["decile", "released", "in the table"], rows),
        f"[dim]{found.guarantee}[/dim]",
        f"The book held ε = {found.spent + found.remaining:g} and has {found.remaining:g} left. Asked again, it says:",
        f"[yellow]{escape(found.refusal)}[/yellow]",
    )


def model(seen: Tour) -> Stop:
    """The private model as text for the terminal."""
    found = seen.model
    rows = [
        (f"{epsilon:g}", f"{score:.3f} ± {spread:.3f}")
        for epsilon, score, spread in zip(found.epsilons, found.scores, found.spreads, strict=True)
    ]
    return (
        "A model that spends from a book",
        "Who will say yes? An additive model, fitted with noise on every sum it reads, ranks women it has not seen. "
        "The area under its curve (guessing has 0.5):",
        table("", ["ε at δ = 1e-5", "area"], [*rows, ("exact", f"{found.exact:.3f}")]),
    )


def audits(seen: Tour) -> Stop:
    """The audits as text for the terminal."""
    caught = {**seen.caught, "name": f"{seen.caught['name']}, half the noise"}
    rows = [
        (row["name"], row["neighbours"], f"ε {row['claimed']:g}", row["lower_bound"], _colour_verdict(row["verdict"]))
        for row in (*seen.audits, caught)
    ]
    return (
        "Do they keep their word?",
        "Measured from outside, an ε cannot be below this bound; the last row was built to cheat:",
        table("", ["name", "neighbours", "claimed", "at least", "verdict"], rows),
    )


def word(seen: Tour) -> Stop:
    """The word sent across the channel, as text for the terminal."""
    found = seen.word
    return (
        "A word across the same kind of channel",
        f"Randomised response over {tour.LETTERS} letters at ε = {found.epsilon:g} is a line that garbles one letter "
        f"in twenty ({found.wrong} of {found.sent} here). A Reed–Solomon code mends them:",
        f"  [red]{escape(found.received)}[/red]",
        f"  [green]{escape(found.read)}[/green]",
    )


def closing(page: Path) -> str:
    """The closing text: where to go from here."""
    figures = "" if plots.available() else "For figures: pip install 'bruit[plot]'\n"
    saved = f"All of it on one page: {page}\n{figures}"
    return escape(saved) + "Next: bruit data example · bruit serve · bruit study · bruit --help"


def _bars(rows: list[tuple[str, float, str, str]]) -> Table:
    grid = Table.grid(padding=(0, 1))
    for label, share, note, colour in rows:
        grid.add_row(f"  {label}", f"[{colour}]{'█' * round(60 * share)}[/{colour}] {share:.1%}", f"[dim]{note}[/dim]")
    return grid


def _colour_verdict(verdict: str) -> str:
    return f"[green]{verdict}[/green]" if verdict == "passes" else f"[bold red]{verdict}[/bold red]"
