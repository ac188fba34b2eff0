"""`bruit demo`: a tour in ten seconds, offline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import rich_click as click
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from bruit.apps import plots
from bruit.apps.cli.output import json_option, print_json, progress, show, table
from bruit.apps.studies import tour
from bruit.apps.studies.tour import Tour

EXAMPLE = "Example: bruit demo; bruit demo --seed 1 --json"
WIDTH = 78


@click.command("demo", epilog=EXAMPLE)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("bruit-demo"),
    show_default=True,
    help="Where the figure goes.",
)
@click.option("--seed", type=int, help="Repeat the same draws; without it they come from the strong source.")
@json_option
def command(*, folder: Path, seed: int | None, as_json: bool) -> None:
    """A tour in ten seconds, offline: a sensitive survey, what ε means, a paid count, an audit, a word."""
    rng = None if seed is None else np.random.default_rng(seed)
    with progress("Touring", quiet=as_json) as on_progress:
        seen = tour.run(rng=rng, on_progress=on_progress)
        figure = drawn(seen, folder) if plots.available() else None
    if as_json:
        print_json({**seen.to_json(), "figure": None if figure is None else str(figure)})
        return
    for number, (title, *parts) in enumerate((survey(seen), beliefs(seen), count(seen), audits(seen), word(seen)), 1):
        show(f"\n[bold cyan]{number}. {title}[/bold cyan]", *parts)
    show(Panel(closing(figure), width=WIDTH, border_style="cyan"))


Stop = tuple[str | Table, ...]


def survey(seen: Tour) -> Stop:
    """The survey, for a person."""
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
    """What epsilon means, for a person."""
    rows = [(f"{row['prior']:.0%}", f"{row['low']:.1%} to {row['high']:.1%}") for row in seen.beliefs]
    return (
        f"What ε = {tour.EPSILON:g} means",
        "How strongly somebody may believe a yes of yours, before and after your report:",
        table("", ["before", "after"], rows),
    )


def count(seen: Tour) -> Stop:
    """The paid count, for a person."""
    found = seen.count
    return (
        "A count, paid from a book",
        f"A curator who holds the answers says how many said yes: [green]{found.value}[/green], "
        f"from {found.low:.0f} to {found.high:.0f} (truth {found.truth}).",
        f"[dim]{found.guarantee}[/dim]",
        f"The book held ε = {found.spent + found.remaining:g} and has {found.remaining:g} left. Asked again, it says:",
        f"[yellow]{escape(found.refusal)}[/yellow]",
    )


def audits(seen: Tour) -> Stop:
    """The audits, for a person."""
    caught = {**seen.caught, "name": f"{seen.caught['name']}, half the noise"}
    rows = [
        (row["name"], row["neighbours"], f"ε {row['claimed']:g}", row["lower_bound"], _coloured(row["verdict"]))
        for row in (*seen.audits, caught)
    ]
    return (
        "Do they keep their word?",
        "Measured from outside, an ε cannot be below this bound; the last row was built to cheat:",
        table("", ["name", "neighbours", "claimed", "at least", "verdict"], rows),
    )


def word(seen: Tour) -> Stop:
    """The word across the channel, for a person."""
    found = seen.word
    return (
        "A word across the same channel",
        f"The coin of the survey is also a bad telephone line: it carries {found.capacity:.3f} bits a send. The word "
        f"[bold]{found.text}[/bold] arrives as [red]{escape(found.once)}[/red]. With each bit sent {found.copies} times"
        f" ({found.flipped} of {found.sent} are flipped on the way) a vote reads [green]{found.repeated}[/green]. A "
        f"person asked {found.copies} times would be read as well: that is ε = {found.epsilon:g}; so a book adds up.",
    )


def closing(figure: Path | None) -> str:
    """Where to go from here."""
    saved = f"The survey as a figure: {figure}" if figure else "For figures: pip install 'bruit[plot]'"
    return escape(saved) + "\n" + "Next: bruit belief · bruit audit --small · bruit study · bruit --help"


def drawn(seen: Tour, folder: Path) -> Path:
    """The survey as a figure."""
    found = seen.survey
    groups = [
        plots.Bars("truth", [1 - found.truth, found.truth]),
        plots.Bars("reports received", [1 - found.received, found.received]),
        plots.Bars(
            "estimate, 95 % interval",
            [1 - found.estimate, found.estimate],
            [1 - found.high, found.low],
            [1 - found.low, found.high],
        ),
    ]
    title = f"Had an affair? Randomised response, ε = {tour.EPSILON:g}"
    return plots.bars(folder / "survey.png", list(tour.ANSWERS), groups, title=title, y="share of the answers")


def _bars(rows: list[tuple[str, float, str, str]]) -> Table:
    grid = Table.grid(padding=(0, 1))
    for label, share, note, colour in rows:
        grid.add_row(f"  {label}", f"[{colour}]{'█' * round(60 * share)}[/{colour}] {share:.1%}", f"[dim]{note}[/dim]")
    return grid


def _coloured(verdict: str) -> str:
    return f"[green]{verdict}[/green]" if verdict == "passes" else f"[bold red]{verdict}[/bold red]"
